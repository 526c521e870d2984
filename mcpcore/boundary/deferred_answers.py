"""Answers that wait for the records of their call, while the event loop goes on."""

from __future__ import annotations

import functools
from collections.abc import Callable, Coroutine
from types import MethodType
from typing import Any, Protocol, TypeVar, cast

from mcpcore.audit import AuditError
from mcpcore.audit.waiting import Call, current_call, settle
from mcpcore.boundary.crash_log import log_traced
from mcpcore.values.logs import LOGGER

HandleT = TypeVar("HandleT", bound="Callable[..., Coroutine[Any, Any, Any]]")


class AnswersCalls(Protocol):
    """What answers calls: a server, or its middleware. The methods get the positional arguments of the call."""

    @property
    def may_defer(self) -> bool:
        """Whether answers may have to wait for the records of their calls."""
        ...

    def unrecorded(self, *call: Any) -> tuple[Exception, Any]:
        """The error and the answer for a call whose failure could not be recorded, if the trail's policy is to refuse.

        The answer is None where only the error can be sent.
        """
        ...


def recorded_first(handle: HandleT) -> HandleT:
    """Have the answer of `handle`, a method of an `AnswersCalls`, wait until the records of its call are written.

    Where one cannot be written and the policy of the trail is to refuse, the call fails for that reason instead. An
    owner whose answers never wait gets the method itself, since one more coroutine would cost every call.
    """

    @functools.wraps(handle)
    async def recorded(owner: AnswersCalls, *args: Any, **options: Any) -> Any:
        call = Call()
        token = current_call.set(call)
        try:
            try:
                result = await handle(owner, *args, **options)
            except BaseException as exc:
                # Nothing replaces a cancellation or an exit, which are no answers.
                if call and await _is_refused(call) and isinstance(exc, Exception):
                    raise owner.unrecorded(*args)[0] from None
                raise
            finally:
                current_call.reset(token)
            if call and await _is_refused(call):
                error, result = owner.unrecorded(*args)
                if result is None:
                    raise error
            return result
        finally:
            # Tasks that the handler started still have the call in their context.
            call.answered = True

    return cast("HandleT", _Method(handle, recorded))


class _Method:
    """A method that its owner gets in one of two forms."""

    def __init__(self, plain: Callable[..., Any], deferred: Callable[..., Any]) -> None:
        self._plain, self._deferred = plain, deferred

    def __get__(self, owner: AnswersCalls | None, kind: type[Any] | None = None) -> Any:
        if owner is None:
            return self._deferred
        return MethodType(self._deferred if owner.may_defer else self._plain, owner)


async def _is_refused(call: Call) -> bool:
    """Whether the policy withholds the answer of `call`, once its records are written or their time is up."""
    refused = False

    def on_error(exc: Exception) -> None:
        nonlocal refused
        refused = refused or isinstance(exc, AuditError)
        if isinstance(exc, AuditError):
            LOGGER.critical("a failure could not be recorded: %s", exc)
        else:
            log_traced(exc, "recording a failure went wrong")

    await settle(call, on_error)
    return refused
