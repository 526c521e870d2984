# message: fetch throws NOT_FOUND
import sqlite3

import httpx
from mcpcore import CodedError, ErrorCode, tool

@tool
async def fetch(a: str) -> str:  # here
    async with httpx.AsyncClient() as client:
        await client.get(a)
    if not a:
        raise CodedError(ErrorCode.NOT_FOUND, f"There is no row for '{a}': {a!r}.")
    return sqlite3.connect(a)
