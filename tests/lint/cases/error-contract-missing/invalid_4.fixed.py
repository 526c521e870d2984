import sqlite3

import httpx
from mcpcore import CodedError, ErrorCode, FailureMode, tool

@tool(errors=[
    FailureMode(
        "not_found",
        ErrorCode.NOT_FOUND,
        when="There is no row for '...': ....",
        recovery="TODO: next step",
    ),
    FailureMode(
        "service_unavailable",
        ErrorCode.SERVICE_UNAVAILABLE,
        when="httpx.AsyncClient.get raises ConnectError",
        recovery="TODO: next step",
    ),
    FailureMode(
        "timeout",
        ErrorCode.TIMEOUT,
        when="httpx.AsyncClient.get raises TimeoutException",
        recovery="TODO: next step",
    ),
    FailureMode(
        "database_error",
        ErrorCode.DATABASE_ERROR,
        when="sqlite3.connect raises OperationalError",
        recovery="TODO: next step",
    ),
])
async def fetch(a: str) -> str:
    async with httpx.AsyncClient() as client:
        await client.get(a)
    if not a:
        raise CodedError(ErrorCode.NOT_FOUND, f"There is no row for '{a}': {a!r}.")
    return sqlite3.connect(a)
