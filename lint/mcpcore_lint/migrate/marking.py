"""Failures of low-level servers that clients take for results, or cannot read: they become results marked as errors."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from mcpcore_lint.codemods import edits as codemods
from mcpcore_lint.diagnostics import Edit
from mcpcore_lint.engine.semantics.hierarchy import Hierarchy
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.frameworks import is_of_version_2
from mcpcore_lint.migrate.body import Body
from mcpcore_lint.migrate.callers import Callers
from mcpcore_lint.migrate.contracts import Names
from mcpcore_lint.migrate.failures.raises import raised
from mcpcore_lint.migrate.failures.returns import CONTENT, RESULT, returned
from mcpcore_lint.migrate.following import Asserted
from mcpcore_lint.migrate.messages import is_text
from mcpcore_lint.migrate.model import Left, Place
from mcpcore_lint.model import Handler, ToolDef, string

_MARK: Final = "is_error=True"
_SUCCESS: Final = "a failure is returned as a success"
_RETURN: Final = "return CallToolResult(content=..., is_error=True)"


class Marks(NamedTuple):
    """What changes in one file."""

    edits: list[Edit]
    left: list[Left]
    converted: list[tuple[str, int, str]]
    """The rule, the line and the function of each place."""


class Marker:
    """Marks the failures of the dispatchers of a project, and of the functions to which they pass the calls."""

    def __init__(self, callers: Callers, hierarchy: Hierarchy, rules: frozenset[str]) -> None:
        self._callers = callers
        self._hierarchy = hierarchy
        self._rules = rules
        self._names: dict[Module, Names] = {}
        self._marks: dict[Module, Marks] = {}
        self._changed: dict[ast.AST, bool] = {}
        """The functions that were looked at, and whether they return results now instead of their contents."""

    def mark(self, tool: ToolDef) -> None:
        """Mark the failures of a dispatcher, and of the functions to which it passes the calls."""
        is_new = is_of_version_2(tool)
        names = [name for entry in tool.serves if (name := string(entry.name)) is not None]
        calls = [(entry.handler, entry.inside.module, entry.call) for entry in tool.serves]
        self._function(tool.handler, names, is_passed=not is_new, raises=is_new)
        for handler in [handler for handler, *_ in calls if handler is not None]:
            own = [(module, call) for other, module, call in calls if other is handler and call is not None]
            is_passed = not is_new and all(self._callers.only_returned(*call) for call in own)
            self._function(handler, names, is_passed=is_passed)
            if self._changed.get(handler.node):
                self._annotate(tool.handler)

    def _function(self, handler: Handler, names: Sequence[str], *, is_passed: bool, raises: bool = False) -> None:
        """Mark the failures of one function.

        Args:
            handler: The function.
            names: The names of the tools.
            is_passed: Whether what it returns is the answer as it is, so that it may be a result of version 2.
            raises: Whether clients cannot read the texts of the exceptions that leave it.
        """
        node, module = handler.node, handler.module
        if isinstance(node, ast.Lambda) or node in self._changed:
            return
        self._changed[node] = False
        body = Body(node, module, "_".join([handler.name, *names]), self._hierarchy)
        marks = self._marks.setdefault(module, Marks([], [], []))
        spell = self._names.setdefault(module, Names(module)).spell
        segment, range_of = module.source.segment, module.source.node_range
        expected = self._callers.asserted.get(node, Asserted())
        for place, value in _returned(body):
            if place.rule not in self._rules:
                continue
            if isinstance(value, ast.Call) and _is_result(value, body):
                marked = [keyword.value for keyword in value.keywords if keyword.arg in {"isError", "is_error"}]
                add = codemods.add_argument
                marks.edits.append(Edit(*range_of(marked[0]), "True") if marked else add(module, value, _MARK))
            elif not is_passed or expected.returned or self._callers.objection(handler, place) is not None:
                decide = f"{_RETURN}{f', and change {expected.returned}' if expected.returned else ''}"
                marks.left.append(Left(module.path, place.node.lineno, (handler.name,), _SUCCESS, decide))
                continue
            else:
                content = segment(value) if isinstance(value, ast.List) else f"[{segment(value)}]"
                new = f"{spell('mcp.types', 'CallToolResult')}(content={content}, {_MARK})"
                marks.edits.append(Edit(*range_of(value), new))
                self._annotate(handler)
                self._changed[node] = True
            marks.converted.append((place.rule, place.node.lineno, handler.name))
        for place in _raised(body) if raises else ():
            kind = place.raised.removeprefix("builtins.")
            if kind not in expected.raised and place.rule in self._rules and place.message is not None:
                text = segment(place.message)
                text = text if is_text(place.message, body.scope) else f"str({text})"
                result, block = (spell("mcp.types", name) for name in ("CallToolResult", "TextContent"))
                new = f'return {result}(content=[{block}(type="text", text={text})], {_MARK})'
                marks.edits.append(Edit(*range_of(place.node), new))
                marks.converted.append((place.rule, place.node.lineno, handler.name))

    def _annotate(self, handler: Handler) -> None:
        """Let the annotation of a function say that it may return a result."""
        module, returns = handler.module, getattr(handler.node, "returns", None)
        if returns is not None and not re.search(r"CallToolResult|\bAny$", ast.unparse(returns)):
            end = module.source.node_range(returns)[1] - isinstance(returns, ast.Constant)
            edit = Edit(end, end, f" | {self._names[module].spell('mcp.types', 'CallToolResult')}")
            self._marks[module].edits.extend([edit] * (edit not in self._marks[module].edits))

    def marks(self) -> Iterator[tuple[str, Marks]]:
        """What changes, by the absolute path of the file, with the imports that the edits need."""
        for module, marks in self._marks.items():
            names = self._names[module]
            yield module.absolute, marks._replace(edits=[*marks.edits, *names.edits(names.spelled)])


def _name(call: ast.Call, body: Body) -> str:
    return getattr(body.symbol(call.func), "name", "")


def _is_result(value: ast.Call, body: Body) -> bool:
    return _name(value, body) == RESULT


def _returned(body: Body) -> Iterator[tuple[Place, ast.expr]]:
    """The contents and the results that are failures, and that nothing marks."""
    for node in (node for node in body.nodes if isinstance(node, ast.Return)):
        value = content = node.value
        if isinstance(value, ast.Call) and _is_result(value, body):
            options = {keyword.arg: keyword.value for keyword in value.keywords}
            marked = options.get("isError") or options.get("is_error")
            content = options.get("content") if marked is None or getattr(marked, "value", None) is False else None
        if isinstance(content, (ast.Call, ast.List)) and value is not None:
            block = content.elts[0] if isinstance(content, ast.List) and content.elts else content
            place = (
                returned(node, body, content) if isinstance(block, ast.Call) and _name(block, body) == CONTENT else None
            )
            if isinstance(place, Place):
                yield place, value


def _raised(body: Body) -> Iterator[Place]:
    """The exceptions that leave a function, and that nothing around them sees."""
    for node in body.nodes:
        place = raised(node, body) if isinstance(node, ast.Raise) else None
        if (
            isinstance(place, Place)
            and place.raised.startswith("builtins.")
            and not (body.withs(place.node) or any(part.handlers for part in body.tries(place.node)))
            and not codemods.has_comment(body.module.source.segment(place.node))
        ):
            yield place
