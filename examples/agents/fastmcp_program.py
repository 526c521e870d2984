"""A program with FastMCP's client and a policy for failed calls: `python -m examples.agents.fastmcp_program`."""

from __future__ import annotations

import asyncio

from examples.agents.script import show_retries
from examples.agents.server import SOLD_OUT, make_server
from mcpcore.client import CallPolicy
from mcpcore.integrations.fastmcp_client import PolicyClient, PolicyToolError


async def main() -> None:
    """Book seats, in this process."""
    async with PolicyClient(make_server(), policy=CallPolicy(on_step=show_retries)) as client:
        result = await client.call_tool("book", {"show": "Macbeth", "seats": 2})
        print(result.structured_content)
        try:
            await client.call_tool("book", {"show": "Hamlet", "seats": 2})
        except PolicyToolError as failed:
            if failed.reason != SOLD_OUT.reason:
                raise
            print(f"{failed.envelope.message} {failed.envelope.hint}")


if __name__ == "__main__":
    asyncio.run(main())
