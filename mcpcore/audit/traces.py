"""Tracebacks for logs and records: without secrets, within bounds, and cheap where the same line fails again."""

from __future__ import annotations

import traceback
from collections import deque
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, cast

from mcpcore.jsonable import clean_text, named, safe_str
from mcpcore.redact import Clean, redact_cut, redact_text

if TYPE_CHECKING:
    from types import CodeType, TracebackType

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
_frames: Final[dict[tuple[int, int], tuple[CodeType, str]]] = {}

_traceback_of: Final = cast("Any", BaseException.__dict__["__traceback__"]).__get__


def type_name(exc: BaseException) -> Clean:
    """The name of the type, with its module unless that is `builtins`; without secrets, as all here."""
    kind = type(exc)
    module, name = type.__dict__["__module__"].__get__(kind), type.__dict__["__qualname__"].__get__(kind)
    return _clean_name(name if module == "builtins" else f"{module}.{name}")


@lru_cache(maxsize=512)
def _clean_name(name: str) -> Clean:
    return Clean(redact_text(clean_text(name)[:200]))


def message_of(exc: BaseException) -> Clean:
    """The text of the exception, without secrets."""
    return redact_cut(safe_str(exc), MESSAGE)


def traceback_of(exc: BaseException, message: Clean | None = None) -> Clean:
    """The traceback of `exc` alone, as Python prints it; its causes are not in it.

    `message` is what `message_of` says, where it was asked already.
    """
    try:
        lines = _frames_of(_traceback_of(exc))
    except Exception as failed:  # noqa: BLE001 - finding the source asks a loader, which may be anybody's
        lines = [f"{named(failed)} while formatting the traceback\n"]
    head = ["Traceback (most recent call last):\n"] if lines else []
    told = message_of(exc) if message is None else message
    kind = type_name(exc).removeprefix("__main__.")
    end = f"{kind}: {told}\n" if told else f"{kind}\n"
    return Clean(_fitted("".join((*head, *lines)), end + _notes(exc)))


def _fitted(frames: str, end: str) -> str:
    """Both within the bound; of the frames, whole ones go."""
    if len(frames) + len(end) <= _LONGEST:
        return frames + end
    end = end[:_LONGEST]
    cut = frames.find("\n  File ", max(0, len(frames) + len(end) - _LONGEST))
    return f"Traceback (most recent call last):\n  ...{frames[cut:]}{end}" if cut >= 0 else end


def _frames_of(trace: TracebackType | None) -> list[str]:
    last: deque[TracebackType] = deque(maxlen=FRAMES)
    count = 0
    while trace is not None:
        last.append(trace)
        count += 1
        trace = trace.tb_next
    lines = [f"  ... ({count - len(last)} earlier frames)\n"] if count > len(last) else []
    before, repeats = "", 0
    for one in last:
        code = one.tb_frame.f_code
        found = _frames.get((id(code), one.tb_lasti))
        line = found[1] if found is not None else _frame(one, code)
        repeats = repeats + 1 if line == before else 0
        before = line
        if repeats < _REPEATS:
            lines.append(line)
        elif repeats == _REPEATS:
            lines.append("")
        if repeats >= _REPEATS:
            lines[-1] = f"  [Previous line repeated {repeats - _REPEATS + 1} more time{'s' * (repeats > _REPEATS)}]\n"
    return lines


def _frame(one: TracebackType, code: CodeType) -> str:
    text = redact_text(clean_text("".join(traceback.extract_tb(one, limit=1).format())[:2_000]))
    if len(_frames) >= _KEPT:
        _frames.clear()
    _frames[id(code), one.tb_lasti] = (code, text)
    return text


def _notes(exc: BaseException) -> str:
    try:
        notes = BaseException.__getattribute__(exc, "__notes__")
    except Exception:  # noqa: BLE001 - there are none, or a property of somebody else's
        return ""
    if not isinstance(notes, list):
        return ""
    return "".join(f"{redact_cut(safe_str(note), MESSAGE)}\n" for note in notes[:_NOTES])
