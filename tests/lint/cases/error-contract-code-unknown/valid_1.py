from elsewhere import CODES, NAME
from mcpcore import ErrorCode, FailureMode, tool

@tool(
    errors=[
        FailureMode("a", ErrorCode.NOT_FOUND, when="x", recovery="y"),
        FailureMode("b", ErrorCode["TIMEOUT"], when="x", recovery="y"),
        FailureMode("c", ErrorCode(-32001), when="x", recovery="y"),
        FailureMode("d", ErrorCode[NAME], when="x", recovery="y"),
        FailureMode("e", ErrorCode(NAME), when="x", recovery="y"),
        FailureMode("f", CODES.NOTFOUND, when="x", recovery="y"),
        FailureMode("g", -1, when="x", recovery="y"),
    ]
)
def one() -> str: ...
