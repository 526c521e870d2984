"""The names by which clients know the tools of a FastMCP server.

A mount with a namespace and a transform rename tools. The fallback tool of a contract is declared by the name that the
tool has where it is registered, so it is renamed in the same way before a client reads it. The names are found through
FastMCP's public lists and transforms, provider by provider and server by server. Visibility and auth, which differ by
session, hide nothing here.
"""

from __future__ import annotations

import itertools
import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from fastmcp.server.providers.aggregate import AggregateProvider
from fastmcp.server.providers.fastmcp_provider import FastMCPProvider
from fastmcp.server.providers.proxy import ProxyProvider

from mcpcore.boundary.fallbacks import Fallback
from mcpcore.contract.failure_modes import CONTRACT_META_KEY, Contract
from mcpcore.integrations.fastmcp.finding import providers_of
from mcpcore.integrations.fastmcp.private import inner_provider

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from fastmcp import FastMCP
    from fastmcp.server.providers import Provider
    from fastmcp.server.transforms import Transform

_LOGGER: Final = logging.getLogger("mcpcore")

_MAX_DEPTH: Final = 20
"""The depth to which mounted servers are searched."""

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

    remote: bool
    """Whether another server has it, and this one is its proxy."""

    stages: list[int] = field(default_factory=list)
    """The stages that it has passed, from where it is registered to where clients see it."""

    is_hidden: bool = False
    """Whether a transform keeps it from clients."""

    @property
    def name(self) -> str:
        """Its name or URI at the current stage."""
        component = self.component
        match self.kind:
            case "resource":
                return str(component.uri)
            case "template":
                return str(component.uri_template)
        return str(component.name)


class Names:
    """The names of all tools of one server at one time, at each stage from their registration to the client."""

    def __init__(self) -> None:
        """Begin without any; `names_of` fills them in."""
        self.has_proxies = False
        """Whether there are proxies whose components were left out."""

        self.is_complete = True
        """Whether all other components could be listed."""

        self._stages = itertools.count()
        self._by_stage: dict[int, dict[str, Item]] = {}
        self._items: dict[tuple[str, str], Item] = {}
        self._all: list[Item] = []

    @property
    def known(self) -> set[str]:
        """The names of all tools, as clients know them."""
        return {name for kind, name in self._items if kind == "tool"}

    def fallbacks(self) -> Iterator[Fallback]:
        """The declared fallback tools that are not found, under the names that clients know.

        Contracts of proxied servers are left out: they are those servers' business.
        """
        for item in self._all:
            for reason, tool in item.published:
                if not item.remote and self.rename(item, tool) is None:
                    noun = "resource" if item.kind == "template" else item.kind
                    yield Fallback(noun, item.name, reason, tool)

    def find(self, noun: str, name: str) -> Item | None:
        """The component that a client knows as `name`; a URI may match a template."""
        item = self._items.get((noun, name))
        if item is None and noun == "resource":
            item = self._items.get(("template", name))
            for (kind, _), other in self._items.items() if item is None else ():
                if kind == "template" and other.component.matches(name) is not None:
                    return other
        return item

    def rename(self, item: Item, fallback: str) -> str | None:
        """The client's name of the tool that a contract of `item` calls `fallback`; None if there is no such tool."""
        # The innermost stage first: a contract means the tool beside its own.
        for stage in item.stages:
            tool = self._by_stage[stage].get(fallback)
            if tool is not None and not tool.is_hidden:
                return tool.name
        return fallback if ("tool", fallback) in self._items else None

    # --- filling in -----------------------------------------------------------------------------------------------

    async def add_server(self, server: FastMCP[Any], *, proxies: bool) -> None:
        """Add all components of `server`; the lists of proxied servers need a request, so only with `proxies`."""
        self._all = await self._of_aggregate(server, proxies=proxies, depth=0)
        for item in self._all:
            self._items.setdefault((item.kind, item.name), item)

    async def _of_aggregate(self, aggregate: AggregateProvider, *, proxies: bool, depth: int) -> list[Item]:
        if depth > _MAX_DEPTH:  # pragma: no cover - deeper than servers are mounted
            return []
        items: list[Item] = []
        for provider in aggregate.providers:
            items += await self._of_provider(provider, proxies=proxies, depth=depth + 1)
        self._stage(items)
        return await self._transformed(items, _transforms_of(aggregate))

    async def _of_provider(self, provider: Provider, *, proxies: bool, depth: int) -> list[Item]:
        inner: Provider | None = inner_provider(provider)
        if inner is not None:
            items = await self._of_provider(inner, proxies=proxies, depth=depth)
        elif isinstance(provider, FastMCPProvider) and isinstance(provider.server, AggregateProvider):
            items = await self._of_aggregate(provider.server, proxies=proxies, depth=depth)
        elif isinstance(provider, AggregateProvider):
            return await self._of_aggregate(provider, proxies=proxies, depth=depth)
        else:
            remote = isinstance(provider, ProxyProvider)
            if remote and not proxies:
                self.has_proxies = True
                return []
            items = await self._of_leaf(provider, remote=remote)
        return await self._transformed(items, _transforms_of(provider))

    async def _of_leaf(self, provider: Provider, *, remote: bool) -> list[Item]:
        items: list[Item] = []
        for kind, method in _LISTS.items():
            try:
                # The methods that a provider defines, below its own transforms.
                listed: Sequence[Any] = await getattr(provider, f"_{method}")()
            except Exception:  # noqa: BLE001 - a provider that cannot list must not keep the others from it
                _LOGGER.debug("%r could not list its components", type(provider).__name__)
                self.is_complete = False
                continue
            for component in listed:
                published = _published(component)
                if kind == "tool" or published or has_contract(component):
                    items.append(Item(kind, component, published, remote))
        self._stage(items)
        return items

    async def _transformed(self, items: list[Item], transforms: Iterable[Transform]) -> list[Item]:
        for transform in transforms:
            reached: list[Item] = []
            try:
                for item in items:
                    component = await _through(transform, item)
                    item.is_hidden = component is None
                    if component is not None:
                        item.component = component
                        reached.append(item)
                # A transform may add tools, such as a search.
                reached += [Item("tool", tool, [], remote=False) for tool in await transform.list_tools([])]
            except Exception:  # noqa: BLE001 - code of others, which may need a request
                _LOGGER.debug("%r could not rename components", type(transform).__name__)
                self.is_complete = False
                reached = items
            items = reached
            self._stage(items)
        return items

    def _stage(self, items: Iterable[Item]) -> None:
        stage = next(self._stages)
        tools = self._by_stage[stage] = {}
        for item in items:
            item.stages.append(stage)
            if item.kind == "tool":
                tools.setdefault(item.name, item)


def _transforms_of(provider: Provider) -> Sequence[Transform]:
    return getattr(provider, "transforms", ())  # a class of others may not have called its base class


async def _through(transform: Transform, item: Item) -> Any:
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
        found = await transform.get_tool(listed[0].name, below)
        if tool.name in names and found is not None:
            return listed[0]
    # A transform that shows other tools instead, such as a search, may still pass calls on.
    return await transform.get_tool(tool.name, below)


def _published(component: Any) -> list[tuple[str, str]]:
    """The reasons and the fallback tools in the contract of `component`."""
    contract = getattr(getattr(component, "fn", None), "contract", None)
    if isinstance(contract, Contract):
        return [(entry.reason, entry.fallback_tool) for entry in contract if entry.fallback_tool is not None]
    return list(fallbacks_in_meta(component.meta))


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


async def names_of(server: FastMCP[Any], *, proxies: bool = False) -> Names:
    """The names of the tools of `server`; the tools of proxied servers, which need a request, only with `proxies`."""
    names = Names()
    await names.add_server(server, proxies=proxies)
    return names


def composition(server: FastMCP[Any]) -> list[object]:
    """The parts that decide how `server` names its tools: mounts and transforms; empty if it has neither."""
    parts: list[object] = list(_transforms_of(server))
    for provider, inner, below in providers_of(server):
        own: list[object] = list(_transforms_of(provider))
        if isinstance(below, AggregateProvider):
            own += [below, *_transforms_of(below)]
        if own or inner is not None:
            parts += [provider, *own]
    return parts
