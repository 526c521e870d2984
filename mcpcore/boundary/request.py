"""A request while its handler runs, and what the framework itself refuses of it.

A call that takes too long is cancelled and fails with TIMEOUT. A call over the limit of concurrent calls is not queued:
it fails immediately with RATE_LIMITED and a waiting time, so that an overloaded server still answers. A caller without
the OAuth scopes that a tool asks for gets UNAUTHORIZED or FORBIDDEN.
"""

from __future__ import annotations

import itertools
import math
import threading
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

import anyio

from mcpcore.contract.codes import Effects, ErrorCode, Retry
from mcpcore.contract.effects import UNSAFE, CallState, ToolEffects, call_state
from mcpcore.contract.errors import CodedError, FrameworkError
from mcpcore.contract.failure_modes import NO_CONTRACT, Contract
from mcpcore.contract.unraised import CLOSED, Notes, UnraisedFailure
from mcpcore.values.unwrapping import passes_through

if TYPE_CHECKING:
    from anyio import CancelScope
    from fastmcp import Context as FastMCPContext
    from mcp.server.mcpserver import Context as SDKContext

    from mcpcore.boundary.outcome import BrokenItem
    from mcpcore.boundary.strictness import Strictness
    from mcpcore.values.jsonable import JSON
    from mcpcore.wire.envelope import Envelope

numbers: Final = itertools.count(1)
"""A number for each call of this process: tells what an exception brings from one call from what it has of another."""


class Request:
    """The request behind a context; the SDK's own object for it is made when something asks for it."""

    # On the class, so that a request costs nothing for what it does not use.
    contract: Contract[Any] = NO_CONTRACT
    """The contract of the handler."""

    arguments: Mapping[str, Any] | None = None
    """The arguments that the handler was called with, before they were validated."""

    effects: ToolEffects | None = None
    """The effects that follow from the tool's annotations for a failure that declares none."""

    began = False
    """Whether the handler has begun; a call that fails earlier has changed nothing."""

    at_least: Effects | None = None
    """The effects of parts of the call that ended earlier, such as items of a batch."""

    fastmcp: FastMCPContext | None = None
    """FastMCP's own context, if FastMCP runs the server."""

    timeout: float | None = None
    """Seconds that the call may take; None for no limit."""

    scope: CancelScope | None = None
    """Cancels the call when its time is up."""

    places: tuple[Place, ...] = ()
    """The places that the call takes among those that may run concurrently."""

    fields: dict[str, Any] | None = None
    """The fields that the handler has bound."""

    claimed = True
    """Whether a handler answers the request; the contract is that handler's."""

    reads = False
    """Whether the request is for a resource, and the SDK has not begun to read it."""

    strictness: Strictness | None = None
    """Decides in place of the strictness of the server that answers, which is mounted on another."""

    _sdk: SDKContext[Any, Any] | None = None
    notes: Notes | None = None
    """The failures that have been made for this request; None before the first."""

    def __init__(
        self,
        make: Callable[[], SDKContext[Any, Any]],
        *,
        contract: Contract[Any] = NO_CONTRACT,
        effects: ToolEffects | None = None,
        fastmcp: FastMCPContext | None = None,
    ) -> None:
        """Keep `make`, which makes the SDK's context, and the contract of the handler."""
        self._make = make
        self.number = next(numbers)
        if contract is not NO_CONTRACT:
            self.contract = contract
        if effects is not None:
            self.effects = effects
        if fastmcp is not None:
            self.fastmcp = fastmcp

    def state(self, *, of_part: bool = False) -> CallState | None:
        """What is known of the effects of this call; with `of_part`, of a part of it such as an item of a batch."""
        at_least = None if of_part else self.at_least
        if self.effects is None and at_least is None:
            return None
        return call_state(self.effects, self.began, at_least)

    def noted(self) -> Notes:
        """The failures that have been made for this request."""
        if self.notes is None:
            self.notes = Notes()
        return self.notes

    def unraised(self, outcome: BaseException | None = None) -> Sequence[UnraisedFailure | BrokenItem]:
        """The failures that were made for this request, which ended with `outcome`, and lost; call it once.

        On a strict server, also the parts of the call that broke its contract.
        """
        notes, self.notes = self.notes, CLOSED
        return () if notes is None else notes.close(outcome)

    @property
    def is_of_a_client(self) -> bool:
        """Whether a client sent the request; code on a FastMCP server makes some too."""
        return self.fastmcp is None or self.fastmcp.request_context is not None

    @property
    def sdk(self) -> SDKContext[Any, Any]:
        """The SDK's own context."""
        if self._sdk is None:
            self._sdk = self._make()
        return self._sdk


class AnsweredRequest(Request):
    """A request whose server records and writes the failures of its parts, such as the items of a batch."""

    def record_item(self, exc: BaseException) -> Envelope:
        """The envelope of a part of the call that failed while the call goes on; recorded like a failed call."""
        raise NotImplementedError  # pragma: no cover - each server has its own

    def render_item(self, envelope: Envelope) -> dict[str, Any]:
        """The envelope as a part of an answer."""
        raise NotImplementedError  # pragma: no cover - each server has its own

    def show_value(self, value: JSON) -> JSON:
        """A value of the caller's as a part of an answer."""
        raise NotImplementedError  # pragma: no cover - each server has its own


def own_failure(
    code: ErrorCode,
    message: str,
    data: Mapping[str, Any],
    contract: Contract[Any],
    *,
    reason: str,
    recovery: str,
    retry: Retry | None = None,
    effects: Effects | None = None,
) -> CodedError:
    """A failure that the framework raises for a tool.

    If a single entry of the contract has the code, the failure is that entry's: its reason, its recovery and, unless
    they are given here, its retry advice and its effects.
    """
    entries = [entry for entry in contract if entry.code is code]
    if len(entries) != 1:
        return FrameworkError(code, message, data, reason=reason, recovery=recovery, retry=retry, effects=effects)
    entry = entries[0]
    # Data that the entry describes is the author's.
    own_data = data if entry.data is None else None
    error = FrameworkError(code, message, own_data, reason=entry.reason, retry=retry, effects=effects)
    error.declare(entry)
    return error


T = TypeVar("T")

_MIN_WAIT: Final = 0.1
_MAX_WAIT: Final = 60.0
"""The shortest and the longest waiting time, in seconds, that a refused caller is given."""

_FIRST_WAIT: Final = 1.0
"""The waiting time, in seconds, while no call has ended yet."""

_WEIGHT: Final = 0.2
"""The weight of the last call in the mean duration of the calls."""


class CallLimits:
    """The timeout and the limit of concurrent calls; one object for all calls that share them."""

    def __init__(self, owner: str, *, timeout: float | None, max_concurrency: int | None) -> None:
        """Limit the calls of `owner`, a noun for the message: "tool" or "server".

        Args:
            owner: The noun.
            timeout: Seconds; None or `math.inf` for no limit.
            max_concurrency: Calls; None for no limit.
        """
        self.owner = owner
        self.timeout = timeout
        self.max_concurrency = max_concurrency
        # Threads that outlive their calls give up places too.
        self._lock = threading.Lock()
        self._running = 0
        self._mean_duration: float | None = None

    async def run(self, call: Callable[[], Awaitable[T]], request: Request) -> T:
        """Run `call`, which answers `request`, within the limits.

        Raises:
            CodedError: RATE_LIMITED if too many calls are running, TIMEOUT if this one takes too long.
            BaseException: Whatever the call raises.
        """
        if self.max_concurrency is None:
            return await self._run_in_time(call, request)
        place = Place(self, request)
        request.places = (*request.places, place)
        try:
            return await self._run_in_time(call, request)
        finally:
            place.release()

    async def _run_in_time(self, call: Callable[[], Awaitable[T]], request: Request) -> T:
        if self.timeout is None:
            return await call()
        request.timeout = self.timeout
        if request.scope is not None:
            # The timeout of a tool replaces that of its server, whose scope is around the call already.
            request.scope.deadline = anyio.current_time() + self.timeout
            return await call()
        # Not `fail_after`, whose TimeoutError looks like one that the handler raises.
        with anyio.move_on_after(self.timeout) as scope:
            request.scope = scope
            try:
                result = await call()
            except BaseException as exc:
                # The handler answers the cancellation with an error. A declared failure says more than a timeout.
                if scope.cancel_called and not isinstance(exc, CodedError) and not passes_through(exc):
                    raise _timeout_error(request) from exc
                raise
            # A thread that cannot be left, or a handler that ignored the cancellation, ends too late.
            if anyio.current_time() < scope.deadline:
                return result
        raise _timeout_error(request)

    def enter(self, request: Request) -> None:
        """Count a call that begins.

        Raises:
            CodedError: RATE_LIMITED, if as many calls are running as may.
        """
        with self._lock:
            if self._running < (self.max_concurrency or math.inf):
                self._running += 1
                return
        raise own_failure(
            ErrorCode.RATE_LIMITED,
            f"The {self.owner} is busy: {self.max_concurrency} calls are running, and more are not allowed.",
            {"maxConcurrency": self.max_concurrency},
            request.contract,
            reason="too_many_calls",
            recovery="The call did not begin, so nothing was done. Call again after the wait.",
            retry=Retry.after(seconds=self._wait()),
            effects="none",
        )

    def leave(self, duration: float) -> None:
        """Count a call that ended after `duration` seconds."""
        with self._lock:
            self._running -= 1
            mean = duration if self._mean_duration is None else self._mean_duration
            self._mean_duration = mean + (duration - mean) * _WEIGHT

    def reenter(self) -> None:
        """Count a call again whose thread begins after the call was given up."""
        with self._lock:  # pragma: no cover - the microseconds between the start of a thread and its first line
            self._running += 1

    def _wait(self) -> float:
        """Seconds until a place is probably free: the mean duration of a call, in steps of 0.1 s."""
        mean = _FIRST_WAIT if self._mean_duration is None else self._mean_duration
        return min(max(math.ceil(mean * 10) / 10, _MIN_WAIT), _MAX_WAIT)


class Place:
    """The place of a running call. It is free when the call has ended, and the thread that the call may have left."""

    def __init__(self, limits: CallLimits, request: Request) -> None:
        limits.enter(request)
        self._limits = limits
        self._began = time.monotonic()
        self._holders = 1
        self._lock = threading.Lock()

    def hold(self) -> None:
        """Keep the place for a thread, which may outlive its call."""
        with self._lock:
            self._holders += 1
            if self._holders == 1:
                self._limits.reenter()  # pragma: no cover - as there

    def release(self) -> None:
        """Give the place up."""
        with self._lock:
            self._holders -= 1
            if not self._holders:
                self._limits.leave(time.monotonic() - self._began)


def holding_places(request: Request, call: Callable[[], T]) -> Callable[[], T]:
    """`call`, to be run in a thread: it keeps the places of `request` until it ends, also after a timeout."""
    places = request.places

    # The thread itself takes the places: a call that is cancelled while it waits for a thread never begins this.
    def run() -> T:
        for place in places:
            place.hold()
        try:
            return call()
        finally:
            for place in places:
                place.release()

    return run if places else call


def _timeout_error(request: Request) -> CodedError:
    assert request.timeout is not None
    return own_failure(
        ErrorCode.TIMEOUT,
        f"The call took longer than {request.timeout:g} s and was stopped.",
        {"timeoutMs": math.ceil(request.timeout * 1000)},
        request.contract,
        reason="call_timeout",
        recovery=_AFTER_TIMEOUT[request.effects in UNSAFE],
    )


_AFTER_TIMEOUT: Final = {
    True: "Check whether the call took effect; if it did not, ask for less in one call.",
    False: "Ask for less in one call, or make the same call again later.",
}
"""Recoveries after a timeout, by whether another call may do something twice."""


def checked_limits(where: str, owner: str, *, timeout: object, max_concurrency: object) -> CallLimits | None:
    """The limits that a tool or a server declares; None if it declares none.

    Raises:
        ValueError: If a limit is no limit; the message begins with `where`.
    """
    if timeout is None and max_concurrency is None:
        return None
    seconds: float | None = None
    if timeout is not None:
        # `not timeout > 0` also refuses a NaN, which `timeout <= 0` would admit.
        if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not timeout > 0:
            raise ValueError(f"{where}: timeout must be a number of seconds above 0, not {timeout!r}")
        seconds = float(timeout)
    if max_concurrency is not None and (
        isinstance(max_concurrency, bool) or not isinstance(max_concurrency, int) or max_concurrency < 1
    ):
        raise ValueError(f"{where}: max_concurrency must be a number of calls, at least 1, not {max_concurrency!r}")
    return CallLimits(owner, timeout=seconds, max_concurrency=max_concurrency)


def checked_scopes(where: str, scopes: object) -> tuple[str, ...]:
    """The scopes that a tool declares.

    Raises:
        ValueError: If they are no list of names; the message begins with `where`.
    """
    if isinstance(scopes, str) or not isinstance(scopes, Sequence):
        raise ValueError(  # noqa: TRY004 - as for any other bad option
            f"{where}: auth must be a list of scopes, such as ['orders:read'], not {scopes!r}"
        )
    for scope in scopes:
        # RFC 6749, section 3.3: printable ASCII without a space, a quotation mark or a backslash.
        if not isinstance(scope, str) or not scope.isascii() or not scope.isprintable() or set(scope) & set(' "\\'):
            raise ValueError(
                f"{where}: auth holds {scope!r}, which is not a scope; scopes have no spaces and no quotes"
            )
        if not scope:
            raise ValueError(f"{where}: auth holds an empty scope; leave it out")
    return tuple(scopes)


def require_scopes(required: Sequence[str], granted: Collection[str] | None, contract: Contract[Any]) -> None:
    """Check that the caller has been granted the `required` scopes; None if it has not been identified.

    Raises:
        CodedError: UNAUTHORIZED if there is no access token, FORBIDDEN if it lacks a scope.
    """
    missing = [scope for scope in required if granted is None or scope not in granted]
    if not missing:
        return
    named = f"the scope{'s' if len(missing) > 1 else ''} {', '.join(missing)}"
    data = {"requiredScopes": list(required), "missingScopes": missing}
    if granted is None:
        raise own_failure(
            ErrorCode.UNAUTHORIZED,
            f"The call has no valid access token; it needs one with {named}.",
            data,
            contract,
            reason="no_access_token",
            recovery="Sign in, and send the access token with the request.",
            effects="none",
        )
    raise own_failure(
        ErrorCode.FORBIDDEN,
        f"The access token lacks {named}.",
        data,
        contract,
        reason="missing_scope",
        recovery="Ask the user to grant the missing scopes, then call again with the new access token.",
        effects="none",
    )
