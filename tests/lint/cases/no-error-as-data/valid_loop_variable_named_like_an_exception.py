from mcp.server.fastmcp import FastMCP

mcp = FastMCP("shelf")


class ShelfError(Exception):
    def to_dict(self) -> dict:
        return {"error": "the shelf is closed"}


@mcp.tool()
def find_entry(number: int) -> dict:
    """Find an entry."""
    try:
        entries = open_shelf()
    except ShelfError as e:
        raise RuntimeError("open the shelf first") from e
    for e in entries:
        if e.number == number:
            return e.to_dict()
    raise RuntimeError("list the entries to see their numbers")


@mcp.tool()
def first_entry(number: int) -> dict:
    """Get the first entry."""
    try:
        with open_shelf() as e:
            return e.to_dict()
    except ShelfError as e:
        raise RuntimeError("open the shelf first") from e
