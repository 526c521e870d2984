"""The fallback tools that the contracts of a `Server` name: checked when it starts, and for what it registers later."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from mcpcore.boundary.fallbacks import fallbacks_in
from mcpcore.sdk.tools import ContractTool

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence

    from mcp.server.mcpserver.prompts import PromptManager
    from mcp.server.mcpserver.resources import ResourceManager
    from mcp.server.mcpserver.tools import ToolManager
    from mcp_types import Tool as MCPTool

    from mcpcore.boundary.fallbacks import Fallback, FallbackCheck
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
        known = self._tool_names()
        unknown = self._check.unknown(self._declared(), known)
        if unknown:
            # A subclass may list tools that it does not register; its list may need a request.
            with contextlib.suppress(Exception):
                known.update(tool.name for tool in await self._list_tools())
            unknown = self._check.unknown(unknown, known)
        self._check.report(unknown, known, strict=self._strictness.on)

    def check_new(self, noun: str, name: str, contract: Contract[Any]) -> None:
        """Check a contract that is about to be registered; before the server has started, this does nothing.

        Raises:
            ContractError: If a fallback tool is unknown and the server is strict.
        """
        if not self._startup.running:
            return
        known = self._tool_names()
        if noun == "tool":
            known.add(name)
        unknown = self._check.unknown(fallbacks_in(noun, name, contract), known)
        self._check.report(unknown, known, strict=self._strictness.on)

    def _tool_names(self) -> set[str]:
        return {tool.name for tool in self._tools.list_tools()}

    def _declared(self) -> Iterator[Fallback]:
        for tool in self._tools.list_tools():
            if isinstance(tool, ContractTool):
                yield from fallbacks_in("tool", tool.name, tool.tool.contract)
        for resource in self._resources.list_resources():
            yield from fallbacks_in("resource", str(resource.uri), getattr(resource, "contract", ()))
        for template in self._resources.list_templates():
            yield from fallbacks_in("resource", template.uri_template, getattr(template, "contract", ()))
        for prompt in self._prompts.list_prompts():
            yield from fallbacks_in("prompt", prompt.name, getattr(prompt, "contract", ()))
