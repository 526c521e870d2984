"""Records that wait for the lock of their trail while the event loop goes on.

A record that is made on an event loop tries the lock for a moment. Where another process holds it, the record is put
off: it joins the other records of its call, and the call's answer waits until all of them are written or their time is
up. Only the failing call waits; nothing else on the loop does. Elsewhere the record waits where it is made: in a worker
thread, without a loop, or in a task that goes on after its call was answered.
"""

from __future__ import annotations

from contextvars import ContextVar, copy_context
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

import anyio

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextvars import Context

    from mcpcore.audit.trail import AuditTrail

_PAUSE: Final = 0.002
_LONGEST_PAUSE: Final = 0.25
_TURN: Final = 0.005
"""Seconds for which records are written in one go, before the loop has a turn."""


class Deferred:
    """A record that is not written yet."""

    __slots__ = ("clean", "context", "deadline", "payload", "trail")

    def __init__(self, trail: AuditTrail, clean: Mapping[str, Any], payload: str, deadline: float) -> None:
        """Keep the record, and the context that it was made in, whose span the sinks want to see."""
        self.trail = trail
        self.clean = clean
        self.payload = payload
        self.deadline = deadline
        self.context: Context = copy_context()


class Call(list[Deferred]):
    """The records of one call that are put off."""

    answered = False
    """Whether the call was answered: a task that it left behind finds nobody here who writes its records."""


current_call: Final[ContextVar[Call | None]] = ContextVar("mcpcore_audit_call", default=None)
"""The call that runs now, where somebody waits for its records before it is answered."""


def on_event_loop() -> bool:
    """Whether this code runs on an event loop, which must not wait."""
    try:
        anyio.get_current_task()
    except (RuntimeError, anyio.NoEventLoopError):
        return False
    return True


async def settle(call: Call, on_error: Callable[[Exception], None]) -> None:
    """Return when each record of `call` is written or its time is up; exceptions are passed to `on_error`.

    A cancellation waits for that too: a record must not be lost because its client has gone.
    """
    cancelled: BaseException | None = None
    began = monotonic()
    try:
        while call:
            pause = 0.0
            try:
                written = call[0].trail.retry(call[0])
            except Exception as exc:  # noqa: BLE001 - the policy's refusal, or a sink or a filter of the application's own
                written = True
                on_error(exc)
            if written:
                del call[0]
                if monotonic() - began < _TURN:
                    continue
            else:
                # All that wait try as often together as one alone.
                pause = min(
                    _PAUSE * max(1, call[0].trail.waiting), _LONGEST_PAUSE, max(0.0, call[0].deadline - monotonic())
                )
            try:
                with anyio.CancelScope(shield=True):
                    await anyio.sleep(pause)
            except anyio.get_cancelled_exc_class() as exc:
                # By asyncio itself, which knows no shield.
                cancelled = exc
            began = monotonic()
    finally:
        for deferred in call:
            # The loop was torn down. The loss is counted and reported like any other.
            try:
                deferred.trail.retry(deferred, last=True)
            except Exception as exc:  # noqa: BLE001 - as above
                on_error(exc)
        call.clear()
    if cancelled is not None:
        raise cancelled
