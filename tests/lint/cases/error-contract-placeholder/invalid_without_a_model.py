# message: has the placeholder {left}, but no data model
from mcpcore import Context, ErrorCode, FailureMode, tool

SHARED = FailureMode(
    "too_many",
    ErrorCode.CONFLICT,
    when="Only {left} are left.",  # here
    recovery="Order at most {left} of them, or ask again tomorrow.",  # here
)


@tool(errors=[SHARED], read_only=True)
async def order(ctx: Context, count: int) -> str:
    """Order."""
    raise ctx.fail("too_many", data={"left": 3, "asked": count})
