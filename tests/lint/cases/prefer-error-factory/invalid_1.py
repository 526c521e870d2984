# message: not_found(...)
from mcpcore import CodedError, ErrorCode, tool

@tool
def fetch(a: str) -> str:
    raise CodedError(ErrorCode.NOT_FOUND, f"no {a}", {"a": a}, retry=None) from None  # here
