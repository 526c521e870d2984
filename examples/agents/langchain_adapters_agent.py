"""Calls with langchain-mcp-adapters and a policy: `python -m examples.agents.langchain_adapters_agent SERVER...`.

The adapters require the SDK 1, so this runs in a separate environment, with mcpcore installed by `--no-deps`. SERVER is
the command of the server, which runs in the other environment: `.venv/bin/python -m examples.agents.server`.
"""

from __future__ import annotations

import asyncio
import sys

from langchain_mcp_adapters.tools import (  # type: ignore[import-not-found]  # pyright: ignore[reportMissingImports]
    load_mcp_tools,
)
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from examples.agents.script import Script, show_retries
from mcpcore.client import CallPolicy
from mcpcore.integrations.langchain_mcp_adapters import PolicyInterceptor


async def main(command: str, *args: str) -> None:
    """Make the calls of the script with the tools of the adapters, as an agent would."""
    script = Script()
    server = StdioServerParameters(command=command, args=[*args])
    async with stdio_client(server) as (reading, writing), ClientSession(reading, writing) as session:
        await session.initialize()
        listed = (await session.list_tools()).tools
        interceptor = PolicyInterceptor(CallPolicy(on_step=show_retries), tools=listed)
        tools = {tool.name: tool for tool in await load_mcp_tools(session, tool_interceptors=[interceptor])}
        while call := script.next_call():
            message = await tools[call.tool].ainvoke(
                {"type": "tool_call", "id": "1", "name": call.tool, "args": call.arguments}
            )
            script.read(message.text)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
