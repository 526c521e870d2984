"""The names by which clients know the tools of a FastMCP server.

A mount with a namespace and a transform rename tools. The fallback tool of a contract is declared by the name that the
tool has where it is registered, so it is renamed in the same way before a client reads it. The names are found through
FastMCP's public lists and transforms, provider by provider and server by server. Visibility and auth, which differ by
session, hide nothing here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import anyio
from fastmcp.server.middleware.middleware import Middleware
from fastmcp.server.providers import Provider
from fastmcp.server.providers.aggregate import AggregateProvider
from fastmcp.server.providers.fastmcp_provider import FastMCPProvider
from fastmcp.server.providers.proxy import ProxyProvider

from mcpcore.boundary.fallbacks import Fallback, misfit_of
from mcpcore.contract.failure_modes import CONTRACT_META_KEY, Contract
from mcpcore.integrations.fastmcp.finding import transforms_of
from mcpcore.integrations.fastmcp.private import inner_provider
from mcpcore.integrations.fastmcp.returned import Noticing
from mcpcore.values.logs import LOGGER

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator, Sequence

    from fastmcp import FastMCP
    from fastmcp.server.transforms import Transform


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
    def lacks_proxies(self) -> bool:
        """Whether the components of proxied servers were left out."""
        return self.has_proxies and not self._proxies

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
