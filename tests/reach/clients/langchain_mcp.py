"""The text for the model of a LangChain agent with the tools of `langchain.mcp`."""

from __future__ import annotations

import warnings

import anyio
from common import CASES, answer
from langchain_core._api import LangChainBetaWarning
from langchain_scripted import text_of

warnings.filterwarnings("ignore", category=LangChainBetaWarning)

from langchain.mcp import MCPAdapter  # noqa: E402 - importing it warns that it is in beta


async def ask(url: str) -> dict[str, dict[str, str]]:
    """All cases against one server."""
    async with MCPAdapter(url) as adapter:
        tools = await adapter.list_tools()
        return {"LangChain (langchain.mcp)": {case: await text_of(tools, *call) for case, call in CASES.items()}}


anyio.run(answer, ask)
