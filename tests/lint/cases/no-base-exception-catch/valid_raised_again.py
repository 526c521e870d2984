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
    except BaseException as error:
        future.set_exception(error)
    except Exception:
        return ""

@tool
async def keep(a: str) -> str:
    failure = None
    try:
        text = open(a).read()
    except BaseException as error:
        failure = error
    failures = []
    try:
        text = open(a).read()
    except BaseException as error:
        failures.append(error)
    close()
    if failures:
        raise failures[0]
    if failure is not None:
        raise failure
    return text
