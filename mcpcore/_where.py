"""Where a bad declaration stands: the file, the tool and the entry, found only when there is something to say."""

from __future__ import annotations

import ast
import linecache
import os
import sys
from types import FrameType
from typing import Final

_PACKAGE: Final = os.path.dirname(os.path.abspath(__file__)) + os.sep
_DefNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def caller() -> FrameType | None:
    """The innermost frame outside this package: the line that declares something."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - the documented way to a frame
    while frame is not None and _inside(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def where_used(tool: str | None) -> str:
    """The file and line that declare the tool now, and its name."""
    return _join(_place(caller()), None if tool is None else f"tool {tool!r}")


def where_function(function: object, tool: str) -> str:
    """The file and line of a handler, and the name of its tool."""
    code = getattr(function, "__code__", None)
    place = f"{code.co_filename}:{code.co_firstlineno}" if code is not None else _place(caller())
    return _join(place, f"tool {tool!r}")


def where_declared(reason: object) -> str:
    """The file and line of a failure mode that is being made, with the tool and the entry where the source shows them."""
    frame = caller()
    place = _place(frame)
    entry = f"FailureMode({reason!r})"
    if frame is None:
        return _join(place, entry)
    tool, index = _enclosing_tool(frame)
    if index is not None:
        entry = f"errors[{index}], {entry}"
    return _join(place, None if tool is None else f"tool {tool!r}", entry)


def _inside(filename: str) -> bool:
    return filename.startswith(_PACKAGE)


def _place(frame: FrameType | None) -> str:
    return "<unknown>" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


def _join(*parts: str | None) -> str:
    return ": ".join(part for part in parts if part)


def _enclosing_tool(frame: FrameType) -> tuple[str | None, int | None]:
    """The tool whose decorator spans the line that `frame` is at, and the entry's place in the list there."""
    try:
        tree = ast.parse("".join(linecache.getlines(frame.f_code.co_filename, frame.f_globals)))
    except (SyntaxError, ValueError, RecursionError):
        return None, None
    line = frame.f_lineno
    for node in ast.walk(tree):
        if not isinstance(node, _DefNode):
            continue
        for decorator in node.decorator_list:
            if decorator.lineno <= line <= (decorator.end_lineno or decorator.lineno):
                return _tool_name(node, decorator), _entry_index(decorator, line)
    return None, None


def _tool_name(node: _DefNode, decorator: ast.expr) -> str:
    if isinstance(decorator, ast.Call):
        for keyword in decorator.keywords:
            if keyword.arg == "name" and isinstance(keyword.value, ast.Constant):
                return str(keyword.value.value)
    return node.name


def _entry_index(decorator: ast.expr, line: int) -> int | None:
    for node in ast.walk(decorator):
        if isinstance(node, ast.List | ast.Tuple):
            for index, element in enumerate(node.elts):
                if element.lineno <= line <= (element.end_lineno or element.lineno):
                    return index
    return None
