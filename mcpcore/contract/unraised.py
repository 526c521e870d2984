"""Failures that a call made and lost: neither raised nor returned, so that nobody ever hears of them.

`ctx.fail(...)` and the factories make an exception, and `raise` is easily forgotten before them. Each failure that is
made within a call is noted. At the end of the call, those that were not used are lost.
"""

from __future__ import annotations

import os
import sys
from itertools import starmap
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from mcpcore.values.escaping import one_line
from mcpcore.values.request_var import current
from mcpcore.values.untrusted import quietly
from mcpcore.values.unwrapping import cause_of, context_of, members_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import CodeType, FrameType

    from mcpcore.boundary.outcome import BrokenItem
    from mcpcore.contract.errors import CodedError

MAX_NOTED: Final = 100
"""Failures of one call that are noted. One that is raised before the next is made leaves its place to that."""

_MAX_SEARCHED: Final = 10_000
"""Causes, contexts and members that are searched for failures that were used."""

_MAX_LOGGED: Final = 10
"""Lost failures of one call that the log names."""

_PACKAGE: Final = os.path.dirname(os.path.dirname(__file__)) + os.sep  # noqa: PTH120 - pathlib costs more than this module
_MAKERS: Final = frozenset(
    _PACKAGE + name.replace("/", os.sep)
    for name in ("contract/errors.py", "declare/context.py", "services/responses.py")
)
"""Modules that make a failure for their caller. All other modules of this package raise the failures they make."""


class UnraisedFailure(NamedTuple):
    """A failure, and the place where it was made."""

    error: CodedError
    code: CodeType
    offset: int
    """The place in `code`, in bytes."""

    @property
    def line(self) -> int | None:
        """The line of the file where the failure was made."""
        return list(self.code.co_positions())[self.offset // 2][0]

    @property
    def description(self) -> str:
        """What was made, and where."""
        code, reason = self.identity
        named = "" if reason is None else f" with the reason {one_line(reason)!r}"
        place = f"{one_line(self.code.co_filename)}:{self.line}"
        return f"made a failure, {code}{named}, at {place}, and did not raise it"

    @property
    def identity(self) -> tuple[str, str | None]:
        """The name of the code and the reason, of which a subclass may make anything."""
        error = self.error
        return quietly(lambda: (error.code.name, None if error.reason is None else error.reason[:200]), _UNREADABLE)

    @property
    def is_in_raise(self) -> bool:
        """Whether a `raise` statement made the failure: as a cause, in a group, or for a function that copies it."""
        from opcode import opmap

        raising = opmap["RAISE_VARARGS"]
        positions = list(self.code.co_positions())
        start, end = _span(positions[self.offset // 2])
        spans = (_span(at) for op, at in zip(self.code.co_code[::2], positions, strict=True) if op == raising)
        return any(first <= start and end <= last for first, last in spans)


_UNREADABLE: Final = ("which cannot be read", None)

_Place: TypeAlias = "tuple[int | None, int | None, int | None, int | None]"


def _span(place: _Place) -> tuple[tuple[int, int], tuple[int, int]]:
    """The first and the last line and column of an instruction; with `-X no_debug_ranges` there are only lines."""
    first, last, start, end = place
    return (first or 0, start or 0), (last or first or 0, end or 0)


class Notes:
    """The failures that one call has made so far."""

    __slots__ = ("_closed", "_items", "_noted")

    def __init__(self, *, closed: bool = False) -> None:
        """Note nothing yet, and with `closed` never anything."""
        # Tuples until the end of the call, since most of them are of failures that were raised.
        self._noted: list[tuple[CodedError, CodeType, int]] = []
        self._items: list[BrokenItem] = []
        self._closed = closed

    def add(self, error: CodedError, code: CodeType, offset: int) -> None:
        """Note that `error` was made at the byte `offset` of `code`."""
        noted = self._noted
        # Most failures are raised immediately. Forgetting them here keeps nothing alive that was handled already.
        while noted and (raised := noted[-1][0]).__traceback__ is not None:
            noted.pop()
            self.use(raised)
            noted = self._noted
        if len(noted) < MAX_NOTED and not self._closed:
            noted.append((error, code, offset))

    def add_item(self, item: BrokenItem) -> None:
        """Note a part of the call that broke the contract."""
        if len(self._items) < MAX_NOTED and not self._closed:
            self._items.append(item)

    def adopt(self, lost: Sequence[UnraisedFailure]) -> None:
        """Note what a call that the handler made in turn has lost."""
        self._noted += lost[: MAX_NOTED - len(self._noted)]

    def use(self, exc: BaseException) -> None:
        """Forget the failures that are in or behind `exc`."""
        if self._noted:
            used = _in_and_behind((exc,))
            self._noted = [noted for noted in self._noted if id(noted[0]) not in used]

    def close(self, outcome: BaseException | None) -> list[UnraisedFailure | BrokenItem]:
        """The failures that were lost in a call that ended with `outcome`, and the parts that broke its contract.

        From now on nothing is noted.
        """
        self._closed = True
        items, self._items = self._items, []
        if len(self._noted) == 1 and self._noted[0][0] is outcome:  # as it is where a handler raises one failure
            self._noted = []
            return items  # type: ignore[return-value] # a list of one of both kinds
        return [*self._lost(outcome), *items]

    def _lost(self, outcome: BaseException | None) -> list[UnraisedFailure]:
        noted, self._noted = list(starmap(UnraisedFailure, self._noted)), []
        unraised = [failure for failure in noted if failure.error.__traceback__ is None and not _is_used(failure.error)]
        if not unraised:
            return []
        behind = [exc for failure in noted for exc in _behind(failure.error)]
        used = _in_and_behind((outcome, *behind))
        return [failure for failure in unraised if id(failure.error) not in used and not failure.is_in_raise]


CLOSED: Final = Notes(closed=True)
"""The notes of every call that has ended."""


def note(error: CodedError) -> None:
    """Note that `error` is being made, where a call is running and code outside this package makes it."""
    request = current.get()
    if request is None:
        return
    frame: FrameType | None = sys._getframe(2)  # noqa: SLF001 - the documented way to a frame
    # A subclass may have an `__init__`, but its author looks for the place where the subclass is used.
    while frame is not None and ((code := frame.f_code).co_filename in _MAKERS or code.co_name == "__init__"):
        frame = frame.f_back
    if frame is not None and not frame.f_code.co_filename.startswith(_PACKAGE):
        (request.notes or request.noted()).add(error, frame.f_code, frame.f_lasti)


def log_unraised(lost: Sequence[UnraisedFailure], name: str) -> None:
    """Warn of each failure that the tool, resource or prompt `name` has lost."""
    import logging

    logger = logging.getLogger("mcpcore")
    for failure in lost[:_MAX_LOGGED]:
        logger.warning(
            "%r %s, so clients did not get it; put `raise` before it"
            " (or ignore this if it was the cause or a member of an exception that was handled)",
            name,
            failure.description,
        )
    if len(lost) > _MAX_LOGGED:
        logger.warning("%r lost %d more failures in the same call", name, len(lost) - _MAX_LOGGED)


def _in_and_behind(outcomes: Iterable[BaseException | None]) -> set[int]:
    """The ids of `outcomes`, of their members where they are groups, and of all causes and contexts of those."""
    stack = list(outcomes)
    used: set[int] = set()
    while stack and len(used) < _MAX_SEARCHED:
        exc = stack.pop()
        if exc is not None and id(exc) not in used:
            used.add(id(exc))
            stack += _behind(exc)
            if issubclass(type(exc), BaseExceptionGroup):
                stack += members_of(exc)
    return used


def use(error: CodedError) -> None:
    """Note that `error` was copied, or that its traceback was set or removed, so that it is not lost."""
    vars(error)["_is_used"] = True


def _is_used(error: CodedError) -> bool:
    return "_is_used" in vars(error)


def _behind(exc: BaseException) -> tuple[BaseException | None, BaseException | None]:
    return cause_of(exc), context_of(exc)
