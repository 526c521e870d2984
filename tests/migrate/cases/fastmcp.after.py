"""A FastMCP server stays one."""

from typing import Literal

from fastmcp import Context, FastMCP
from mcpcore import TODO, Context as ToolContext, ErrorCode, FailureMode, tool
from mcpcore.integrations.fastmcp import ContractMiddleware

mcp = FastMCP("notes", middleware=[ContractMiddleware(expose_internal_errors="message")])


@mcp.tool
@tool(
    errors=[
        FailureMode(
            "there_is_no_note",
            ErrorCode.NOT_FOUND,
            when="There is no note {name}.",
            recovery=TODO,
        ),
    ],
)
async def read(fails: ToolContext[Literal["there_is_no_note"]], name: str, ctx: Context) -> str:
    """Read a note."""
    await ctx.info(name)
    raise fails.fail("there_is_no_note", f"There is no note {name}")


@mcp.tool(tags={"notes"})
@tool(
    errors=[
        FailureMode(
            "text_is_empty",
            ErrorCode.VALIDATION_ERROR,
            when="The text is empty.",
            recovery=TODO,
        ),
    ],
)
def write(ctx: ToolContext[Literal["text_is_empty"]], name: str, text: str) -> str:
    """Write a note."""
    if not text:
        raise ctx.fail("text_is_empty", "the text is empty")
    return "written"
