"""Running declared handlers: arguments in, the handler's own value or exception out.

Sync handlers run in worker threads: a cancelled call is answered immediately, and its thread counts until it ends.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import math
import threading
import weakref
from contextlib import contextmanager
from types import CoroutineType
from typing import TYPE_CHECKING, Any, Final, TypeVar

import anyio.lowlevel
import anyio.to_thread
from pydantic import BaseModel, ConfigDict, PrivateAttr, ValidationError

from mcpcore.boundary.request import Request, holding_places, own_failure
from mcpcore.contract.codes import ErrorCode, Retry
from mcpcore.contract.failure_modes import CONTRACT_META_KEY, Contract, ContractError, FailureMode
from mcpcore.contract.unraised import UnraisedFailure, log_unraised
from mcpcore.declare.signature import takes_context
from mcpcore.sdk.errors import UnansweredError, invalid_arguments_error
from mcpcore.values.request_var import current
from mcpcore.values.unwrapping import passes_through, returned_failure

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence

    from mcp_types import Prompt as MCPPrompt, Resource as MCPResource, ResourceTemplate as MCPResourceTemplate

    from mcpcore.boundary.outcome import BrokenItem
    from mcpcore.declare.declaration import Declaration, Declared

MAX_WAIT: Final = 10.0
"""Seconds for which a call waits while its handler uses all the threads that it may; then it is refused."""

_unlimited: Final[anyio.lowlevel.RunVar[anyio.CapacityLimiter]] = anyio.lowlevel.RunVar("mcpcore_no_limit")
_of_handlers: Final[anyio.lowlevel.RunVar[dict[int, tuple[_Threads, weakref.ref[object]]]]] = anyio.lowlevel.RunVar(
    "mcpcore_threads"
)
"""The threads of each handler by its `id`, since it may have no hash, or be equal to another one."""


async def in_thread(fn: Callable[[], Any], handler: object, request: Request) -> Any:
    """Run `fn` in a worker thread and return its result.

    Each `handler`, any object that stays for as long as the handler is registered, has as many threads as the event
    loop has by default, so that one that hangs never stops the others.
    When the caller is cancelled, the thread is left to run on; it counts until it ends, so that cancelled calls cannot
    pile up threads without bound.

    Raises:
        CodedError: RATE_LIMITED, if no thread of the handler becomes free in time.
        BaseException: Whatever `fn` raises; `StopIteration` as the cause of a RuntimeError, as in any coroutine.
    """
    threads = _threads_of(handler)
    place = _Place(threads)
    await threads.take(place, request)
    request.began = True
    try:
        # anyio gives a thread's token back when the caller leaves, although the thread runs on; so its own limit is
        # none.
        raised, value = await anyio.to_thread.run_sync(place.run, fn, abandon_on_cancel=True, limiter=_no_limit())
    finally:
        place.leave()
    if raised:
        try:
            raise value
        finally:
            del value  # the traceback holds this frame, which must not hold the traceback
    return value


class _Threads:
    """The threads of one handler on one event loop."""

    def __init__(self) -> None:
        self.limiter = anyio.CapacityLimiter(anyio.to_thread.current_default_thread_limiter().total_tokens)
        self.abandoned = 0

    async def take(self, place: _Place, request: Request) -> None:
        """Take a thread for `place`.

        Raises:
            CodedError: RATE_LIMITED, if no thread becomes free in time.
        """
        with contextlib.suppress(anyio.WouldBlock):
            self.limiter.acquire_on_behalf_of_nowait(place)
            return
        # A thread that its own caller has given up may never end.
        if self.abandoned < self.limiter.total_tokens:
            with anyio.move_on_after(MAX_WAIT):
                await self.limiter.acquire_on_behalf_of(place)
                return
        raise own_failure(
            ErrorCode.RATE_LIMITED,
            f"Too many calls are running: all threads for them ({self.limiter.total_tokens:g}) are taken.",
            {"maxThreads": self.limiter.total_tokens},
            request.contract,
            reason="too_many_calls",
            recovery="The call did not begin, so nothing was done. Call again after the wait.",
            retry=Retry.after(seconds=MAX_WAIT),
            effects="none",
        )

    def end_abandoned(self, place: _Place) -> None:
        """Give back the thread of `place`, whose call has left."""
        self.abandoned -= 1
        self.limiter.release_on_behalf_of(place)


def _threads_of(handler: object) -> _Threads:
    try:
        table = _of_handlers.get()
    except LookupError:
        table = {}
        _of_handlers.set(table)
    ident = id(handler)
    if ident not in table:
        table[ident] = _Threads(), weakref.ref(handler, lambda _: table.pop(ident, None))
    return table[ident][0]


class _Place:
    """A thread's place, given back by whoever leaves last: the caller, or the thread that it abandoned."""

    __slots__ = ("_ended", "_left", "_lock", "_threads")

    def __init__(self, threads: _Threads) -> None:
        self._threads = threads
        self._lock = threading.Lock()
        self._ended = True  # until the thread begins
        self._left = False

    def run(self, fn: Callable[[], Any]) -> tuple[bool, Any]:
        with self._lock:
            if self._left:
                return False, None  # pragma: no cover - cancelled between being handed over and beginning
            self._ended = False
        try:
            return False, fn()
        except BaseException as exc:  # noqa: BLE001 - carried to the caller, which raises it
            return True, exc
        finally:
            with self._lock:
                self._ended = True
                abandoned = self._left
            if abandoned:
                with contextlib.suppress(RuntimeError):  # the event loop has ended, and its places with it
                    from anyio import from_thread

                    from_thread.run_sync(self._threads.end_abandoned, self)

    def leave(self) -> None:
        with self._lock:
            self._left = True
            ended = self._ended
            self._threads.abandoned += not ended
        if ended:
            self._threads.limiter.release_on_behalf_of(self)


def _no_limit() -> anyio.CapacityLimiter:
    try:
        return _unlimited.get()
    except LookupError:
        limiter = anyio.CapacityLimiter(math.inf)
        _unlimited.set(limiter)
        return limiter


ListedT = TypeVar("ListedT", "MCPResource", "MCPResourceTemplate", "MCPPrompt")


class OfDeclared(BaseModel):
    """A resource or a prompt of mcpcore among those of the SDK."""

    # Made without validation, it needs no validator, which would take 1 ms of the import.
    model_config = ConfigDict(defer_build=True)
    _declared: Any = PrivateAttr()

    @property
    def contract(self) -> Contract[Any]:
        """The failure modes."""
        contract: Contract[Any] = self._declared.contract
        return contract


def require_served_by_sdk(declared: Declared[..., Any]) -> None:
    """Check that a server of the SDK can run the handler.

    Raises:
        ContractError: If FastMCP has to fill in a parameter.
    """
    injected = declared.declaration.signature.injected
    if injected:
        raise ContractError(
            f"{declared.declaration.where}: the parameter {injected[0].name!r} is filled in by FastMCP, which does not "
            f"run this server; serve the {declared.noun} with FastMCP, or remove the parameter"
        )


def run_handler(
    declared: Declared[..., Any], values: dict[str, Any], request: Request, *, threaded: bool = True
) -> Awaitable[Any]:
    """Start the handler with `values`, which were validated; a sync one runs in a worker thread if `threaded`.

    Returns the handler's own coroutine where it can, since each further coroutine costs every call.

    Raises:
        CodedError: If the call exceeds a limit of the tool; when awaited.
        BaseException: The handler's own exception; when awaited, or immediately.
    """
    declaration = declared.declaration
    limits = declaration.limits
    if limits is None:
        if declaration.is_async and declaration.definition.is_plain:  # as it is for most
            request.began = True
            returned = declaration.run(*declared.bound_args(request), **values)
            return returned if type(returned) is CoroutineType else _ready(returned)
        return _handled(declared, values, request, threaded=threaded)
    return limits.run(functools.partial(_handled, declared, values, request, threaded=threaded), request)


def _handled(
    declared: Declared[..., Any], values: dict[str, Any], request: Request, *, threaded: bool
) -> Awaitable[Any]:
    declaration = declared.declaration
    definition = declaration.definition
    if definition.sdk.context_kwarg is not None:
        values[definition.sdk.context_kwarg] = request.sdk
    args = declared.bound_args(request)
    # Values come by name, and such a parameter takes none by name.
    if definition.positional:
        args = (*args, *(values.pop(name) for name in definition.positional))
    if threaded and not declaration.is_async:
        call = functools.partial(declaration.run, *args, **values)
        return _in_thread(holding_places(request, call), declaration, request)
    request.began = True
    returned = declaration.run(*args, **values)
    return returned if type(returned) is CoroutineType else _ready(returned)


async def _in_thread(call: Callable[[], Any], declaration: Declaration, request: Request) -> Any:
    return await _ready(await in_thread(call, declaration, request))


async def _ready(returned: Any) -> Any:
    # A decorator may hide that the function inside it is async.
    return await returned if inspect.isawaitable(returned) else returned


async def answer(declared: Declared[..., Any], arguments: Mapping[str, Any], sdk_context: Any) -> Any:
    """Validate the arguments of a resource or a prompt and run its handler.

    Raises:
        UnansweredError: If that fails and the request is the client's own; the SDK passes it on as it is.
        FrameworkError: INVALID_PARAMS, if the arguments do not fit and another handler asked.
        BaseException: The handler's own exception, if another handler asked.
    """
    request = current.get()
    # Another handler, or code outside of any request, asks: it gets the failure itself and may handle it.
    if request is None or request.claimed:
        make = _outside if request is None and sdk_context is None else lambda: sdk_context or request.sdk  # type: ignore[union-attr]
        inner = Request(make, contract=declared.contract)
        token = current.set(inner)
        try:
            return await _run(declared, arguments, inner)
        finally:
            current.reset(token)
    request.claimed = True
    request.contract = declared.contract
    try:
        return await _run(declared, arguments, request)
    except BaseException as exc:
        if passes_through(exc):
            raise
        raise UnansweredError(exc) from exc


async def _run(declared: Declared[..., Any], arguments: Mapping[str, Any], request: Request) -> Any:
    definition = declared.definition
    request.arguments = arguments
    try:
        values = definition.validate(arguments)
    except ValidationError as exc:
        raise invalid_arguments_error(exc, definition.places, declared.name, arguments) from exc
    return await run_handler(declared, values, request)


@contextmanager
def nested_call(request: Request, name: str) -> Iterator[None]:
    """The call of the tool `name` by code on the server; it reports failures that the call lost."""
    outer, token = current.get(), current.set(request)
    try:
        yield
    except Exception as exc:
        _report_lost(request.unraised(returned_failure(exc)), outer, name)
        raise
    else:
        _report_lost(request.unraised(), outer, name)
    finally:
        current.reset(token)


def _report_lost(noted: Sequence[UnraisedFailure | BrokenItem], outer: Request | None, name: str) -> None:
    """Report lost failures to the call `outer`, else to the log."""
    lost = [failure for failure in noted if isinstance(failure, UnraisedFailure)]
    if lost and outer is not None:
        outer.noted().adopt(lost)
    elif lost:
        log_unraised(lost, name)


def _outside() -> Any:
    raise ValueError("code of the server itself reads this resource: there is no client, and no session")


def with_contracts(listed: Sequence[ListedT], registered: Sequence[object]) -> list[ListedT]:
    """The listed resources or prompts, in the order of `registered`; those of mcpcore carry their contracts."""
    return [
        entry
        if contract is None or not len(contract)
        else entry.model_copy(update={"meta": {**(entry.meta or {}), CONTRACT_META_KEY: contract.to_json()}})
        for entry, contract in zip(listed, (getattr(item, "contract", None) for item in registered), strict=True)
    ]


def registering(
    errors: Sequence[FailureMode[Any]] | None,
    decorate: Callable[[Sequence[FailureMode[Any]]], Callable[..., Any]],
    sdk: Callable[[], Callable[..., Any]],
    add: Callable[[Any], None],
) -> Callable[..., Any]:
    """The decorator that registers a handler with its contract, or leaves one without to the SDK's own decorator."""
    plain = sdk() if errors is None else None

    def register(fn: Callable[..., Any]) -> Any:
        if plain is not None and not takes_context(fn):
            return plain(fn)
        made = decorate(errors or ())(fn)
        add(made)
        return made

    return register
