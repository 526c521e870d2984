"""Where a bad declaration stands: the file, the tool and the entry, found only when there is something to say."""

from __future__ import annotations

import ast
import inspect
import linecache
import os
import sys
from pathlib import Path
from types import FrameType
from typing import Final

# The separator keeps out packages whose names begin alike, such as `mcpcore_lint`.
_PACKAGE: Final = f"{Path(__file__).parent.parent}{os.sep}"


def caller() -> FrameType | None:
    """The innermost frame outside this package: the line that declares something."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - the documented way to a frame
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
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
    """The file and line of a failure mode that is being made; the tool and the entry where the source shows them."""
    frame = caller()
    tool, entry = (None, None) if frame is None else _tool_and_entry(frame)
    return _join(_place(frame), tool, ", ".join(filter(None, [entry, f"FailureMode({reason!r})"])))


def _tool_and_entry(frame: FrameType) -> tuple[str | None, str | None]:
    """The tool whose decorator lists the failure mode that `frame` makes now, and its place in `errors`."""
    position = inspect.getframeinfo(frame, context=0).positions
    try:
        # Given the globals, `linecache` also finds the source of a module in an archive.
        tree = ast.parse("".join(linecache.getlines(frame.f_code.co_filename, frame.f_globals)))
    except (SyntaxError, ValueError, RecursionError):
        return None, None
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    decorators = [(function, decorator) for function in functions for decorator in function.decorator_list]
    for function, decorator in decorators:
        keywords = {keyword.arg: keyword.value for keyword in getattr(decorator, "keywords", [])}
        for index, entry in enumerate(getattr(keywords.get("errors"), "elts", [])):
            # Python knows no columns under `-X no_debug_ranges`; then no entry is named.
            if position and (entry.lineno, entry.col_offset) == (position.lineno, position.col_offset):
                named = keywords.get("name")
                name = named.value if isinstance(named, ast.Constant) else function.name
                return f"tool {name!r}", f"errors[{index}]"
    return None, None


def _place(frame: FrameType | None) -> str:
    return "<unknown>" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


def _join(*parts: str | None) -> str:
    return ": ".join(part for part in parts if part)
