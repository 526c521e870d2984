"""Tracebacks for logs and records: without secrets, within bounds, and cheap where the same line fails again."""

from __future__ import annotations

import traceback
from functools import lru_cache
from itertools import groupby, islice
from operator import eq
from typing import TYPE_CHECKING, Any, Final, cast

from mcpcore.escaping import clean_text
from mcpcore.jsonable import named, safe_str
from mcpcore.redaction import Clean, Searched, redact_cut, redact_text

if TYPE_CHECKING:
    import logging
    from collections.abc import Mapping
    from types import CodeType, TracebackType

__all__ = ["Searched", "Told", "forget", "log_crash", "message_of", "traceback_of", "type_name"]

FRAMES: Final = 30
"""The innermost frames that are shown of one exception; how many came before them is said."""

MESSAGE: Final = 2_000
"""Characters of an exception's text."""

_LONGEST: Final = 8_000
_NOTES: Final = 10
_REPEATS: Final = 3
_KEPT: Final = 2_048

# A frame is known by its code object, which the entry keeps alive so that the number stays its own, and by where in it
# the call stood. Reading the source, marking the place and searching for secrets take 20 us and more a frame.
_frames: Final[dict[tuple[int, int], tuple[str, CodeType]]] = {}

_traceback_of: Final = cast("Any", BaseException.__dict__["__traceback__"]).__get__


def type_name(exc: BaseException) -> str:
    """The name of the type, with its module unless that is `builtins`; without secrets, as all here."""
    kind = type(exc)
    module, name = type.__dict__["__module__"].__get__(kind), type.__dict__["__qualname__"].__get__(kind)
    return _clean_name(name if module == "builtins" else f"{module}.{name}")


@lru_cache(maxsize=512)
def _clean_name(name: str) -> str:
    return redact_text(clean_text(name)[:200])


def message_of(exc: BaseException) -> str:
    """The text of the exception, without secrets."""
    global _told  # noqa: PLW0603 - a pair that is replaced as one
    text = safe_str(exc)
    told, clean = _told
    if told == text:
        return clean
    clean = redact_cut(text, MESSAGE)
    _told = text, clean
    return clean


_told: tuple[str, str] = ("", "")
"""The text that was searched last, and what it became: the log of a crash and its record ask for the same. It is kept
until the record is made, or the next text is searched."""


def forget() -> None:
    """Keep no text any longer: nobody will ask for the last one again."""
    global _told  # noqa: PLW0603 - as above
    _told = ("", "")


def traceback_of(exc: BaseException, name: str | None = None, message: str | None = None) -> Clean:
    """The traceback of `exc` alone, as Python prints it; its causes are not in it.

    `name` and `message` are what `type_name` and `message_of` say, where those were asked already.
    """
    try:
        lines = _frames_of(_traceback_of(exc))
    except Exception as failed:  # noqa: BLE001 - finding the source asks a loader, which may be anybody's
        lines = [f"{named(failed)} while formatting the traceback\n"]
    head = ["Traceback (most recent call last):\n"] if lines else []
    told = message_of(exc) if message is None else message
    kind = (name or type_name(exc)).removeprefix("__main__.")
    end = f"{kind}: {told}\n" if told else f"{kind}\n"
    return Clean(_fitted("".join((*head, *lines)), end + _notes(exc)))


class Told(Exception):  # noqa: N818 - nobody raises it
    """What stands for an exception in a log record: a type of the same name, its text, its traceback as a note.

    Whatever formats a record's exception by itself finds all of it there, and nothing of what was redacted.
    """


def log_crash(
    logger: logging.Logger,
    level: int,
    exc: BaseException,
    trace: str,
    message: str,
    *args: object,
    extra: Mapping[str, Any] | None = None,
) -> None:
    """Log `exc` with `trace`, what is told of its frames and causes: a formatter's own would hold its secrets.

    `extra` becomes attributes of the record, as in `Logger.log`.
    """
    if not logger.isEnabledFor(level):
        return
    # Formatters of JSON and collectors format what they find here; the exception itself would tell them everything.
    kind = _kind_of(type_name(exc))
    told = kind(message_of(exc))
    told.add_note(trace)
    made = logger.makeRecord(logger.name, level, __file__, 0, message, args, (kind, told, None), "log_crash", extra)
    # The formatters of the standard library take this text where there is one.
    made.exc_text = trace
    logger.handle(made)


@lru_cache(maxsize=256)
def _kind_of(name: str) -> type[Told]:
    # With the module in the name: a formatter leaves `builtins` out.
    return type("Told", (Told,), {"__module__": "builtins", "__qualname__": name, "__doc__": None})


def _fitted(frames: str, end: str) -> str:
    """Both within the bound; of the frames, whole ones go."""
    if len(frames) + len(end) <= _LONGEST:
        return frames + end
    end = end[:_LONGEST]
    cut = frames.find("\n  File ", max(0, len(frames) + len(end) - _LONGEST))
    return f"Traceback (most recent call last):\n  ...{frames[cut:]}{end}" if cut >= 0 else end


def _frames_of(trace: TracebackType | None) -> list[str]:
    chain: list[TracebackType] = []
    while trace is not None:
        chain.append(trace)
        trace = trace.tb_next
    earlier = len(chain) - FRAMES
    known = _frames.get
    lines = [(known((id(one.tb_frame.f_code), one.tb_lasti)) or _frame(one))[0] for one in chain[-FRAMES:]]
    if any(map(eq, lines, islice(lines, 1, None))):
        lines = _folded(lines)
    if earlier > 0:
        lines.insert(0, f"  ... ({earlier} earlier frames)\n")
    return lines


def _folded(lines: list[str]) -> list[str]:
    """With no more than a few of the same line in a row, as Python tells a recursion."""
    folded: list[str] = []
    for line, same in groupby(lines):
        times = len(list(same))
        folded += [line] * min(times, _REPEATS)
        if times > _REPEATS:
            more = times - _REPEATS
            folded.append(f"  [Previous line repeated {more} more time{'s' * (more > 1)}]\n")
    return folded


def _frame(one: TracebackType) -> tuple[str, CodeType]:
    code = one.tb_frame.f_code
    text = redact_text(clean_text("".join(traceback.extract_tb(one, limit=1).format())[:2_000]))
    if len(_frames) >= _KEPT:
        _frames.clear()
    found = _frames[id(code), one.tb_lasti] = (text, code)
    return found


# Past the class, which may have a property of that name.
_attributes_of: Final = cast("Any", BaseException.__dict__["__dict__"]).__get__


def _notes(exc: BaseException) -> str:
    notes = _attributes_of(exc).get("__notes__")
    if not isinstance(notes, list):
        return ""
    return "".join(f"{redact_cut(safe_str(note), MESSAGE)}\n" for note in notes[:_NOTES])
