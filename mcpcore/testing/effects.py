"""Checks that the effects which failures declare are true: a probe looks at the world before and after each call.

A failure that says "nothing was changed" must leave the probe's value as it was, and one that says "partial" must not.
Resources and prompts are judged like tools. Calls that overlap are not judged, since each could have made the change.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import Any, Final
from weakref import WeakKeyDictionary

from mcpcore.testing.servers import lowlevel_server
from mcpcore.values.jsonable import cut_text, safe_str
from mcpcore.values.untrusted import quietly
from mcpcore.wire.envelope import Envelope

_probes: WeakKeyDictionary[object, Callable[[], Any]] = WeakKeyDictionary()
"""The probe of each server that a contract suite has one for."""


def watch(server: Any, probe: Callable[[], Any]) -> None:
    """Check every tool call that a test makes with `tool_client(server)` from now on."""
    _probes[server] = probe


_JUDGED: Final = frozenset({"tools/call", "resources/read", "prompts/get"})


class EffectsCheck:
    """A middleware of the SDK's own server, which compares the world before and after each call.

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
        """Pass a message on, and judge the failure of a call."""
        if ctx.method not in _JUDGED or ctx.request_id is None:
            return await call_next(ctx)
        self._running += 1
        self._started += 1
        alone, started = self._running == 1, self._started
        try:
            before = await self._state()
            try:
                outcome: Any = await call_next(ctx)
            except Exception as exc:  # noqa: BLE001 - raised again below: a resource fails with an error of the protocol
                outcome = exc
            after = await self._state()
        finally:
            self._running -= 1
        if alone and started == self._started and before and after:
            self._judge(outcome, before[0], after[0])
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def _state(self) -> tuple[Any] | None:
        """The probe's value; None if it cannot be known, which is reported.

        The server would mask an exception of the probe as its own crash.
        """
        try:
            value = self._probe()
            # A copy, since the probe may return the very list or dict that a call changes.
            state = _copy_of(await value if inspect.isawaitable(value) else value)
            is_comparable = bool(_copy_of(state) == state)
        except Exception as exc:  # noqa: BLE001 - the probe is the test's own
            problem = f"the probe of state= failed: {type(exc).__name__}: {safe_str(exc)}"
        else:
            if is_comparable:
                return (state,)
            problem = (
                f"state= returns a {type(state).__name__} that does not equal its own copy, so no change can be seen; "
                "return numbers, texts, or lists and dicts of them"
            )
        if problem not in self.broken:
            self.broken.append(problem)
        return None

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
                f"{what}, which says that something was changed, but the state is unchanged: {_shown(after)}"
            )


def _copy_of(value: Any) -> Any:
    """A copy that later changes of `value` do not reach; rows, cursors and views become lists."""
    if isinstance(value, Iterator):
        value = list(value)
    if type(value) in (list, tuple):
        return [_copy_of(item) for item in value]
    if type(value) is dict:
        return {key: _copy_of(item) for key, item in value.items()}
    try:
        return copy.deepcopy(value)
    except TypeError:
        if isinstance(value, Iterable):  # such as a row of SQLite, or the keys of a dict
            return [_copy_of(item) for item in value]
        raise


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
