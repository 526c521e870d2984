from functools import partial

from elsewhere import WHEN
from mcpcore import ErrorCode, FailureMode, tool

busy = partial(FailureMode, code=ErrorCode.CONFLICT, when="It is busy.", recovery="y")

@tool(
    errors=[
        FailureMode("a", ErrorCode.NOT_FOUND, when="It is gone.", recovery="y"),
        FailureMode("b", ErrorCode.NOT_FOUND, when=WHEN, recovery="y"),
        FailureMode("c", ErrorCode.NOT_FOUND, when=f"{WHEN}", recovery="y"),
        FailureMode("d", ErrorCode.NOT_FOUND, when=WHEN.strip(), recovery="y"),
        FailureMode("e", ErrorCode.NOT_FOUND, recovery="y", **unknown),
        FailureMode("f", ErrorCode.NOT_FOUND, recovery="y", **{"when": "It is gone."}),
        busy("g"),
        FailureMode("h", ErrorCode.NOT_FOUND, when="Todo items are not listed.", recovery="y"),
    ]
)
def one() -> str: ...
