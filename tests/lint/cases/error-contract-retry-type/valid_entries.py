import mcpcore
from elsewhere import ADVICE, advice
from mcpcore import ErrorCode, FailureMode, Retry, tool

SOON = Retry.after(seconds=5)

@tool(
    errors=[
        FailureMode("a", ErrorCode.CONFLICT, when="x", recovery="y"),
        FailureMode("b", ErrorCode.CONFLICT, when="x", recovery="y", retry=Retry.now()),
        FailureMode("c", ErrorCode.CONFLICT, when="x", recovery="y", retry=SOON),
        FailureMode("d", ErrorCode.CONFLICT, when="x", recovery="y", retry=mcpcore.Retry.never()),
        FailureMode("e", ErrorCode.CONFLICT, when="x", recovery="y", retry=None),
        FailureMode("f", ErrorCode.CONFLICT, when="x", recovery="y", retry=ADVICE),
        FailureMode("g", ErrorCode.CONFLICT, when="x", recovery="y", retry=advice(3)),
        FailureMode("h", ErrorCode.CONFLICT, when="x", recovery="y", retry=ErrorCode.TIMEOUT.retry),
        FailureMode("i", ErrorCode.CONFLICT, when="x", recovery="y", retry=SOON if ADVICE else None),
        FailureMode("j", ErrorCode.CONFLICT, when="x", recovery="y", retry=Retry("not_retryable")),
        FailureMode("k", ErrorCode.CONFLICT, when="x", recovery="y", effects="none", strategy="check_input"),
        FailureMode("l", ErrorCode.CONFLICT, when="x", recovery="y", effects=None, strategy=None),
        FailureMode("m", ErrorCode.CONFLICT, when="x", recovery="y", effects=ADVICE, strategy=advice(1)),
    ]
)
def one() -> str: ...
