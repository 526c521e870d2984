"""What the annotations of FastMCP's tools say of their failures.

The tool that a client sees counts: a mount or a transform may give the tool of a handler other annotations. FastMCP
does not tell a middleware which tool it calls, and looking a tool up takes a twentieth of a call, so the annotations
are kept by name.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from fastmcp.tools.tool_transform import TransformedTool

from mcpcore.contract.effects import default_effects
from mcpcore.integrations.fastmcp.finding import contract_tool_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fastmcp import FastMCP
    from fastmcp.tools.base import Tool as FastMCPTool

    from mcpcore.contract.effects import ToolEffects
    from mcpcore.contract.failure_modes import Contract

    Noted = dict[str, tuple[ToolEffects | None, Contract[Any] | None]]


def advised(tool: FastMCPTool, published: object) -> object:
    """The contract in the `_meta` of a tool, with the advice that follows from the annotations of this very tool."""
    declared: FastMCPTool | None = tool
    while isinstance(declared, TransformedTool):
        declared = declared.parent_tool
    ours = None if declared is None else contract_tool_of(declared)
    if ours is None or not isinstance(published, list):
        return published
    entries: list[Any] = ours.contract.to_json(default_effects(tool.annotations))
    advice = {entry["reason"]: {key: entry[key] for key in ("retry", "effects") if key in entry} for entry in entries}
    return [
        {key: value for key, value in entry.items() if key != "effects"} | advice[str(entry.get("reason"))]
        if isinstance(entry, dict) and str(entry.get("reason")) in advice
        else entry
        for entry in published
    ]


class ToolHints:
    """The effects that follow from the annotations of tools, by server and by name."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._noted: weakref.WeakKeyDictionary[FastMCP, Noted] = weakref.WeakKeyDictionary()

    def note(self, server: FastMCP[Any], tools: Iterable[FastMCPTool]) -> None:
        """Keep the effects of the tools of `server`, as a client sees them."""
        self._noted[server] = {tool.name: (default_effects(tool.annotations), None) for tool in tools}

    def noted(self, server: FastMCP[Any], name: str) -> ToolEffects | None:
        """The effects of the tool when it was last looked up."""
        return self._noted.get(server, {}).get(name, (None, None))[0]

    async def of(self, server: FastMCP[Any], name: str, contract: Contract[Any] | None = None) -> ToolEffects | None:
        """The effects of the tool; looked up again if `contract` is not that of the last failure."""
        noted = self._noted.get(server, {}).get(name)
        if noted is None:
            return (await self.looked_up(server, name))[0]
        effects, seen = noted
        if contract is not None and seen is not contract:
            effects, _ = await self.looked_up(server, name)
            self._noted.setdefault(server, {})[name] = effects, contract
        return effects

    async def looked_up(self, server: FastMCP[Any], name: str) -> tuple[ToolEffects | None, bool]:
        """Look the tool up: its effects, and whether a custom function may transform it."""
        try:
            tool = await server.get_tool(name)
        except Exception:  # noqa: BLE001 - the call itself fails in the same way, and tells why
            tool = None
        if tool is None:
            return "unstated", False
        effects = default_effects(tool.annotations)
        self._noted.setdefault(server, {})[name] = effects, None
        return effects, isinstance(tool, TransformedTool)
