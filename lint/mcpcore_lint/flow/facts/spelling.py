"""The source spelling of calls and functions."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from mcpcore_lint.syntax.module import ClassInfo


TASKS: Final = frozenset({"create_task", "ensure_future"})
"""Functions that turn a coroutine into a task."""
FUTURES: Final = frozenset({"submit", "run_in_executor", "to_thread", "start_soon"})
"""Functions that run another function in a thread, a process or a task group."""


def spelled(node: ast.expr | None) -> str:
    """Return a callee as it is written, reduced to its names."""
    parts: list[str] = []
    current: ast.expr | None = node
    for _ in range(20):
        if isinstance(current, ast.Attribute):
            parts.append(current.attr)
            current = current.value
        elif isinstance(current, ast.Call):
            if parts:
                parts[-1] = parts[-1]
            parts.append("()")
            current = current.func
        elif isinstance(current, ast.Subscript):
            parts.append("[]")
            current = current.value
        elif isinstance(current, ast.Name):
            parts.append(current.id)
            break
        elif isinstance(current, ast.Await):
            current = current.value
        else:
            parts.append("...")
            break
    text = ""
    for part in reversed(parts):
        text += part if part in {"()", "[]"} else f".{part}" if text else part
    return text


def is_abstract(node: ast.FunctionDef | ast.AsyncFunctionDef, owner: ClassInfo) -> bool:
    """Whether a method has no body: it is abstract, or belongs to a protocol."""
    for decorator in node.decorator_list:
        if "abstract" in spelled(decorator):
            return True
    only: ast.stmt | None = None
    for statement in node.body:
        if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)):
            if only is not None:
                return False
            only = statement
    if only is None:
        return any("Protocol" in spelled(base) or "ABC" in spelled(base) for base in owner.node.bases)
    return isinstance(only, ast.Raise) and "NotImplementedError" in spelled(only.exc)


def holds(condition: str, node: ast.Call) -> bool:
    """Whether a call meets a condition: `if check` requires the argument, `unless exist_ok` forbids it."""
    word, _, name = condition.partition(" ")
    has_argument = False
    for keyword in node.keywords:
        if keyword.arg is None:
            return False
        if keyword.arg == name:
            has_argument = not (isinstance(keyword.value, ast.Constant) and not keyword.value.value)
    return has_argument is (word == "if")
