from elsewhere import HINT, HINTS
from mcpcore import ErrorCode, FailureMode, tool

@tool(
    errors=[
        FailureMode("a", ErrorCode.NOT_FOUND, when="x", recovery="Call search_articles for valid PMIDs."),
        FailureMode("b", ErrorCode.NOT_FOUND, when="x", recovery=HINT),
        FailureMode("c", ErrorCode.NOT_FOUND, when="x", recovery=HINTS["c"]),
        FailureMode("d", ErrorCode.NOT_FOUND, when="x", recovery=f"Wait {HINT} seconds."),
        FailureMode("e", ErrorCode.NOT_FOUND, when="x", recovery=str(HINT)),
        FailureMode("f", ErrorCode.NOT_FOUND, when="x", **unknown),
        FailureMode("g", ErrorCode.NOT_FOUND, when="x", recovery=""),
    ]
)
def one() -> str: ...
