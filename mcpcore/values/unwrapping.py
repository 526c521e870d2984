"""Exceptions as data: groups, causes, wrappers of frameworks, and cancellation.

An exception is foreign code. Its attributes may raise or lie, so everything here reads past the exception's own class.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from mcpcore.contract.codes import Code
    from mcpcore.contract.errors import CodedError

_MAX_LEAVES: Final = 1_000
"""Members of a group, and exceptions behind another, that are read."""

_MAX_CAUSES: Final = 10
_MAX_WRAPPERS: Final = 20

cause_of: Final[Callable[[BaseException], BaseException | None]] = cast(
    "Any", BaseException.__dict__["__cause__"]
).__get__
context_of: Final[Callable[[BaseException], BaseException | None]] = cast(
    "Any", BaseException.__dict__["__context__"]
).__get__
members_of: Final[Callable[[BaseException], tuple[BaseException, ...]]] = cast(
    "Any", BaseExceptionGroup.__dict__["exceptions"]
).__get__
traceback_slot: Final = cast("Any", BaseException.__dict__["__traceback__"])
_suppresses_context: Final = cast("Any", BaseException.__dict__["__suppress_context__"]).__get__


def is_a(exc: BaseException, kind: type[BaseException] | tuple[type[BaseException], ...]) -> bool:
    """`isinstance` by the type alone, since an exception may lie about its `__class__`, or raise when asked."""
    return issubclass(type(exc), kind)


# --- causes and groups ------------------------------------------------------------------------------------------------


def behind(exc: BaseException) -> BaseException | None:
    """The cause of `exc`, or the exception that was being handled when it was raised."""
    return cause_of(exc) or (None if _suppresses_context(exc) else context_of(exc))


def causes_of(exc: BaseException) -> Iterator[BaseException]:
    """The exceptions behind `exc`, the nearest first."""
    seen = {id(exc)}
    cause = behind(exc)
    while cause is not None and id(cause) not in seen and len(seen) <= _MAX_CAUSES:
        seen.add(id(cause))
        yield cause
        cause = behind(cause)


def leaves_of(exc: BaseException) -> Iterator[BaseException]:
    """The exceptions in a group and in the groups within it, in order; `exc` itself if it is not a group."""
    stack, seen, count = [exc], set(), 0
    while stack and count < _MAX_LEAVES:
        current = stack.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        if is_a(current, BaseExceptionGroup):
            stack.extend(reversed(members_of(current)))
        else:
            count += 1
            yield current


def forget_tracebacks(exc: BaseException) -> None:
    """Remove the tracebacks of an exception that was answered, of its causes and of its members.

    Python adds the frames of each raise to those that the object already has. Without this, an exception that is made
    once and raised in many calls would keep the frames of all of them alive, with everything that they hold.
    """
    if cause_of(exc) is None and context_of(exc) is None and not issubclass(type(exc), BaseExceptionGroup):
        traceback_slot.__set__(exc, None)  # as it is for most
        return
    pending, seen = [exc], {id(exc)}
    running: set[int] | None = None
    for current in pending:  # which grows
        trace = traceback_slot.__get__(current)
        if trace is not None:
            if current is not exc and running is None:
                running = _running_frames()
            # The code that called the server may be handling another exception, which is then a context here.
            if current is exc or running is None or id(trace.tb_frame) not in running:
                traceback_slot.__set__(current, None)
        members = members_of(current) if issubclass(type(current), BaseExceptionGroup) else ()
        for other in (cause_of(current), context_of(current), *members):
            if other is not None and id(other) not in seen and len(seen) < _MAX_LEAVES:
                seen.add(id(other))
                pending.append(other)


def _running_frames() -> set[int]:
    frames: set[int] = set()
    frame: FrameType | None = sys._getframe()  # noqa: SLF001 - a public function by a private name
    while frame is not None:
        frames.add(id(frame))
        frame = frame.f_back
    return frames


# --- cancellation -----------------------------------------------------------------------------------------------------


def passes_through(exc: BaseException) -> bool:
    """Whether `exc` is not a failure: the cancellation of this very call, or an exit that must not be caught."""
    if is_a(exc, Exception):
        return False
    import anyio

    leaves = list(leaves_of(exc))
    if any(is_a(leaf, (KeyboardInterrupt, GeneratorExit)) for leaf in leaves):
        return True
    cancelled = anyio.get_cancelled_exc_class()
    return bool(leaves) and all(is_a(leaf, cancelled) for leaf in leaves) and _is_being_cancelled(cancelled)


def _is_being_cancelled(cancelled: type[BaseException]) -> bool:
    """Whether the running task is being cancelled, by a scope of anyio's or by asyncio itself.

    A `CancelledError` in a task that nobody cancels comes from something that the handler waited for; it is a
    failure like any other. Trio raises its own only in a cancelled task.
    """
    import asyncio
    import math

    import anyio

    if cancelled is not asyncio.CancelledError or anyio.current_effective_deadline() == -math.inf:
        return True
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


# --- failures that a handler returned ---------------------------------------------------------------------------------


class ReturnedError(Exception):
    """A failure that a handler returned instead of raising it, on its way to the boundary."""

    def __init__(self, failure: BaseException) -> None:
        """Carry `failure`: an exception, or a group of all exceptions within a result."""
        super().__init__("a failure was returned, not raised")  # a framework may read the text first
        self.failure = failure


class BrokenResultError(Exception):
    """The result of a handler breaks the tool's own output model; the cause says how."""


def returned_failure(exc: BaseException) -> BaseException:
    """The failure that a `ReturnedError` carries; any other exception as it is."""
    return exc.failure if type(exc) is ReturnedError else exc


# --- errors of frameworks ---------------------------------------------------------------------------------------------


class FrameworkErrors(NamedTuple):
    """Reads the errors of one framework; the package that joins mcpcore to that framework registers it."""

    wrapped_by: Callable[[BaseException], BaseException | None]
    """The exception that an error of the framework wraps and merely repeats; None for any other error."""

    authored: Callable[[BaseException], tuple[Code, str, Any] | None]
    """The code, text and data of an error of the framework that its author wants to be read; else None."""

    relayed_by: Callable[[BaseException], CodedError | None]
    """The failure of another server that an error of the framework carries; None for any other error."""


_frameworks: Final[list[FrameworkErrors]] = []


def register_framework(errors: FrameworkErrors) -> None:
    """Read the errors of another framework from now on; of those registered, the last one is asked first."""
    _frameworks.insert(0, errors)


def unwrapped(exc: BaseException) -> BaseException:
    """The exception that a framework wrapped, as it does with an exception of a tool that another tool called."""
    exc = returned_failure(exc)
    for _ in range(_MAX_WRAPPERS):
        for errors in _frameworks:
            inner = errors.wrapped_by(exc)
            if inner is not None:
                exc = returned_failure(inner)
                break
        else:
            break
    return exc


def framework_error(exc: BaseException) -> tuple[Code, str, Any] | None:
    """The code, text and data of a framework's own error that is meant to be read; None for any other."""
    for errors in _frameworks:
        authored = errors.authored(exc)
        if authored is not None:
            return authored
    return None


def relayed_failure(exc: BaseException) -> CodedError | None:
    """The failure of another server that a framework's error carries; None for any other."""
    for errors in _frameworks:
        failure = errors.relayed_by(exc)
        if failure is not None:
            return failure
    return None
