"""A server of the SDK whose tools fail in the ways of servers without contracts."""

from __future__ import annotations

import os
import sys
from typing import Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, ImageContent, TextContent, ToolAnnotations
from pydantic import BaseModel

server = MCPServer("plain")


class Sum(BaseModel):
    """A result with a model."""

    value: int


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def look_up(word: str) -> str:
    """Fail with the JSON of an error alone, sent as a success."""
    return f'{{"error": {{"code": "NOT_FOUND", "message": "no article about {len(word)} letters was found"}}}}'


@server.tool()
def charge(amount: int) -> str:
    """Fail with a text that says the code."""
    raise ToolError("429 Too Many Requests: the rate limit was exceeded, retry after 30 seconds")


@server.tool()
def crash() -> str:
    """Fail with a text that nobody wrote for a client."""
    text = "Traceback (most recent call last):\n  File \"/srv/app/secret.py\", line 3, in f\nKeyError: 'token'"
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True)  # type: ignore[return-value]


@server.tool()
def add(a: int, b: int) -> Sum:
    """Succeed with structured content."""
    if a < 0:
        raise ToolError("a must not be negative")
    return Sum(value=a + b)


@server.tool()
def picture() -> Any:
    """Fail with a text and an image."""
    image = ImageContent(type="image", data="aGk=", mime_type="image/png")
    return CallToolResult(content=[TextContent(type="text", text="the file does not exist"), image], is_error=True)


@server.tool()
async def progress(ctx: Context) -> str:
    """Report progress, and succeed."""
    await ctx.report_progress(1, 2, "half")
    return "done"


@server.tool()
def end() -> str:
    """End the server."""
    os._exit(3)


@server.resource("data://missing")
def missing() -> str:
    """Fail."""
    raise ValueError("the row 17 of the table users is gone")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run(transport="streamable-http", port=int(sys.argv[1]))
    else:
        server.run()
