"""Checks that the effects which failures declare are true: a probe looks at the world before and after each call.

A failure that says "nothing was changed" must leave the probe's value as it was, and one that says "partial" must not.
Calls that overlap are not judged, since each could have made the change.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from mcpcore.testing.servers import lowlevel_server
from mcpcore.values.jsonable import cut_text
from mcpcore.values.untrusted import quietly
from mcpcore.wire.envelope import Envelope

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

_probes: WeakKeyDictionary[object, Callable[[], Any]] = WeakKeyDictionary()
"""The probe of each server that a contract suite has one for."""


def watch(server: Any, probe: Callable[[], Any]) -> None:
    """Check every tool call that a test makes with `tool_client(server)` from now on."""
    _probes[server] = probe


class EffectsCheck:
    """A middleware of the SDK's own server, which compares the world before and after each tool call.

    Attributes:
        broken: The claims that were not true, as sentences.
    """

    def __init__(self, probe: Callable[[], Any]) -> None:
        """Look at the world with `probe`, which may be async."""
        self.broken: list[str] = []
        self._probe = probe
        self._running = 0
        self._started = 0

    async def __call__(self, ctx: Any, call_next: Callable[[Any], Awaitable[Any]]) -> Any:
        """Pass a message on, and judge the failure of a tool call."""
        if ctx.method != "tools/call" or ctx.request_id is None:
            return await call_next(ctx)
        self._running += 1
        self._started += 1
        alone, started = self._running == 1, self._started
        try:
            before = await self._state()
            result = await call_next(ctx)
            after = await self._state()
        finally:
            self._running -= 1
        if alone and started == self._started:
            self._judge(result, before, after)
        return result

    async def _state(self) -> Any:
        value = self._probe()
        # A copy, since the probe may return the very list or dict that a call changes.
        return copy.deepcopy(await value if inspect.isawaitable(value) else value)

    def _judge(self, result: object, before: Any, after: Any) -> None:
        failure = quietly(lambda: Envelope.from_result(result), None)
        if failure is None or failure.effects not in ("none", "partial"):
            return
        changed = bool(before != after)
        what = f"{failure.tool} failed with {failure.reason or failure.name}"
        if failure.effects == "none" and changed:
            states = f"before: {_shown(before)}, after: {_shown(after)}"
            self.broken.append(f"{what}, which says that nothing was changed, but the state changed ({states})")
        elif failure.effects == "partial" and not changed:
            self.broken.append(
                f"{what}, which says that something was changed, but the state is as before: {_shown(after)}"
            )


def _shown(value: Any) -> str:
    return cut_text(quietly(lambda: repr(value), f"a {type(value).__name__}"), 200)


@contextlib.contextmanager
def checking(server: Any, probe: Callable[[], Any] | None) -> Iterator[list[str]]:
    """Check the calls of `server` with `probe`, else with that of its suite; yields the claims that are not true."""
    probe = probe or _probes.get(server)
    if probe is None:
        yield []
        return
    check, chain = EffectsCheck(probe), lowlevel_server(server).middleware
    chain.insert(0, check)  # outermost, since on FastMCP a failure gets its envelope on the way out
    try:
        yield check.broken
    finally:
        chain.remove(check)
