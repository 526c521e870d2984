# message: fetch raises NOT_FOUND
from mcpcore import CodedError, ErrorCode, tool

@tool
async def fetch(a: str) -> str:  # here
    if not a:
        raise CodedError(ErrorCode.NOT_FOUND, f"There is no row for '{a}': {a!r}.")
    return a
