# message: fetch > load > _read
from mcpcore import ErrorCode, FailureMode, tool
from store import load

@tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
async def fetch(a: str) -> str:
    return await load(a)  # here
