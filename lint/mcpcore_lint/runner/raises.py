"""The places that raise the reasons of handlers, for reports of other tools."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator

from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.model import ToolDef, strings
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._thrown import all_thrown
from mcpcore_lint.runner.checker import Checker, FileState
from mcpcore_lint.settings import Settings

Place = tuple[str, int]
"""An absolute path and a line."""


class _Nothing(Rule):
    """Reports nothing; a `RuleContext` needs a rule. To load all rules would take longer than to search a file."""


def places_of_reasons(paths: Iterable[str], root: str) -> dict[Place, dict[str, list[Place]]]:
    """The places that raise each reason, by the place of the handler: its file, and its first line with decorators.

    The files are parsed and never imported. A reason that no known code raises is left out, and so is a file that
    cannot be read.

    Args:
        paths: The files with the handlers.
        root: The folder of the project, whose functions are followed.
    """
    base = os.path.abspath(root)
    files = [os.path.abspath(path) for path in paths]
    checker = Checker(base, Settings(), files=frozenset(files), rules=())
    places: dict[Place, dict[str, list[Place]]] = {}
    for path in files:
        try:
            module = checker.project.read(path)
            state = FileState(checker, module, checker.find_tools(module))
            context = RuleContext(state, _Nothing())
            for tool in state.tools:
                node = tool.handler.node
                starts = [node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))]
                of_handler = places.setdefault((tool.handler.module.absolute, min(starts)), {})
                for reason, place in _raised(tool, context, base):
                    if place not in of_handler.setdefault(reason, []):
                        of_handler[reason].append(place)
                for reason, lines in _in_helpers(module, state.tools).items():
                    of_handler.setdefault(reason, [(module.absolute, line) for line in lines])
        except Exception:  # noqa: BLE001, S112 - the report is complete without these places
            continue
    return places


def _raised(tool: ToolDef, context: RuleContext, root: str) -> Iterator[tuple[str, Place]]:
    for thrown in all_thrown(tool, context, named=True):
        if thrown.reached is not None:
            place = (os.path.join(root, thrown.reached.site.path), thrown.reached.site.span.line)
        elif thrown.error is not None:
            place = (thrown.error.module.absolute, thrown.error.node.lineno)
        else:
            continue
        for reason in thrown.reasons or ():
            yield reason, place
    for named in tool.handler.named_reasons:
        if named.method == "guard":
            for reason in strings(named.reason) or ():
                yield reason, (tool.handler.module.absolute, named.node.lineno)


def _in_helpers(module: Module, tools: Iterable[ToolDef]) -> dict[str, list[int]]:
    """The lines with `….fail("reason")` outside of handlers, by reason.

    The linter does not follow a context into a helper whose parameter has no type.
    """
    handlers = [tool.handler.node for tool in tools if tool.handler.module is module]
    inside = {id(node) for handler in handlers for node in ast.walk(handler)}
    lines: dict[str, list[int]] = {}
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", None) == "fail" and id(node) not in inside:
            reason = getattr(node.args[0], "value", None) if node.args else None
            if isinstance(reason, str):
                lines.setdefault(reason, []).append(node.lineno)
    return lines
