from mcpcore import Context, ErrorCode, FailureMode, tool

GONE = FailureMode("gone", ErrorCode.NOT_FOUND, when="it was deleted", recovery="Call the `find` tool with another title.")
LOST = FailureMode("lost", ErrorCode.NOT_FOUND, when="it was lost", recovery="Call `list_books` for the titles there are.")
LENT = FailureMode("lent", ErrorCode.CONFLICT, when="it was lent", recovery="Ask the `loans` tool of the other server.")

@tool(errors=[GONE, LOST, LENT])
async def find(ctx: Context, title: str) -> str:
    """Find."""
    if title:
        raise ctx.fail("gone")
    if not title:
        raise ctx.fail("lost")
    raise ctx.fail("lent")
