"""The fallback tools that contracts on a FastMCP server name: checked at the first message, renamed for the client.

FastMCP has no hook by which a middleware can refuse that the server starts. The check therefore runs when the first
message arrives, after the lifespans of the server and of all mounted servers. A strict server answers requests with the
error.

A mount with a namespace and a transform rename tools. The fallback tool of a contract is declared by the name that the
tool has where it is registered, so it is renamed in the same way before a client reads it. The names are found through
FastMCP's public lists and transforms, provider by provider and server by server. Visibility and auth, which differ by
session, hide nothing here.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import anyio
from fastmcp.server.middleware.middleware import Middleware
from fastmcp.server.providers import Provider
from fastmcp.server.providers.aggregate import AggregateProvider
from fastmcp.server.providers.fastmcp_provider import FastMCPProvider
from fastmcp.server.providers.proxy import ProxyProvider

from mcpcore.boundary.fallbacks import Fallback, FallbackCheck, misfit_of, with_renamed_words
from mcpcore.boundary.upstream import UpstreamError
from mcpcore.contract.failure_modes import CONTRACT_META_KEY, Contract
from mcpcore.integrations.fastmcp.calling import FastMCPCall, answering_now
from mcpcore.integrations.fastmcp.components import tool_names, transforms_of
from mcpcore.integrations.fastmcp.private import inner_provider
from mcpcore.integrations.fastmcp.returned import Noticing
from mcpcore.sdk.errors import failure_carried_by
from mcpcore.values.logs import LOGGER
from mcpcore.values.unwrapping import is_a

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence

    from fastmcp import FastMCP
    from fastmcp.server.transforms import Transform

    from mcpcore.boundary.strictness import Strictness

PROXY_SECONDS: Final = 5.0
"""Seconds to wait for the lists of proxied servers; a contract of this server may name one of their tools."""

_LISTS: Final = {
    "tool": "list_tools",
    "resource": "list_resources",
    "template": "list_resource_templates",
    "prompt": "list_prompts",
}
"""The method of providers and transforms that lists each kind of component."""


@dataclass(slots=True, eq=False)
class Item:
    """A tool, or a resource or a prompt that has a contract."""

    kind: str
    component: Any
    """The component as it is at the current stage."""

    published: list[tuple[str, str]]
    """The reasons in its contract that have a fallback tool, and that tool."""

    remote: bool = False
    """Whether another server has it, and this one is its proxy."""

    stages: list[dict[str, Item]] = field(default_factory=list)
    """The tools at each stage that it has passed, from where it is registered to where clients see it."""

    is_hidden: bool = False
    """Whether a transform keeps it from clients."""

    @property
    def name(self) -> str:
        """Its name or URI at the current stage."""
        return name_of(self.component)


class Names:
    """The names of all tools of one server at one time, at each stage from their registration to the client."""

    def __init__(self, external: frozenset[str], *, proxies: bool) -> None:
        """Begin without any; `add` fills them in.

        `external` are tools of other servers, which nothing renames. The lists of proxied servers need a request, so
        only `proxies` asks for them.
        """
        self.has_proxies = False
        """Whether there are proxies of other servers."""

        self.is_complete = True
        """Whether all components could be listed, but for those of proxied servers that nobody asked for."""

        self._external = external
        self._proxies = proxies
        self._deadline = anyio.current_time() + PROXY_SECONDS
        self._items: dict[tuple[str, str], Item] = {}
        self._all: list[Item] = []

    @property
    def known(self) -> set[str]:
        """The names of all tools, as clients know them."""
        return {name for kind, name in self._items if kind == "tool"}

    def fallbacks(self) -> Iterator[Fallback]:
        """The declared fallback tools that are not found or do not fit, under the names that clients know.

        Contracts of proxied servers are left out: they are those servers' business.
        """
        for item in self._all:
            for reason, tool in () if item.remote else item.published:
                name = self.rename(item, tool)
                misfit = self._misfit(item, reason, name)
                if name is None or misfit is not None:
                    noun = "resource" if item.kind == "template" else item.kind
                    yield Fallback(noun, item.name, reason, tool, misfit)

    def _misfit(self, item: Item, reason: str, name: str | None) -> str | None:
        entry, tool = _contract_of(item.component).get(reason), self._items.get(("tool", name or ""))
        own = item.component if item.kind == "tool" else None
        return None if entry is None or tool is None else misfit_of(entry, tool.component, own)

    def find(self, noun: str, name: str) -> Item | None:
        """The component that a client knows as `name`; a URI may match a template."""
        item = self._items.get((noun, name))
        if item is None and noun == "resource":
            templates = (item for (kind, _), item in self._items.items() if kind == "template")
            matching = (item for item in templates if item.component.matches(name) is not None)
            item = self._items.get(("template", name)) or next(matching, None)
        return item

    def rename(self, item: Item, fallback: str) -> str | None:
        """The client's name of the tool that a contract of `item` calls `fallback`; None if there is no such tool."""
        if fallback in self._external:
            return fallback
        # The innermost stage first: a contract means the tool beside its own.
        for stage in item.stages:
            tool = stage.get(fallback)
            if tool is not None and not tool.is_hidden:
                return tool.name
        return fallback if ("tool", fallback) in self._items else None

    # --- filling in -----------------------------------------------------------------------------------------------

    async def add(self, server: FastMCP[Any]) -> None:
        """Add all components of `server`."""
        self._all = await self._of(server)
        for item in self._all:
            self._items.setdefault((item.kind, item.name), item)

    async def _of(self, provider: Any) -> list[Item]:
        """The components of a provider or a server, with the names that its own transforms give them."""
        inner = inner_provider(provider)
        if inner is None and isinstance(provider, FastMCPProvider):
            inner = provider.server
        if inner is not None:
            items = await self._of(inner)
        elif isinstance(provider, AggregateProvider):
            items = _stage([item for part in provider.providers for item in await self._of(part)])
        else:
            items = _stage([item async for item in self._of_leaf(provider)])
        for transform in transforms_of(provider):
            if not isinstance(transform, Noticing):
                items = _stage(await self._through(transform, items))
        return items

    async def _of_leaf(self, provider: Any) -> AsyncIterator[Item]:
        remote = isinstance(provider, ProxyProvider)
        self.has_proxies |= remote
        for kind, method in _LISTS.items() if self._proxies or not remote else ():
            listed: Sequence[Any] | None = None
            try:
                with anyio.CancelScope(deadline=self._deadline if remote else math.inf):
                    # The methods that a provider defines, below its own transforms.
                    listed = await getattr(provider, f"_{method}")()
            except Exception:  # noqa: BLE001 - a provider that cannot list must not keep the others from it
                LOGGER.debug("%r could not list its components", type(provider).__name__)
            self.is_complete &= listed is not None
            for component in listed or ():
                published = _published(component)
                if kind == "tool" or published or has_contract(component):
                    yield Item(kind, component, published, remote)

    async def _through(self, transform: Transform, items: list[Item]) -> list[Item]:
        """The components that clients can still reach behind `transform`."""
        try:
            for item in items:
                component = await _passed_on(transform, item)
                item.is_hidden = component is None
                item.component = component or item.component
            # A transform may add tools, such as a search.
            added = [Item("tool", tool, []) for tool in await transform.list_tools([])]
        except Exception:  # noqa: BLE001 - code of others, which may need a request
            LOGGER.debug("%r could not rename components", type(transform).__name__)
            self.is_complete = False
            return items
        return [*(item for item in items if not item.is_hidden), *added]


def _stage(items: list[Item]) -> list[Item]:
    """`items`, which know each other's names from now on."""
    tools: dict[str, Item] = {}
    for item in items:
        item.stages.append(tools)
        if item.kind == "tool":
            tools.setdefault(item.name, item)
    return items


async def _passed_on(transform: Transform, item: Item) -> Any:
    """The component of `item` as `transform` passes it on; None if clients cannot reach it any more."""
    listed: Sequence[Any] = await getattr(transform, _LISTS[item.kind])([item.component])
    if item.kind != "tool":
        return listed[0] if len(listed) == 1 else item.component
    tool = item.component
    names: list[str] = []

    async def below(name: str, *, version: Any = None) -> Any:
        names.append(name)
        return tool if name == tool.name and (version is None or version.matches(tool.version)) else None

    if len(listed) == 1:
        shown = await transform.get_tool(listed[0].name, below)
        if tool.name in names and shown is not None:
            return listed[0]
    # A transform that shows other tools instead, such as a search, may still pass calls on.
    return await transform.get_tool(tool.name, below)


def name_of(component: Any) -> str:
    """The name of a component, or its URI."""
    for name in ("uri", "uri_template", "name"):
        if (value := getattr(component, name, None)) is not None:
            return str(value)
    raise AssertionError(component)  # pragma: no cover - every component has a name


def _published(component: Any) -> list[tuple[str, str]]:
    """The reasons and the fallback tools in the contract of `component`."""
    contract = getattr(getattr(component, "fn", None), "contract", None)
    if isinstance(contract, Contract):
        return [(entry.reason, entry.fallback_tool) for entry in contract if entry.fallback_tool is not None]
    return list(fallbacks_in_meta(component.meta))


def _contract_of(component: Any) -> Contract[Any]:
    contract = getattr(getattr(component, "fn", None), "contract", None)
    return contract if isinstance(contract, Contract) else Contract.from_listing(component)


def has_contract(component: Any) -> bool:
    """Whether a list shows a contract for `component`."""
    return CONTRACT_META_KEY in (component.meta or ())


def fallbacks_in_meta(meta: object) -> Iterator[tuple[str, str]]:
    """The reasons and the fallback tools in the contract that a list carries in `meta`."""
    entries = meta.get(CONTRACT_META_KEY) if isinstance(meta, dict) else None
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict):
            reason, tool = entry.get("reason"), entry.get("fallbackTool")
            if isinstance(reason, str) and isinstance(tool, str):
                yield reason, tool


def renames(parts: Iterable[object]) -> bool:
    """Whether the parts of a server may rename tools: only transforms do."""
    return not all(isinstance(part, Provider | Middleware | Noticing) for part in parts)


def is_static(parts: Iterable[object]) -> bool:
    """Whether all clients know the tools by the same names: FastMCP's own parts do not look at the client."""
    others = (part for part in parts if not isinstance(part, Middleware | Noticing))
    return all(type(part).__module__.startswith("fastmcp.") for part in others)


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
        if unknown and names.has_proxies:
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
