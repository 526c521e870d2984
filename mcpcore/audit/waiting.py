"""Records that wait for the lock of their trail while the event loop runs on.

A record on an event loop tries the lock for a moment. If another process holds it, the record is deferred: it joins
the other records of its call, and the answer of the call waits until all of them are written or their time is up. Only
the failing call waits, not the loop. In a worker thread, without a loop, or in a task that outlives its call, the
record waits where it is made.
"""

from __future__ import annotations

from contextvars import Context, ContextVar, copy_context
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

import anyio

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcpcore.audit.trail import AuditTrail

_PAUSE: Final = 0.002
_LONGEST_PAUSE: Final = 0.25
_TURN: Final = 0.005
"""Seconds for which records are written without a pause, before the loop gets a turn."""


class Deferred:
    """A record that is not yet written."""

    __slots__ = ("clean", "context", "deadline", "payload", "trail")

    def __init__(self, trail: AuditTrail, clean: Mapping[str, Any], payload: str, deadline: float) -> None:
        """Keep the record and its context, since sinks need the span of that context."""
        self.trail = trail
        self.clean = clean
        self.payload = payload
        self.deadline = deadline
        self.context: Context = copy_context()


class Call(list[Deferred]):
    """The deferred records of one call."""

    answered = False
    """Whether the call was answered. Records of a task that outlives it are not written here any more."""


current_call: Final[ContextVar[Call | None]] = ContextVar("mcpcore_audit_call", default=None)
"""The current call, if its answer waits for its records."""


def on_event_loop() -> bool:
    """Whether this code runs on an event loop, which must not be blocked."""
    try:
        anyio.get_current_task()
    except (RuntimeError, anyio.NoEventLoopError):
        return False
    return True


async def settle(call: Call, on_error: Callable[[Exception], None]) -> None:
    """Wait until each record of `call` is written or its time is up; exceptions are passed to `on_error`.

    A cancellation waits too: a record must not be lost because its client has disconnected.
    """
    cancelled: BaseException | None = None
    began = monotonic()
    try:
        while call:
            pause = 0.0
            try:
                written = call[0].trail.retry(call[0])
            except Exception as exc:  # noqa: BLE001 - from the policy, or from a sink or filter of the application
                written = True
                on_error(exc)
            if written:
                del call[0]
                if monotonic() - began < _TURN:
                    continue
            else:
                # All waiting records together try as often as one alone.
                pause = min(
                    _PAUSE * max(1, call[0].trail.waiting), _LONGEST_PAUSE, max(0.0, call[0].deadline - monotonic())
                )
            try:
                with anyio.CancelScope(shield=True):
                    await anyio.sleep(pause)
            except anyio.get_cancelled_exc_class() as exc:
                # asyncio itself cancels in spite of the shield.
                cancelled = exc
            began = monotonic()
    finally:
        for deferred in call:
            # The loop was closed. The loss is counted and reported like any other.
            try:
                deferred.trail.retry(deferred, last=True)
            except Exception as exc:  # noqa: BLE001 - as above
                on_error(exc)
        call.clear()
    if cancelled is not None:
        raise cancelled
