from mcpcore import CodedError, ErrorCode, FailureMode, tool
from store import load

@tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
def fetch(a: str) -> str:
    try:
        return load(a)
    except CodedError:
        return ""
