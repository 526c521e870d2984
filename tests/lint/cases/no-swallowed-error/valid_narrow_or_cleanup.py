from contextlib import suppress
from mcpcore import service_unavailable, tool

@tool
async def fetch(a: str) -> str:
    try:
        open(a)
    except FileNotFoundError:
        pass
    with suppress(FileNotFoundError, KeyError):
        open(a)
    try:
        open(a)
    except Exception:
        raise
    try:
        await client.aclose()
    except Exception:
        pass
    with suppress(Exception):
        client.close()
    errors = []
    try:
        open(a)
    except Exception as error:
        errors.append(error)
    for _ in range(3):
        try:
            return open(a).read()
        except Exception as error:
            logger.warning("again: %s", error)
    raise service_unavailable("three times")
