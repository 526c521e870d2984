"""Tracebacks for logs and records: without secrets, bounded, and cheap if the same line fails again."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Mapping
from functools import lru_cache
from itertools import groupby, islice
from operator import eq
from types import CodeType, TracebackType
from typing import Any, Final, cast

from mcpcore.values.escaping import clean_text
from mcpcore.values.jsonable import named, safe_str
from mcpcore.wire.redaction import Clean, Searched, redact_cut, redact_text

__all__ = ["LoggedError", "Searched", "forget", "log_crash", "message_of", "traceback_of", "type_name"]

FRAMES: Final = 30
"""How many of the innermost frames of an exception are shown; the others are counted."""

MESSAGE: Final = 2_000
"""The longest text of an exception, in characters."""

_LONGEST: Final = 8_000
_NOTES: Final = 10
_REPEATS: Final = 3
_KEPT: Final = 2_048

# A frame is identified by its code object and the position of the call. The entry keeps the code object alive, so that
# its id is not used again. Formatting a frame and searching it for secrets takes 20 us or more.
_frames: Final[dict[tuple[int, int], tuple[str, CodeType]]] = {}

_traceback_of: Final = cast("Any", BaseException.__dict__["__traceback__"]).__get__


def type_name(exc: BaseException) -> str:
    """The name of the type, with its module unless that is `builtins`; without secrets."""
    kind = type(exc)
    module, name = type.__dict__["__module__"].__get__(kind), type.__dict__["__qualname__"].__get__(kind)
    return _clean_name(name if module == "builtins" else f"{module}.{name}")


@lru_cache(maxsize=512)
def _clean_name(name: str) -> str:
    return redact_text(clean_text(name)[:200])


def message_of(exc: BaseException) -> str:
    """The text of the exception, without secrets."""
    global _last_message  # noqa: PLW0603 - a pair that is replaced as one
    text = safe_str(exc)
    searched, clean = _last_message
    if searched == text:
        return clean
    clean = redact_cut(text, MESSAGE)
    _last_message = text, clean
    return clean


_last_message: tuple[str, str] = ("", "")
"""The last searched text and its result, since the log of a crash and its record need the same. It is kept until the
record is made, or the next text is searched."""


def forget() -> None:
    """Forget the last text: it is not needed again."""
    global _last_message  # noqa: PLW0603 - as above
    _last_message = ("", "")


def traceback_of(exc: BaseException, name: str | None = None, message: str | None = None) -> Clean:
    """The traceback of `exc` without its causes, as Python prints it.

    `name` and `message` are the results of `type_name` and `message_of`, if they are known already.
    """
    try:
        lines = _frames_of(_traceback_of(exc))
    except Exception as failed:  # noqa: BLE001 - the loader of the source may be foreign code
        lines = [f"{named(failed)} while formatting the traceback\n"]
    head = ["Traceback (most recent call last):\n"] if lines else []
    text = message_of(exc) if message is None else message
    kind = (name or type_name(exc)).removeprefix("__main__.")
    end = f"{kind}: {text}\n" if text else f"{kind}\n"
    return Clean(_fitted("".join((*head, *lines)), end + _notes(exc)))


class LoggedError(Exception):
    """Replaces an exception in a log record: a type of the same name, its text, and its traceback as a note.

    A handler that formats exceptions itself finds everything there, but no secret.
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
    """Log `exc` with the text `trace` as its traceback, since a formatter would print its secrets.

    `extra` becomes attributes of the record, as in `Logger.log`.
    """
    if not logger.isEnabledFor(level):
        return
    # JSON formatters and collectors format this object; the exception itself would give them everything.
    kind = _kind_of(type_name(exc))
    error = kind(message_of(exc))
    error.add_note(trace)
    record = logger.makeRecord(logger.name, level, __file__, 0, message, args, (kind, error, None), "log_crash", extra)
    # The formatters of the standard library use this text if there is one.
    record.exc_text = trace
    logger.handle(record)


@lru_cache(maxsize=256)
def _kind_of(name: str) -> type[LoggedError]:
    # The name includes the module, since formatters leave `builtins` out.
    return type("LoggedError", (LoggedError,), {"__module__": "builtins", "__qualname__": name, "__doc__": None})


def _fitted(frames: str, end: str) -> str:
    """Frames and end within the bound; frames are removed whole."""
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
    lines = [(known((id(step.tb_frame.f_code), step.tb_lasti)) or _frame(step))[0] for step in chain[-FRAMES:]]
    if any(map(eq, lines, islice(lines, 1, None))):
        lines = _folded(lines)
    if earlier > 0:
        lines.insert(0, f"  ... ({earlier} earlier frames)\n")
    return lines


def _folded(lines: list[str]) -> list[str]:
    """The lines with repetitions folded, as Python prints a recursion."""
    folded: list[str] = []
    for line, same in groupby(lines):
        times = len(list(same))
        folded += [line] * min(times, _REPEATS)
        if times > _REPEATS:
            more = times - _REPEATS
            folded.append(f"  [Previous line repeated {more} more time{'s' * (more > 1)}]\n")
    return folded


def _frame(step: TracebackType) -> tuple[str, CodeType]:
    code = step.tb_frame.f_code
    text = redact_text(clean_text("".join(traceback.extract_tb(step, limit=1).format())[:2_000]))
    if len(_frames) >= _KEPT:
        _frames.clear()
    entry = _frames[id(code), step.tb_lasti] = (text, code)
    return entry


# Not through the class, which may have a property of that name.
_attributes_of: Final = cast("Any", BaseException.__dict__["__dict__"]).__get__


def _notes(exc: BaseException) -> str:
    notes = _attributes_of(exc).get("__notes__")
    if not isinstance(notes, list):
        return ""
    return "".join(f"{redact_cut(safe_str(note), MESSAGE)}\n" for note in notes[:_NOTES])
