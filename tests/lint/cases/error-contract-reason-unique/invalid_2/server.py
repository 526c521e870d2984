# message: the reason 'a' is declared twice
from mcpcore import ErrorCode, FailureMode, tool
from modes import COMMON

@tool(
    errors=[
        *COMMON,
        FailureMode("a", ErrorCode.CONFLICT, when="x", recovery="y"),  # here
    ]
)
def one() -> str: ...
