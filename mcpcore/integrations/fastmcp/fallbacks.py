"""The fallback tools that contracts on a FastMCP server name: checked at the first message, renamed for the client.

FastMCP has no hook by which a middleware can refuse that the server starts. The check therefore runs when the first
message arrives, after the lifespans of the server and of all mounted servers. A strict server answers requests with the
error.
"""

from __future__ import annotations

import functools
import logging
import weakref
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

import anyio
from fastmcp.server.dependencies import fastmcp_request_ctx

from mcpcore.boundary.fallbacks import FallbackCheck, with_renamed_words
from mcpcore.boundary.outcome import FailedCall
from mcpcore.boundary.upstream import UpstreamError
from mcpcore.contract.codes import ErrorCode
from mcpcore.contract.errors import FrameworkError
from mcpcore.contract.failure_modes import CONTRACT_META_KEY, Contract, ContractError
from mcpcore.integrations.fastmcp.calling import answering_now
from mcpcore.integrations.fastmcp.namespaces import Names, composition, fallbacks_in_meta, has_contract, names_of
from mcpcore.sdk.answers import ResponseWriter
from mcpcore.sdk.errors import failure_carried_by
from mcpcore.values.unwrapping import is_a

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from fastmcp import FastMCP

    from mcpcore.boundary.fallbacks import Fallback
    from mcpcore.boundary.request import Request
    from mcpcore.boundary.script import Boundary
    from mcpcore.boundary.strictness import Strictness
    from mcpcore.wire.envelope import Envelope

_LOGGER: Final = logging.getLogger("mcpcore")

PROXY_SECONDS: Final = 5.0
"""Seconds to wait for the lists of proxied servers; a contract of this server may name one of their tools."""


class MessageState:
    """A message, the `ContractMiddleware` that it reaches first, and what is looked up once for it.

    A mounted server may have another `ContractMiddleware`, which the message reaches later.
    """

    def __init__(self, server: object, wire: object) -> None:
        """Know nothing yet of the servers."""
        self.server = server
        self.wire = wire
        self.boundaries: dict[tuple[object, object], Boundary] = {}
        """The boundaries of the servers that were checked, by their middleware and the server."""

        self._compositions: dict[object, list[object]] = {}

    def composition(self, server: FastMCP[Any]) -> list[object]:
        """What decides how `server` names its tools; see `namespaces.composition`."""
        parts = self._compositions.get(server)
        if parts is None:
            parts = self._compositions[server] = composition(server)
        return parts


_outermost: Final[ContextVar[MessageState | None]] = ContextVar("mcpcore_fastmcp_outermost", default=None)


def message_state() -> MessageState | None:
    """The state of the message of a client that is being handled; None for a call by code on the server."""
    state = _outermost.get()
    return state if state is not None and state.wire is not None and state.wire is fastmcp_request_ctx.get() else None


def _composition(server: FastMCP[Any]) -> list[object]:
    state = message_state()
    return composition(server) if state is None else state.composition(server)


@contextmanager
def outermost(server: object) -> Iterator[bool]:
    """Whether no other `ContractMiddleware` handles this message already; the block is where `server` handles it."""
    wire = fastmcp_request_ctx.get()
    outer = _outermost.get()
    if outer is not None and outer.wire is wire:
        yield False
        return
    token = _outermost.set(MessageState(server, wire))
    try:
        yield True
    finally:
        _outermost.reset(token)


class _State:
    """What is known of one server."""

    def __init__(self, check: FallbackCheck) -> None:
        self.check = check
        self.composition: list[object] = []
        self.names: Names | None = None
        self.unknown: list[Fallback] = []
        """The wrong entries of the last check."""

        self.listed: set[str] = set()
        """Tools that only the server's list has: its middleware adds them."""

        self.failure: ContractError | None = None
        """The error that keeps the server from starting."""

        self.refusal: tuple[str, Envelope] | None = None
        """The text of that error, and the answer to each message; kept, so that it is recorded once."""


class Fallbacks:
    """The fallback tools on all servers that one `ContractMiddleware` was added to."""

    def __init__(self, external: frozenset[str], strictness: Strictness) -> None:
        """Leave the tools in `external`, those of other servers, as they are."""
        self._external = external
        self._strictness = strictness
        self._states: weakref.WeakKeyDictionary[FastMCP[Any], _State] = weakref.WeakKeyDictionary()

    def failure_of(self, server: FastMCP[Any]) -> ContractError | None:
        """The error that keeps `server` from starting, or None."""
        return self._state(server).failure

    async def require_startable(
        self,
        server: FastMCP[Any],
        boundary: Boundary,
        check_middleware: Callable[[], object],
        fields: Mapping[str, str | None],
    ) -> None:
        """Check `server` when a message arrives; `check_middleware` checks its other middleware.

        Raises:
            MCPError: If other middleware undoes the contracts, or if a fallback tool is unknown and the server is
                strict; recorded once, with `fields`.
        """
        state = self._state(server)
        try:
            check_middleware()
            await self.check(server)
        except ContractError as exc:
            state.failure = exc
            raise ResponseWriter(boundary).error(_refusal(state, server, boundary, fields, str(exc))) from None
        state.refusal = None

    def _state(self, server: FastMCP[Any]) -> _State:
        state = self._states.get(server)
        if state is None:
            check = FallbackCheck(server.name, "ContractMiddleware", self._external)
            state = self._states[server] = _State(check)
        return state

    async def check(self, server: FastMCP[Any], *, again: bool = False) -> None:
        """Check all contracts of `server` once; also when its mounts have changed, or `again`.

        Raises:
            ContractError: If a fallback tool is unknown and the server is strict.
        """
        state, strict = self._state(server), self._strictness.on
        parts = _composition(server)
        is_current = state.names is not None and _same(parts, state.composition)
        if is_current and not again and not (state.unknown and strict):
            state.failure = None
            return
        state.failure = None
        names = await self._walk(server, state, parts)
        unknown = state.check.unknown(names.fallbacks(), ())
        if unknown and names.has_proxies:
            names = await self._walk(server, state, parts, proxies=True)
            unknown = state.check.unknown(names.fallbacks(), ())
        known = names.known
        if unknown and not names.is_complete:
            _LOGGER.info("%r could not list all of its tools; its fallback tools were not checked", server.name)
            unknown = []
        if unknown:
            state.listed = await _listed(server)
            known |= state.listed
            unknown = state.check.unknown(unknown, known)
        state.unknown = unknown
        try:
            state.check.report(unknown, known, strict=strict)
        except ContractError as exc:
            state.failure = exc
            raise

    async def _walk(self, server: FastMCP[Any], state: _State, parts: list[object], *, proxies: bool = False) -> Names:
        names = Names()
        names.is_complete = False
        try:
            with anyio.move_on_after(PROXY_SECONDS if proxies else None) as waiting:
                names = await names_of(server, proxies=proxies)
            if waiting.cancelled_caught:
                names = await names_of(server)
                names.is_complete = False
        except Exception:  # noqa: BLE001 - servers and transforms of others must not cost the answer
            _LOGGER.debug("the names of the tools of %r could not be found", server.name)
        state.names, state.composition = names, parts
        return names

    # --- renaming -------------------------------------------------------------------------------------------------

    async def renaming(self, server: FastMCP[Any], noun: str, name: str) -> Renaming | None:
        """What renames the fallback tools of a request for `name`; None if nothing on `server` is renamed."""
        outer, above = answering_now(), _renaming.get()
        if outer is not None and not outer.claimed and (above is None or above.server is not server):
            return above  # a server above has mounted this one, and knows more names
        parts = _composition(server)
        if not parts:
            return None
        return Renaming(self, server, noun, name, await self._current(server, parts))

    async def _current(self, server: FastMCP[Any], parts: list[object]) -> Names:
        state = self._state(server)
        if state.names is None or not _same(parts, state.composition):
            return await self._walk(server, state, parts)
        return state.names

    async def latest(self, server: FastMCP[Any], *, proxies: bool) -> Names:
        """The names as they are now: tools may have been added."""
        return await self._walk(server, self._state(server), composition(server), proxies=proxies)

    def is_external(self, name: str) -> bool:
        """Whether another server has the tool, as the option `external_tools` says."""
        return name in self._external

    async def published(self, server: FastMCP[Any], noun: str, components: Sequence[Any]) -> list[Any]:
        """Listed components, whose contracts name the fallback tools as the client knows them."""
        outer = _outermost.get()
        is_mounted = outer is not None and outer.wire is fastmcp_request_ctx.get() and outer.server is not server
        listed = list(components)
        if is_mounted or _listing.get() or not any(map(has_contract, listed)):
            return listed
        parts = composition(server)
        names = await self._current(server, parts)
        if not self._finds_all(server, names, noun, listed):
            # Tools that were added while the server runs, or those of a proxied server.
            if fastmcp_request_ctx.get() is not None:
                await self.check(server, again=True)
            names = await self._current(server, parts)
            if names.has_proxies and parts:
                names = await self.latest(server, proxies=True)
        return [self._renamed(names, noun, component) for component in listed] if parts else listed

    def _finds_all(self, server: FastMCP[Any], names: Names, noun: str, components: Iterable[Any]) -> bool:
        """Whether all fallback tools in the contracts of listed components are found, or reported already."""
        state = self._state(server)
        reported = {(entry.name, entry.tool) for entry in state.unknown}
        for component in components:
            name = _name_of(component)
            item = names.find(noun, name)
            for _, tool in fallbacks_in_meta(component.meta) if item is None else item.published:
                is_found = tool in state.listed or (item is not None and names.rename(item, tool) is not None)
                if not (is_found or self.is_external(tool) or (name, tool) in reported):
                    return False
        return True

    def _renamed(self, names: Names, noun: str, component: Any) -> Any:
        item = names.find(noun, _name_of(component))
        if item is None or not has_contract(component) or not isinstance(component.meta[CONTRACT_META_KEY], list):
            return component

        def rename(tool: str) -> str:
            return tool if self.is_external(tool) else names.rename(item, tool) or tool

        declared = dict(item.published)
        entries = [dict(entry) if isinstance(entry, dict) else entry for entry in component.meta[CONTRACT_META_KEY]]
        for entry in entries:
            tool = declared.get(str(entry.get("reason"))) if isinstance(entry, dict) else None
            if tool is not None:
                entry["fallbackTool"] = rename(tool)
            if isinstance(entry, dict) and isinstance(entry.get("recovery"), str):
                entry["recovery"] = with_renamed_words(entry["recovery"], rename, tool)
        changes: dict[str, Any] = {"meta": {**component.meta, CONTRACT_META_KEY: entries}}
        own, heading, failures = (component.description or "").partition("Fails with:")
        if heading:
            changes["description"] = own + heading + with_renamed_words(failures, rename)
        return component.model_copy(update=changes)


class Renaming:
    """Renames the fallback tools of one request, from what the contract says to what the client knows."""

    def __init__(self, fallbacks: Fallbacks, server: FastMCP[Any], noun: str, name: str, names: Names) -> None:
        """Rename for the client's request for `name` on `server`."""
        self._fallbacks = fallbacks
        self.server = server
        self._noun = noun
        self._name = name
        self._names = names

    async def prepare(self, failure: BaseException, contract: Contract[Any]) -> None:
        """Look again at the names before `failure` is answered, if they lack one that it could need."""
        names, item = self._names, self._names.find(self._noun, self._name)
        if is_a(failure, UpstreamError) or failure_carried_by(failure) is not None:
            if item is None and names.has_proxies:
                self._names = await self._fallbacks.latest(self.server, proxies=True)
            return
        tools = {entry.fallback_tool for entry in contract if entry.fallback_tool is not None}
        tools = {tool for tool in tools if not self._fallbacks.is_external(tool)}
        if tools and (item is None or any(names.rename(item, tool) is None for tool in tools)):
            # Not the tools of proxied servers: one that is down must not delay the failures of this server.
            self._names = await self._fallbacks.latest(self.server, proxies=False)

    def __call__(self, failure: BaseException, fallback: str) -> str:
        """The name of the tool `fallback` that the client knows; an unknown or external one stays as it is.

        So does one in a failure of another server that a handler passes on.
        """
        item = self._names.find(self._noun, self._name)
        if item is None or self._fallbacks.is_external(fallback) or (not item.remote and is_a(failure, UpstreamError)):
            return fallback
        return self._names.rename(item, fallback) or fallback


async def prepare_renaming(failure: BaseException, request: Request) -> None:
    """Find the names that `failure`, the failure of `request`, needs."""
    renaming = _renaming.get()
    if renaming is not None:
        await renaming.prepare(failure, request.contract)


def renaming_of(failure: BaseException) -> Callable[[str], str] | None:
    """What renames the tools in `failure`, in the request that is being answered; None if nothing does."""
    renaming = _renaming.get()
    return None if renaming is None else functools.partial(renaming, failure)


_renaming: Final[ContextVar[Renaming | None]] = ContextVar("mcpcore_fastmcp_renaming", default=None)


@contextmanager
def renamed_by(renaming: Renaming | None) -> Iterator[None]:
    """Rename with `renaming` in the block, on mounted servers too."""
    token = _renaming.set(renaming)
    try:
        yield
    finally:
        _renaming.reset(token)


def _refusal(
    state: _State, server: FastMCP[Any], boundary: Boundary, fields: Mapping[str, str | None], message: str
) -> Envelope:
    """The answer to each message of a server that must not start."""
    if state.refusal is None or state.refusal[0] != message:
        failure = FrameworkError(ErrorCode.INITIALIZATION_FAILED, message, reason="server_not_started")
        call = FailedCall(name=server.name, surface="server", context=dict(fields))
        envelope = boundary.record_failure(failure, call).envelope
        state.refusal = message, envelope
        _LOGGER.error("the server %r cannot start: %s (id %s)", server.name, message, envelope.correlation_id)
    return state.refusal[1]


_listing: Final[ContextVar[bool]] = ContextVar("mcpcore_fastmcp_listing", default=False)
"""Whether the check itself asks for a list."""


async def _listed(server: FastMCP[Any]) -> set[str]:
    """The names of the tools that `server` lists; its middleware may add some."""
    token = _listing.set(True)
    try:
        return {tool.name for tool in await server.list_tools()}
    except Exception:  # noqa: BLE001 - the list of a server that fails has no names
        return set()
    finally:
        _listing.reset(token)


def _same(parts: list[object], others: list[object]) -> bool:
    return len(parts) == len(others) and all(part is other for part, other in zip(parts, others, strict=True))


def _name_of(component: Any) -> str:
    for name in ("uri", "uri_template", "name"):
        if (value := getattr(component, name, None)) is not None:
            return str(value)
    raise AssertionError(component)  # pragma: no cover - every component has a name
