# message: the declared failure 'gone' never reaches the client: masked.inner replaces it
import functools

from mcpcore import CodedError, Context, ErrorCode, FailureMode, internal_error, tool

GONE = FailureMode("gone", ErrorCode.NOT_FOUND, when="it was deleted", recovery="Look for another one by its title.")

def masked(fn):
    @functools.wraps(fn)
    async def inner(*args, **kwargs):
        try:
            return await fn(*args, **kwargs)
        except Exception as error:
            raise internal_error() from error
    return inner

def kept(fn):
    @functools.wraps(fn)
    async def inner(*args, **kwargs):
        try:
            return await fn(*args, **kwargs)
        except CodedError:
            raise
        except Exception as error:
            raise internal_error() from error
    return inner

@tool(errors=[GONE])
@masked
async def replaced(ctx: Context, a: str) -> str:
    raise ctx.fail("gone")  # here

@tool(errors=[GONE])
@kept
async def passed(ctx: Context, a: str) -> str:
    raise ctx.fail("gone")

@masked
@tool(errors=[GONE])
async def around(ctx: Context, a: str) -> str:
    raise ctx.fail("gone")
