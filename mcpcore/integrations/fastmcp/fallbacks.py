"""The fallback tools that contracts on a FastMCP server name: checked at the first message, renamed for the client.

FastMCP has no hook by which a middleware can refuse that the server starts. The check therefore runs when the first
message arrives, after the lifespans of the server and of all mounted servers. A strict server answers requests with the
error.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from mcpcore.boundary.fallbacks import Fallback, FallbackCheck, with_renamed_words
from mcpcore.boundary.upstream import UpstreamError
from mcpcore.contract.failure_modes import CONTRACT_META_KEY, Contract
from mcpcore.integrations.fastmcp.calling import FastMCPCall, answering_now
from mcpcore.integrations.fastmcp.finding import tool_names
from mcpcore.integrations.fastmcp.namespaces import (
    Item,
    Names,
    fallbacks_in_meta,
    has_contract,
    is_static,
    name_of,
    renames,
)
from mcpcore.sdk.errors import failure_carried_by
from mcpcore.values.logs import LOGGER
from mcpcore.values.unwrapping import is_a

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from fastmcp import FastMCP

    from mcpcore.boundary.strictness import Strictness


class ServerFallbacks:
    """The fallback tools on one server with the mounts, providers and transforms that it has now."""

    def __init__(
        self, check: FallbackCheck, external: frozenset[str], strictness: Strictness, parts: Sequence[object]
    ) -> None:
        """Report with `check`, and leave the tools in `external`, those of other servers, as they are."""
        self._check = check
        self._external = external
        self._strictness = strictness
        self.renames = renames(parts)
        """Whether clients may know tools by other names than those that they are registered with."""

        self._is_static = is_static(parts)
        self._names: Names | None = None
        self._is_checked = False
        self._unknown: list[Fallback] = []
        """The wrong entries of the last check."""

        self._listed: set[str] = set()
        """Tools that only the server's list has: its middleware adds them."""

    @property
    def is_due(self) -> bool:
        """Whether the contracts have to be checked: once, and on a strict server until all is well."""
        return not self._is_checked or (bool(self._unknown) and self._strictness.on)

    async def check(self, server: FastMCP[Any]) -> None:
        """Check all contracts of `server`.

        Raises:
            ContractError: If a fallback tool is unknown and the server is strict.
        """
        names = await self.latest(server)
        unknown = self._check.unknown(names.fallbacks(), ())
        if unknown and names.lacks_proxies:
            names = await self.latest(server, proxies=True)
            unknown = self._check.unknown(names.fallbacks(), ())
        known = names.known
        if unknown and not names.is_complete:
            LOGGER.info("%r could not list all of its tools; its fallback tools were not checked", server.name)
            unknown = []
        if unknown:
            self._listed = set(await tool_names(server))
            known |= self._listed
            unknown = self._check.unknown(unknown, known)
        self._is_checked, self._unknown = True, unknown
        self._check.report(unknown, known, strict=self._strictness.on)

    async def names(self, server: FastMCP[Any]) -> Names:
        """The names of the tools of `server`: those that are known, if no client can have others."""
        return self._names or await self.latest(server)

    async def latest(self, server: FastMCP[Any], *, proxies: bool = False) -> Names:
        """The names as they are now: tools may have been added. Proxied servers are asked only with `proxies`."""
        names = Names(self._external, proxies=proxies)
        try:
            await names.add(server)
        except Exception:  # noqa: BLE001 - servers and transforms of others must not cost the answer
            names.is_complete = False
            LOGGER.debug("the names of the tools of %r could not be found", server.name)
        if self._is_static:
            self._names = names
        return names

    # --- renaming -------------------------------------------------------------------------------------------------

    async def renaming(self, server: FastMCP[Any], noun: str, name: str, outer: FastMCPCall | None) -> Renaming | None:
        """What renames the fallback tools of a request for `name` within `outer`; None if nothing is renamed."""
        if outer is not None and not outer.claimed:
            above = outer.renaming
            if above is None or above.server is not server:
                return above  # a server above has mounted this one, and knows more names
        if not self.renames:
            return None
        # Names that may differ by client are found once a failure needs them.
        return Renaming(self, server, noun, name, await self.names(server) if self._is_static else None)

    def own(self, contract: Iterable[Any]) -> set[str]:
        """The fallback tools in `contract` that are not tools of other servers."""
        return {entry.fallback_tool for entry in contract if entry.fallback_tool is not None} - self._external

    async def published(self, server: FastMCP[Any], noun: str, components: Sequence[Any]) -> Sequence[Any]:
        """Listed components, whose contracts name the fallback tools as the client knows them."""
        if not any(map(has_contract, components)):
            return components
        names = await self.names(server)
        if self._lacks(names, noun, components):
            # Tools that were added while the server runs, or those of a proxied server. The next message checks them.
            self._is_checked = False
            names = await self.latest(server, proxies=self.renames)
        return [_renamed(names, noun, component) for component in components] if self.renames else components

    def _lacks(self, names: Names, noun: str, components: Iterable[Any]) -> bool:
        """Whether a contract of listed components has a fallback tool that is neither found nor reported already."""
        reported = {(entry.name, entry.tool) for entry in self._unknown}
        elsewhere = self._listed | self._external
        for component in components:
            name = name_of(component)
            item = names.find(noun, name)
            for _, tool in fallbacks_in_meta(component.meta) if item is None else item.published:
                is_found = tool in elsewhere or (item is not None and names.rename(item, tool) is not None)
                if not is_found and (name, tool) not in reported:
                    return True
        return False


def _renamed(names: Names, noun: str, component: Any) -> Any:
    """A listed component, whose contract and description have the client's names of tools."""
    item = names.find(noun, name_of(component))
    if item is None or not has_contract(component) or not isinstance(component.meta[CONTRACT_META_KEY], list):
        return component
    rename = functools.partial(_name_for, names, item)
    entries = [dict(entry) if isinstance(entry, dict) else entry for entry in component.meta[CONTRACT_META_KEY]]
    for entry in entries:
        tool = entry.get("fallbackTool") if isinstance(entry, dict) else None
        if isinstance(tool, str):
            entry["fallbackTool"] = rename(tool)
        if isinstance(entry, dict) and isinstance(entry.get("recovery"), str):
            entry["recovery"] = with_renamed_words(entry["recovery"], rename, tool)
    changes: dict[str, Any] = {"meta": {**component.meta, CONTRACT_META_KEY: entries}}
    own, heading, failures = (component.description or "").partition("Fails with:")
    if heading:
        changes["description"] = own + heading + with_renamed_words(failures, rename)
    return component.model_copy(update=changes)


def _name_for(names: Names, item: Item, tool: str) -> str:
    """The client's name of `tool`; an unknown tool keeps its name."""
    return names.rename(item, tool) or tool


class Renaming:
    """Renames the fallback tools of one request, from what the contract says to what the client knows."""

    def __init__(
        self, fallbacks: ServerFallbacks, server: FastMCP[Any], noun: str, name: str, names: Names | None
    ) -> None:
        """Rename for the client's request for `name` on `server`; without `names`, they are found when needed."""
        self._fallbacks = fallbacks
        self.server = server
        self._noun = noun
        self._name = name
        self._names = names

    async def begin(self, contract: Contract[Any]) -> None:
        """Find the names before a handler with this contract runs, which may write failures itself, as in a batch."""
        if self._names is None and self._fallbacks.own(contract):
            self._names = await self._fallbacks.latest(self.server)

    async def prepare(self, failure: BaseException, contract: Contract[Any]) -> None:
        """Look again at the names before `failure` is answered, if they lack one that it could need."""
        names = self._names
        item = None if names is None else names.find(self._noun, self._name)
        if is_a(failure, UpstreamError) or failure_carried_by(failure) is not None:
            if item is None and (names is None or names.has_proxies):
                self._names = await self._fallbacks.latest(self.server, proxies=True)
            return
        tools = self._fallbacks.own(contract)
        if tools and (names is None or item is None or any(names.rename(item, tool) is None for tool in tools)):
            # Not the tools of proxied servers: one that is down must not delay the failures of this server.
            self._names = await self._fallbacks.latest(self.server)

    def of(self, failure: BaseException) -> Callable[[str], str] | None:
        """A function from the names of tools in `failure` to the client's names; None if the names stay.

        They stay in a failure of another server that a handler passes on.
        """
        names = self._names
        item = None if names is None else names.find(self._noun, self._name)
        if names is None or item is None or (not item.remote and is_a(failure, UpstreamError)):
            return None
        return functools.partial(_name_for, names, item)


def renaming_of(failure: BaseException) -> Callable[[str], str] | None:
    """What renames the tools in `failure`, in the request that is being answered; None if nothing does."""
    call = answering_now()
    return None if call is None or call.renaming is None else call.renaming.of(failure)
