# message: 'lost'
from mcpcore import Context, ErrorCode, FailureMode, not_found, timeout, tool

LOST = FailureMode("lost", ErrorCode.CONFLICT, when="x", recovery="y")  # here

@tool(
    errors=[
        FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y"),
        FailureMode("full", ErrorCode.RATE_LIMITED, when="x", recovery="y"),  # here
        LOST,
    ]
)
async def fetch(ctx: Context, a: str) -> str:
    if a:
        raise timeout("x")
    await ctx.info("x")
    return service(a)

def service(a):
    raise not_found("x", reason="gone")
