# message: not_found(...)
from mcpcore import CodedError, ErrorCode, tool

CODE = ErrorCode.NOT_FOUND
def not_found(): ...

@tool
def fetch(a: str) -> str:
    raise CodedError(  # here
        CODE,  # the code
        "gone",
    )
