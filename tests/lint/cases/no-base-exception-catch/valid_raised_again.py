import asyncio
from mcpcore import tool

@tool
async def fetch(a: str) -> str:
    try:
        return open(a).read()
    except BaseException:
        undo()
        raise
    try:
        return open(a).read()
    except BaseException as error:
        if isinstance(error, asyncio.CancelledError):
            raise
        return ""
    try:
        return open(a).read()
    except asyncio.CancelledError:
        raise
    except:
        return ""
    try:
        return open(a).read()
    except BaseException as error:
        if a:
            raise error
        else:
            raise
    try:
        return open(a).read()
    except BaseException:
        if a:
            raise
        return ""
