from enum import Enum
from typing import Literal

from elsewhere import REASON
from mcpcore import ErrorCode, FailureMode, tool

class Reason(str, Enum):
    NO_MATCH = "no_match"

more = {"reason": "b", "code": ErrorCode.CONFLICT}

@tool(
    errors=[
        FailureMode("a", ErrorCode.NOT_FOUND, when="x", recovery="y"),
        FailureMode(code=ErrorCode.NOT_FOUND, reason="c", when="x", recovery="y"),
        FailureMode(REASON, ErrorCode.NOT_FOUND, when="x", recovery="y"),
        FailureMode(Reason.NO_MATCH, ErrorCode.NOT_FOUND, when="x", recovery="y"),
        FailureMode(when="x", recovery="y", **more),
        FailureMode(when="x", recovery="y", **unknown),
        FailureMode(*unknown, when="x", recovery="y"),
        FailureMode(f"{REASON}", ErrorCode.NOT_FOUND, when="x", recovery="y"),
    ]
)
def one() -> str: ...

def mode(reason: Literal["a", "b"]):
    return FailureMode(reason, ErrorCode.CONFLICT, when="x", recovery="y")
