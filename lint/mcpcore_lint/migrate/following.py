"""Tests that call a converted tool follow with `pytest.raises`; what a test reads of a returned failure stays."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Final, NamedTuple

from mcpcore_lint.diagnostics import Edit
from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.parse import walk
from mcpcore_lint.engine.syntax.scopes import Scope
from mcpcore_lint.migrate.contracts import Names
from mcpcore_lint.migrate.messages import constant_text, pieces
from mcpcore_lint.migrate.model import Place
from mcpcore_lint.model import Symbol
from mcpcore_lint.records import in_test_file

_FAILURE: Final = ("mcpcore", "CodedError")
# A test that may be about a failure. A tool that it calls through the server keeps what it returns.
_FAILS: Final = re.compile(r"error|exception|fail|reject|invalid|missing", re.IGNORECASE)
_TAKEN: Final = re.compile(r"\btool\.fn\b|_tool_manager\b.*\.fn\b")
_UNWRAPPED: Final = re.compile(r"(?:unwrap|signature|get_type_hints)\((?:\w+\.)*(\w+)[,)]|\b(\w+)\.__wrapped__\b")
_FIRST: Final = re.compile(r"[\"'\s]*(?:\.[*+]|[|\[({^$]).*")
"""What a pattern says behind its first words."""


def follow(
    module: Module, converted: Mapping[ast.AST, Sequence[tuple[Place, Scope]]], whole: Collection[ast.AST]
) -> list[Edit]:
    """The edits of a file of tests that expect an exception of a tool.

    Args:
        module: The file.
        converted: The failures of the tools that are converted, by the function of the tool.
        whole: The functions of the tools that return no other failure.
    """
    edits: list[Edit] = []
    names = Names(module)
    by_name: dict[str, list[ast.AST]] = {}
    for node in converted:
        by_name.setdefault(getattr(node, "name", ""), []).append(node)
    for call, scope in module.calls_near(*{f"{name}(" for name in by_name}):
        symbol = evaluate(call.func, scope) if isinstance(call.func, (ast.Name, ast.Attribute)) else None
        places = converted.get(symbol.definition, ()) if isinstance(symbol, Symbol) and symbol.definition else ()
        unknown = isinstance(call.func, ast.Attribute) and not isinstance(symbol, Symbol)
        same = by_name.get(getattr(call.func, "attr", ""), []) if unknown else []
        if len(same) == 1:
            # A method of an object that a fixture makes, by its name and by what it raises.
            places = [place for place in converted[same[0]] if place[0].raised]
        block = module.parents.get(call)
        while places and block is not None and not isinstance(block, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for item in block.items if isinstance(block, (ast.With, ast.AsyncWith)) else ():
                kind, certain = _expected(item.context_expr, call, places, scope)
                if kind is not None:
                    failure = names.spell(*_FAILURE)
                    certain = certain or getattr(symbol, "definition", None) in whole
                    text = failure if certain else f"({module.source.segment(kind)}, {failure})"
                    edits.append(Edit(*module.source.node_range(kind), text))
            block = module.parents.get(block)
    return [*edits, *names.edits({_FAILURE})] if edits else []


class Asserted(NamedTuple):
    """What tests expect of the failures of a tool.

    Attributes:
        returned: Where a test reads one that the tool returns; empty if none does.
        raised: The classes that tests expect, as they are written.
        unwraps: Whether a test calls or inspects the function below its decorators, where nothing passes it a context.
        matched: What tests expect that the text of an exception says.
    """

    returned: str = ""
    raised: frozenset[str] = frozenset()
    unwraps: bool = False
    matched: frozenset[str] = frozenset()


def asserted(module: Module, handlers: Collection[ast.AST], known: dict[ast.AST, Asserted]) -> None:
    """Add what a file of tests expects of the failures of tools, by their functions."""
    by_name: dict[str, list[ast.AST]] = {}
    for node in handlers:
        by_name.setdefault(getattr(node, "name", ""), []).append(node)
    # The functions that the SDK keeps of the tools, which it could not call for a tool with a contract.
    takes = (
        module.source.has("fn") and _TAKEN.search(module.source.text) is not None and not module.source.has("fastmcp")
    )
    for name in filter(None, [*sum(_UNWRAPPED.findall(module.source.text), ()), *(by_name if takes else ())]):
        known.update((node, known.get(node, Asserted())._replace(unwraps=True)) for node in by_name.get(name, ()))
    nodes = cache(lambda block: [*walk([block])])
    for call, scope in module.calls_near("call_tool(", *{f"{name}(" for name in by_name}):
        called = getattr(call.func, "attr", getattr(call.func, "id", ""))
        symbol = evaluate(call.func, scope) if isinstance(call.func, (ast.Name, ast.Attribute)) else None
        if by_string := called == "call_tool" and bool(call.args) and isinstance(call.args[0], ast.Constant):
            called = getattr(call.args[0], "value", "")
        # Any method of that name may be one of an object that is not known.
        tools = [] if isinstance(symbol, Symbol) else by_name.get(called, [])
        if isinstance(symbol, Symbol) and symbol.definition is not None and symbol.definition in handlers:
            tools = [symbol.definition]
        if not tools:
            continue
        block = scope.node
        # If no name keeps the result, only its own statement reads it.
        kept = any(isinstance(part, ast.Assign) and call in walk([part]) for part in nodes(block))
        tests = [*filter(None, map(_asserted, nodes(block)))]
        tests = [test for test in tests if kept or f"{called}(" in test]
        withs = [part for part in nodes(block) if isinstance(part, (ast.With, ast.AsyncWith))]
        expected = {
            ast.unparse(item.context_expr.args[0])
            for part in withs
            for item in part.items
            if isinstance(item.context_expr, ast.Call) and item.context_expr.args and call in walk([part])
        }
        patterns = (
            _first_words(option.value)
            for part in withs
            for item in part.items
            for option in getattr(item.context_expr, "keywords", ())
            if option.arg == "match"
        )
        code = ast.unparse(block)
        # A double that raises makes the tool fail.
        reads = bool(_FAILS.search(code if by_string else " ".join(tests)) or (tests and "side_effect" in code))
        matched = {*patterns}
        for tool in tools:
            before = known.get(tool, Asserted())
            known[tool] = before._replace(
                returned=before.returned or (f"{module.path}:{call.lineno}" if reads and not expected else ""),
                raised=before.raised | expected,
                matched=before.matched | matched,
            )


def _asserted(node: ast.AST) -> str:
    """What an `assert` or an assertion of unittest tests, as code; empty for other nodes."""
    match node:
        case ast.Assert(test=test):
            return ast.unparse(test)
        case ast.Call(func=ast.Attribute(attr=name)) if name.startswith("assert"):
            return ast.unparse(node)
    return ""


def _first_words(pattern: ast.expr | None) -> str:
    return _FIRST.split(str(pattern.value).replace("\\", ""))[0] if isinstance(pattern, ast.Constant) else ""


def _expected(
    node: ast.expr, call: ast.Call, places: Sequence[tuple[Place, Scope]], scope: Scope
) -> tuple[ast.expr | None, bool]:
    """The class in `pytest.raises(...)` if the tool raised it, and whether its text is certainly the one expected."""
    match node:
        case ast.Call(func=func, args=[kind], keywords=options) if ast.unparse(func) in {"pytest.raises", "raises"}:
            named = evaluate(kind, scope)
            expected = _first_words(next((option.value for option in options if option.arg == "match"), None))
            said = [
                constant_text(pieces(place.message, own))
                for place, own in places
                if isinstance(named, Symbol) and place.raised == named.name
            ]
            certain = any(expected in message for message in said)
            # The test may expect an argument that the message shows.
            values = [str(part.value) for part in walk([call]) if isinstance(part, ast.Constant)]
            if certain or (
                any(len(value) > 1 and value in expected for value in values)
                and any("\N{HORIZONTAL ELLIPSIS}" in message for message in said)
            ):
                return kind, certain and expected != ""
    return None, False


def is_test(module: Module) -> bool:
    """Whether a file is one of tests. A source file may be called `test_runs.py`."""
    return in_test_file(module.path, module.source.text, scripts=False)
