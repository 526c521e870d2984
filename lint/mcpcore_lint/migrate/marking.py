"""Failures of low-level servers that clients take for results, or cannot read: they become results marked as errors."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final, NamedTuple

from mcpcore_lint.codemods import edits as codemods
from mcpcore_lint.diagnostics import Edit
from mcpcore_lint.frameworks import is_of_version_2
from mcpcore_lint.migrate.body import Body
from mcpcore_lint.migrate.contracts import Names
from mcpcore_lint.migrate.failures.raises import raised
from mcpcore_lint.migrate.failures.returns import RESULT, returned
from mcpcore_lint.migrate.following import Asserted
from mcpcore_lint.migrate.messages import is_text
from mcpcore_lint.migrate.model import Left, Place
from mcpcore_lint.model import string

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcpcore_lint.engine.semantics.hierarchy import Hierarchy
    from mcpcore_lint.engine.syntax.module import Module
    from mcpcore_lint.migrate.callers import Callers
    from mcpcore_lint.model import Handler, ToolDef

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
        self._typed: set[ast.AST] = set()
        self._marks: dict[Module, Marks] = {}

    def mark(self, tool: ToolDef) -> None:
        """Mark the failures of a dispatcher."""
        passed: dict[ast.AST, tuple[Handler, list[tuple[Module, ast.Call]]]] = {}
        for entry in tool.serves:
            if entry.handler is not None and entry.call is not None:
                passed.setdefault(entry.handler.node, (entry.handler, []))[1].append((entry.inside.module, entry.call))
        passed.pop(tool.handler.node, None)
        names = [name for entry in tool.serves if (name := string(entry.name)) is not None]
        is_new = is_of_version_2(tool)
        changed = self._function(tool.handler, names, is_passed=not is_new, raises=is_new)
        for handler, calls in passed.values():
            is_passed = not is_new and all(self._callers.only_returned(*call) for call in calls)
            changed = self._function(handler, names, is_passed=is_passed) or changed
        if changed:
            self._annotate(tool.handler)

    def _function(self, handler: Handler, names: Sequence[str], *, is_passed: bool, raises: bool = False) -> bool:
        """Mark the failures of one function; whether it returns results now instead of their contents.

        Args:
            handler: The function.
            names: The names of the tools.
            is_passed: Whether what it returns is the answer as it is, so that it may be a result of version 2.
            raises: Whether clients cannot read the texts of the exceptions that leave it.
        """
        node, module = handler.node, handler.module
        if isinstance(node, ast.Lambda):
            return False
        body = Body(node, module, "_".join([handler.name, *names]), self._hierarchy)
        marks = self._marks.setdefault(module, Marks([], [], []))
        names_of = self._names.setdefault(module, Names(module))
        expected, changed = self._callers.asserted.get(node, Asserted()), False
        for place, value in _returned(body):
            text = module.source.segment(value)
            if place.rule not in self._rules:
                continue
            if isinstance(value, ast.Call) and _is_result(value, body):
                marked = [keyword for keyword in value.keywords if keyword.arg in {"isError", "is_error"}]
                marks.edits.append(
                    Edit(*module.source.node_range(marked[0].value), "True")
                    if marked
                    else codemods.add_argument(module, value, _MARK)
                )
            else:
                why = (_SUCCESS, _RETURN) if not is_passed else self._callers.objection(handler, place)
                if why is None and expected.returned:
                    why = _SUCCESS, f"{_RETURN}, and change {expected.returned}"
                if why is not None:
                    marks.left.append(Left(module.path, place.node.lineno, (handler.name,), *why))
                    continue
                content = text if isinstance(value, ast.List) else f"[{text}]"
                result = names_of.spell("mcp.types", "CallToolResult")
                new = f"{result}(content={content}, {_MARK})"
                marks.edits.append(Edit(*module.source.node_range(value), new))
                changed = True
            marks.converted.append((place.rule, place.node.lineno, handler.name))
        for place in _raised(body) if raises else ():
            kind = place.raised.removeprefix("builtins.")
            if kind not in expected.raised and place.rule in self._rules and place.message is not None:
                text = module.source.segment(place.message)
                text = text if is_text(place.message, body.scope) else f"str({text})"
                result, block = (names_of.spell("mcp.types", name) for name in ("CallToolResult", "TextContent"))
                new = f'return {result}(content=[{block}(type="text", text={text})], {_MARK})'
                marks.edits.append(Edit(*module.source.node_range(place.node), new))
                marks.converted.append((place.rule, place.node.lineno, handler.name))
        if changed:
            self._annotate(handler)
        return changed

    def _annotate(self, handler: Handler) -> None:
        """Let the annotation of a function say that it may return a result."""
        node, module = handler.node, handler.module
        said = "" if isinstance(node, ast.Lambda) or node.returns is None else ast.unparse(node.returns)
        if said and node not in self._typed and "CallToolResult" not in said and not said.endswith("Any"):
            assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
            assert node.returns is not None
            end = module.source.node_range(node.returns)[1] - isinstance(node.returns, ast.Constant)
            marks = self._marks.setdefault(module, Marks([], [], []))
            result = self._names.setdefault(module, Names(module)).spell("mcp.types", "CallToolResult")
            marks.edits.append(Edit(end, end, f" | {result}"))
        self._typed.add(node)

    def marks(self) -> Iterator[tuple[str, Marks]]:
        """What changes, by the absolute path of the file, with the imports that the edits need."""
        for module, marks in self._marks.items():
            names = self._names[module]
            yield module.absolute, marks._replace(edits=[*marks.edits, *names.edits(names.spelled)])


def _is_result(value: ast.Call, body: Body) -> bool:
    symbol = body.symbol(value.func)
    return symbol is not None and symbol.name == RESULT


def _returned(body: Body) -> Iterator[tuple[Place, ast.expr]]:
    """The contents and the results that are failures, and that nothing marks."""
    for node in body.nodes:
        value = content = node.value if isinstance(node, ast.Return) else None
        match value:
            case ast.Call(args=[], keywords=keywords) if _is_result(value, body):
                options = {keyword.arg: keyword.value for keyword in keywords}
                marked = options.get("isError") or options.get("is_error") or ast.Constant(False)  # noqa: FBT003
                is_marked = not (isinstance(marked, ast.Constant) and marked.value is False)
                content = None if is_marked else options.get("content")
            case ast.Call() if getattr(body.symbol(value.func), "name", "") != "mcp.TextContent":
                content = None
            case ast.Call() | ast.List(elts=[_]):
                pass
            case _:
                content = None
        if isinstance(node, ast.Return) and content is not None and value is not None:
            place = returned(node, body, content)
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
