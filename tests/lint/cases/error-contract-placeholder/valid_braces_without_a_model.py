from mcpcore import Context, ErrorCode, FailureMode, tool

PATH = FailureMode("no_path", ErrorCode.NOT_FOUND, when="GET /users/{id} has no answer.", recovery="Ask with {\"id\": 1} in the body.")
OTHER = FailureMode("other", ErrorCode.CONFLICT, when="Only {left} are left.", recovery="Order at most {left} of them, or ask again.")


@tool(errors=[PATH, OTHER], read_only=True)
async def order(ctx: Context, count: int) -> str:
    """Order."""
    if count:
        raise ctx.fail("other", data=load(count))
    raise ctx.fail("no_path", data={"count": count})
