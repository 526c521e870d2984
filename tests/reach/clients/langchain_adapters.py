"""The text for the model of a LangChain agent with langchain-mcp-adapters, and of the Python SDK 1 below it.

The adapters need the Python SDK 1, so both run in a separate environment.
"""

from __future__ import annotations

import anyio
from common import CASES, answer
from langchain_mcp_adapters.tools import load_mcp_tools
from langchain_scripted import text_of
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import McpError


async def of_the_sdk(session: ClientSession, tool: str, arguments: dict[str, object]) -> str:
    """The text of one call, or of the exception for an error of the protocol."""
    try:
        result = await session.call_tool(tool, arguments)
    except McpError as error:
        return str(error)
    return "\n".join(block.text for block in result.content if block.type == "text")


async def ask(url: str) -> dict[str, dict[str, str]]:
    """All cases against one server."""
    async with streamable_http_client(url) as (read, write, _), ClientSession(read, write) as session:
        await session.initialize()
        tools = await load_mcp_tools(session)
        return {
            "Python SDK 1": {case: await of_the_sdk(session, *call) for case, call in CASES.items()},
            "LangChain (langchain-mcp-adapters)": {case: await text_of(tools, *call) for case, call in CASES.items()},
        }


anyio.run(answer, ask)
