# message: `except BaseException` in fetch swallows cancellation
import asyncio
from mcpcore import tool

@tool
async def fetch(a: str) -> str:
    try:
        return open(a).read()
    except BaseException as exc:  # here
        if isinstance(exc, (KeyError, OSError)):
            raise
        return ""
    try:
        return open(a).read()
    except BaseException as exc:
        if isinstance(exc, asyncio.CancelledError):
            raise
        return ""
    try:
        return open(a).read()
    except BaseException as exc:
        if not isinstance(exc, Exception):
            raise
        return ""
