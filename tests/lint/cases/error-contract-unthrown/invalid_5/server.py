# message: 'gone'
from mcpcore import ErrorCode, FailureMode, tool
from modes import SHARED

@tool(errors=SHARED)  # here
def fetch(a: str) -> str:
    return a
