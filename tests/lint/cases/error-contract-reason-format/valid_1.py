from enum import StrEnum

from elsewhere import REASON
from mcpcore import ErrorCode, FailureMode, tool

class Reason(StrEnum):
    QUEUE_FULL = "queue_full"

@tool(
    errors=[
        FailureMode("a", ErrorCode.NOT_FOUND, when="x", recovery="y"),
        FailureMode("no_match", ErrorCode.NOT_FOUND, when="x", recovery="y"),
        FailureMode("http_404", ErrorCode.NOT_FOUND, when="x", recovery="y"),
        FailureMode("v2", ErrorCode.NOT_FOUND, when="x", recovery="y"),
        FailureMode(REASON, ErrorCode.NOT_FOUND, when="x", recovery="y"),
        FailureMode(Reason.QUEUE_FULL, ErrorCode.NOT_FOUND, when="x", recovery="y"),
        FailureMode(f"Odd-{REASON}", ErrorCode.NOT_FOUND, when="x", recovery="y"),
        FailureMode("", ErrorCode.NOT_FOUND, when="x", recovery="y"),
        FailureMode("abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijk",
                    ErrorCode.NOT_FOUND, when="x", recovery="y"),
    ]
)
def one() -> str: ...
