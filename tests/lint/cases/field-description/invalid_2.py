# message: the parameter lines of one has no description
from typing import Annotated, NewType

from fastmcp import Context as Theirs, FastMCP
from mcp.server.mcpserver import MCPServer
from mcpcore import Context, Server, tool
from pydantic import Field

mcp = FastMCP("x")
sdk = MCPServer("x")
server = Server("x")
Path = Annotated[str, Field(min_length=1)]

@tool
def one(
    ctx: Context,
    path: str,
    text: Annotated[str, Field(description="A text.")],
    lines: list[int],  # here
) -> str:
    """Say one."""

@mcp.tool
def two(
    path: Path,
    text=Field(),
    depth: Annotated[int, Field(ge=1)] = Field(...),  # here
) -> str:
    """Say two."""

@sdk.tool()
def three(
    path: Annotated[str, "A path."],
    limit: Annotated[int, "How many."] = 3,
    *,
    name: str,
    other: Annotated[str, Field(description=" ")],  # here
) -> str:
    """Say three, from the path on.

    Returns:
        What is there.
    """

class Tools:
    @server.tool()
    def four(self, mode: str) -> str:  # here
        """Say four."""

@server.tool(description="Say five.")
def five(path: str) -> str:  # here
    """Not what is sent.

    Args:
        path: A path.
    """

@server.tool()
def refund(amount: float) -> str:
    """Refund an amount."""

@server.tool()
def book(
    date: str,  # here
    sure: bool,
) -> str:
    """Book a table."""

@server.tool()
def remove(row: int, rule: dict[str, str]) -> str:  # here
    """Remove a row by a rule."""

Frame = NewType("Frame", str)

@mcp.tool
def replay(frames: list[Frame]) -> str:  # here
    """Play them again."""
