"""The text for the model of FastMCP's client, whose failed call is an exception: its text."""

from __future__ import annotations

import anyio
from common import CASES, answer
from fastmcp import Client
from fastmcp.exceptions import ToolError
from mcp.shared.exceptions import MCPError


async def text_of(client: Client, tool: str, arguments: dict[str, object]) -> str:
    """The text of one call."""
    try:
        result = await client.call_tool(tool, arguments)
    except (ToolError, MCPError) as error:
        return str(error)
    return str(result)


async def ask(url: str) -> dict[str, dict[str, str]]:
    """All cases against one server."""
    async with Client(url) as client:
        return {"FastMCP client": {case: await text_of(client, *call) for case, call in CASES.items()}}


anyio.run(answer, ask)
