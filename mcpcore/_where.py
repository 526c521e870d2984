"""Where a bad declaration stands: the file, the tool and the entry, found only when there is something to say."""

from __future__ import annotations

import ast
import linecache
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from types import CodeType, FrameType

_PACKAGE: Final = f"{Path(__file__).parent}{os.sep}"
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


def where_function(function: object, name: str, noun: str = "tool") -> str:
    """The file and line of a handler, and what it is: a tool, a resource or a prompt of that name."""
    code = getattr(function, "__code__", None)
    place = f"{code.co_filename}:{code.co_firstlineno}" if code is not None else _place(caller())
    return _join(place, f"{noun} {name!r}")


def where_declared(reason: object) -> str:
    """The file and line of a failure mode that is being made; the tool and the entry where the source shows them."""
    frame = caller()
    place = _place(frame)
    entry = f"FailureMode({reason!r})"
    if frame is None:  # pragma: no cover - something outside this package calls it
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
    """The tool whose decorator makes the failure mode that `frame` is at, and the entry's place in `errors`."""
    try:
        tree = ast.parse("".join(linecache.getlines(frame.f_code.co_filename, frame.f_globals)))
    except (SyntaxError, ValueError, RecursionError):
        return None, None
    at = _position(frame.f_code, frame.f_lasti) or (frame.f_lineno, 0)
    for node in ast.walk(tree):
        if isinstance(node, _DefNode):
            for decorator in node.decorator_list:
                if _spans(decorator, at):
                    return _tool_name(node, decorator), _entry_index(decorator, at)
    return None, None


def _position(code: CodeType, instruction: int) -> tuple[int, int] | None:
    """The line and column of the call that runs at `instruction`; None where the code was compiled without."""
    for index, (line, _, column, _) in enumerate(code.co_positions()):
        if index == instruction // 2:
            return None if line is None or column is None else (line, column)
    return None  # pragma: no cover - every instruction has an entry, if an empty one


def _spans(node: ast.expr, at: tuple[int, int]) -> bool:
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return (node.lineno, node.col_offset) <= at < (node.end_lineno, node.end_col_offset)


def _tool_name(node: _DefNode, decorator: ast.expr) -> str:
    named = _keyword(decorator, "name")
    return str(named.value) if isinstance(named, ast.Constant) else node.name


def _entry_index(decorator: ast.expr, at: tuple[int, int]) -> int | None:
    errors = _keyword(decorator, "errors")
    entries = errors.elts if isinstance(errors, ast.List | ast.Tuple) else []
    return next((index for index, entry in enumerate(entries) if _spans(entry, at)), None)


def _keyword(decorator: ast.expr, name: str) -> ast.expr | None:
    keywords = decorator.keywords if isinstance(decorator, ast.Call) else []
    return next((keyword.value for keyword in keywords if keyword.arg == name), None)
