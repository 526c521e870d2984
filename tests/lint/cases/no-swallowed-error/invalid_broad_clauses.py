# message: swallows every exception
import contextlib
import logging
from contextlib import suppress as ignore
from mcpcore import Context, tool

log = logging.getLogger(__name__)
Broad = (ValueError, Exception)

@tool
async def fetch(ctx: Context, a: str) -> str:
    try:
        open(a)
    except Exception:  # here
        pass
    for each in a:
        try:
            open(each)
        except Broad as error:  # here
            log.warning("no %s: %s", each, error)
            continue
    try:
        open(a)
    except (KeyError, Exception):  # here
        await ctx.info("skipped")
    with ignore(Exception):  # here
        open(a)
    try:
        open(a)
    except:  # here
        ...
    def inner():
        with contextlib.suppress(BaseException):  # here
            open(a)
    return a
