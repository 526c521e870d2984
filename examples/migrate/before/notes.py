"""Notes on plain FastMCP."""

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

mcp = FastMCP("notes")
NOTES: dict[str, str] = {"tea": "Green, 80 degrees."}


class NoteError(Exception):
    """A note could not be read or written."""


@mcp.tool
def read_note(name: str) -> str:
    """Read a note."""
    try:
        return NOTES[name]
    except KeyError as e:
        raise NoteError(f"There is no note {name}") from e


@mcp.tool
def write_note(name: str, text: str) -> str:
    """Write a note."""
    if not text:
        raise ToolError("The text is empty")
    NOTES[name] = text
    return "written"


def main() -> None:
    """Serve the tools over stdio."""
    mcp.run()


if __name__ == "__main__":
    main()
