# message: the code of 'a' is UNKNOWN_ERROR, which tells the model nothing
import mcpcore
from mcpcore import ErrorCode, FailureMode, tool

CODE = ErrorCode.UNKNOWN_ERROR

@tool(
    errors=[
        FailureMode("a", ErrorCode.UNKNOWN_ERROR, when="x", recovery="y"),  # here
        FailureMode("b", code=mcpcore.ErrorCode["UNKNOWN_ERROR"], when="x", recovery="y"),  # here
        FailureMode("c", CODE, when="x", recovery="y"),  # here
        FailureMode("d", ErrorCode(-32099), when="x", recovery="y"),  # here
    ]
)
def one() -> str: ...
