# message: swallows cancellation
from builtins import BaseException as Everything
from contextlib import suppress
from mcpcore import internal_error, tool

@tool
async def fetch(a: str) -> str:
    try:
        return await load(a)
    except:  # here
        return ""
    try:
        return open(a).read()
    except (ValueError, Everything) as error:  # here
        raise internal_error() from error
    with suppress(BaseException):  # here
        open(a)
    def inner():
        try:
            return open(a).read()
        except BaseException:  # here
            def unrelated():
                raise
    return inner()
