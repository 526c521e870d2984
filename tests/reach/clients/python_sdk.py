"""The text for the model of the Python SDK's client, in both eras of the protocol.

An application that uses the SDK alone gives the model the text blocks of the result, and the text of the exception
where the server answers with an error of the protocol.
"""

from __future__ import annotations

import anyio
from common import CASES, answer
from mcp import Client
from mcp.shared.exceptions import MCPError

MODES = {"Python SDK 2 (2026-07-28)": "auto", "Python SDK 2 (handshake)": "legacy"}


async def text_of(client: Client, tool: str, arguments: dict[str, object]) -> str:
    """The text of one call."""
    try:
        result = await client.call_tool(tool, arguments)
    except MCPError as error:
        return str(error)
    return "\n".join(block.text for block in result.content if block.type == "text")


async def ask(url: str) -> dict[str, dict[str, str]]:
    """All cases against one server, in each era."""
    texts = {}
    for name, mode in MODES.items():
        async with Client(url, mode=mode) as client:
            texts[name] = {case: await text_of(client, *call) for case, call in CASES.items()}
    return texts


anyio.run(answer, ask)
