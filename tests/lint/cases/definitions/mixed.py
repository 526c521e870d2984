"""Three frameworks in one file; each comment `expect:` names what is found on its line."""

from __future__ import annotations

from typing import Annotated

import mcpcore
from fastmcp import Context, FastMCP
from mcp.server.fastmcp import FastMCP as OldFastMCP
from mcp.server.mcpserver import MCPServer
from pydantic import BaseModel, Field

mcp = FastMCP("fast")
old = OldFastMCP("old")
sdk = MCPServer("sdk")
server = mcpcore.Server("contract")


class Query(BaseModel):
    """What to look for."""

    text: str


@mcp.tool
async def search(ctx: Context, query: Query, limit: Annotated[int, "At most so many."]) -> list[str]:
    """Search."""
    return []


@mcp.tool("search")  # expect: tool-name-unique
async def search_again(query: Query) -> list[str]:  # expect: tool-description-required
    return []


@old.tool(name="read file", description="Read a file.")  # expect: tool-name-format
def read(path: str) -> str:  # expect: field-description
    """Read.

    Args:
        path: This is not sent, since description= takes its place.
    """
    return path


@sdk.tool()
def write(path: str, text: Annotated[str, "What to write."]) -> str:
    """Write.

    Args:
        path: A path below the workspace.
    """
    return path + text


@server.tool()
def copy(
    source: str,  # expect: field-description
    target: Annotated[str, Field(description="Where to.")],
    force: bool = False,
) -> str:
    """Copy a file."""
    return source


class Files:
    """Tools that are methods."""

    def remove(self, path: Annotated[str, Field(description="Which.")]) -> str:
        """Remove a file."""
        return path

    def move(self, path: Annotated[str, Field(description="Which.")]) -> str:  # expect: tool-description-required
        return path


files = Files()
sdk.add_tool(files.remove)
sdk.add_tool(files.move, name="remove")  # expect: tool-name-unique


@mcp.tool
@mcpcore.tool(
    errors=[mcpcore.FailureMode("late", mcpcore.ErrorCode.TIMEOUT, when="It took too long.", recovery="Call it again.")]
)
def fetch(query: Query) -> str:  # expect: tool-annotations-missing
    """Fetch what is there."""
    return query.text
