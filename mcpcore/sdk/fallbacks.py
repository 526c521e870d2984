"""The fallback tools that the contracts of a `Server` name: checked when it starts, and for what it registers later."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from mcpcore.boundary.fallbacks import Fallback, FallbackCheck, fallbacks_in
from mcpcore.sdk.tools import ContractTool

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence

    from mcp.server.mcpserver.prompts import PromptManager
    from mcp.server.mcpserver.resources import ResourceManager
    from mcp.server.mcpserver.tools import ToolManager
    from mcp_types import Tool as MCPTool

    from mcpcore.boundary.strictness import Strictness
    from mcpcore.contract.failure_modes import Contract
    from mcpcore.sdk.startup import Startup


class ServerFallbacks:
    """Checks the fallback tools of a `Server`."""

    def __init__(
        self,
        check: FallbackCheck,
        startup: Startup,
        strictness: Strictness,
        managers: tuple[ToolManager, ResourceManager, PromptManager],
        list_tools: Callable[[], Awaitable[Sequence[MCPTool]]],
    ) -> None:
        """Report with `check`; the `managers` hold what the server has registered, `list_tools` is its own method."""
        self._check = check
        self._startup = startup
        self._strictness = strictness
        self._tools, self._resources, self._prompts = managers
        self._list_tools = list_tools

    async def check(self) -> None:
        """Check all contracts, once the lifespan has registered its own tools.

        Raises:
            ContractError: If a fallback tool is unknown and the server is strict.
        """
        known: dict[str, Any] = self._by_name()
        unknown = self._check.unknown(self._declared(known), known)
        if unknown:
            # A subclass may list tools that it does not register; its list may need a request.
            with contextlib.suppress(Exception):
                known = {tool.name: tool for tool in await self._list_tools()} | known
            unknown = self._check.unknown(self._declared(known), known)
        self._check.report(unknown, known, strict=self._strictness.on)

    def check_new(self, noun: str, name: str, contract: Contract[Any], own: Any = None) -> None:
        """Check a contract that is about to be registered; before the server has started, this does nothing.

        Raises:
            ContractError: If a fallback tool is unknown and the server is strict.
        """
        if not self._startup.running:
            return
        known = self._by_name()
        if own is not None:
            known[name] = own
        unknown = self._check.unknown(fallbacks_in(noun, name, contract, known, own), known)
        self._check.report(unknown, known, strict=self._strictness.on)

    def _by_name(self) -> dict[str, Any]:
        return {tool.name: tool for tool in self._tools.list_tools()}

    def _declared(self, known: Mapping[str, Any]) -> Iterator[Fallback]:
        for tool in self._tools.list_tools():
            if isinstance(tool, ContractTool):
                yield from fallbacks_in("tool", tool.name, tool.tool.contract, known, tool)
        for resource in self._resources.list_resources():
            yield from fallbacks_in("resource", str(resource.uri), getattr(resource, "contract", ()), known)
        for template in self._resources.list_templates():
            yield from fallbacks_in("resource", template.uri_template, getattr(template, "contract", ()), known)
        for prompt in self._prompts.list_prompts():
            yield from fallbacks_in("prompt", prompt.name, getattr(prompt, "contract", ()), known)
