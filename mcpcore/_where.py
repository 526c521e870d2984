"""Where a bad declaration stands: the file, the line and the name, found only when there is something to say."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from types import FrameType

_PACKAGE: Final = f"{Path(__file__).parent}{os.sep}"


def caller() -> FrameType | None:
    """The innermost frame outside this package: the line that declares something."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - the documented way to a frame
    while frame is not None and _inside(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def where_used(tool: str | None) -> str:
    """The file and line that declare the tool now, and its name."""
    return _join(_place(caller()), None if tool is None else f"tool {tool!r}")


def where_function(function: object, name: str, noun: str = "tool") -> str:
    """The file and line of a handler, and what it is: a tool, a resource or a prompt of that name."""
    code = getattr(function, "__code__", None)
    place = f"{code.co_filename}:{code.co_firstlineno}" if code is not None else _place(caller())
    return _join(place, f"{noun} {name!r}")


def where_declared(reason: object) -> str:
    """The file and line of a failure mode that is being made, and its reason."""
    return _join(_place(caller()), f"FailureMode({reason!r})")


def _inside(filename: str) -> bool:
    return filename.startswith(_PACKAGE)


def _place(frame: FrameType | None) -> str:
    return "<unknown>" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


def _join(*parts: str | None) -> str:
    return ": ".join(part for part in parts if part)
