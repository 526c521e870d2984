# message: sends the caller to the tool 'list_books', which the project does not define
from mcpcore import Context, ErrorCode, FailureMode, tool

@tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="it was deleted", recovery="Call the `list_books` tool first.")])  # here
async def find(ctx: Context, title: str) -> str:
    """Find."""
    raise ctx.fail("gone")
