# message: fetch raises the reason 'startup_failure'
from mcpcore import CodedError, ErrorCode, FailureMode, tool

@tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
def fetch(a: str) -> str:
    if a == "1":
        raise CodedError.startup_failure()  # here
    raise CodedError.tool_failure(ErrorCode.NOT_FOUND, reason="gonne")  # here
