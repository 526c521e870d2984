"""Notes on plain FastMCP."""

from typing import Literal

from fastmcp import FastMCP
from mcpcore import TODO, Context, ErrorCode, FailureMode, tool
from mcpcore.integrations.fastmcp import ContractMiddleware

mcp = FastMCP("notes", middleware=[ContractMiddleware(expose_internal_errors="message")])
NOTES: dict[str, str] = {"tea": "Green, 80 degrees."}


class NoteError(Exception):
    """A note could not be read or written."""


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
def read_note(ctx: Context[Literal["there_is_no_note"]], name: str) -> str:
    """Read a note."""
    try:
        return NOTES[name]
    except KeyError as e:
        raise ctx.fail("there_is_no_note", f"There is no note {name}") from e


@mcp.tool
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
def write_note(ctx: Context[Literal["text_is_empty"]], name: str, text: str) -> str:
    """Write a note."""
    if not text:
        raise ctx.fail("text_is_empty", "The text is empty")
    NOTES[name] = text
    return "written"


def main() -> None:
    """Serve the tools over stdio."""
    mcp.run()


if __name__ == "__main__":
    main()
