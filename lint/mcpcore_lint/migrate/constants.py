"""The entries that several tools of a file share, as constants, and where a file gets its new statements."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import Protocol

from mcpcore_lint.diagnostics import Edit
from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.parse import walk
from mcpcore_lint.migrate.model import Entry
from mcpcore_lint.migrate.sentences import blank
from mcpcore_lint.model import Symbol


class HasEntries(Protocol):
    """What the entries belong to: a tool that is converted."""

    entries: list[Entry]


def constants_of(module: Module, conversions: Sequence[HasEntries]) -> tuple[dict[Entry, str], dict[Entry, str]]:
    """The entries that are constants of the file, and those of them that are new, with their names.

    Entries with the same reason, code, sentence and advice become equal.

    Args:
        module: The file.
        conversions: What the entries belong to.
    """
    existing = _existing(module)
    first: dict[tuple[str, ...], Entry] = {}
    count: dict[Entry, int] = {}
    for conversion in conversions:
        conversion.entries = [
            first.setdefault((item.reason, item.code, blank(item.when), item.recovery), item)
            for item in conversion.entries
        ]
        for entry in conversion.entries:
            count[entry] = count.get(entry, 0) + 1
    shared: dict[Entry, str] = {}
    made: dict[Entry, str] = {}
    taken = {*module.scope.bindings} | {name for scope in module.functions.values() for name in scope.bindings}
    for entry, times in count.items():
        if (known := existing.get((entry.reason, entry.code, blank(entry.when)))) is not None:
            shared[entry] = known
        elif times > 1:
            name = entry.reason.upper()
            while name in taken:
                name += "_FAILURE"
            taken.add(name)
            shared[entry] = made[entry] = name
    return shared, made


def _existing(module: Module) -> dict[tuple[str, str, str], str]:
    constants: dict[tuple[str, str, str], str] = {}
    for name, bindings in module.scope.bindings.items():
        match bindings[0].value:
            case (
                ast.Call(args=[ast.Constant(value=str(reason)), ast.Attribute(attr=code), *_], keywords=options) as call
            ):
                symbol = evaluate(call.func, module.scope)
                said = next((option.value for option in options if option.arg == "when"), None)
                text = said.value if isinstance(said, ast.Constant) else None
                if len(bindings) == 1 and isinstance(symbol, Symbol) and symbol.name == "mcpcore.FailureMode":
                    constants[reason, code, blank(str(text))] = name
    return constants


def above(module: Module, nodes: Sequence[ast.AST]) -> int:
    """The offset above the first statement of the file that holds one of some functions, and above its comments."""
    source = module.source
    statement = next(part for part in module.tree.body if not set(nodes).isdisjoint(walk([part])))
    line: int = min([statement.lineno, *(decorator.lineno for decorator in getattr(statement, "decorator_list", ()))])
    while line > 1 and source.line(line - 1).startswith("#") and not source.line(line - 1).startswith("#!"):
        line -= 1
    return source.line_starts[line - 1]


def joined(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """All edits; several insertions at one place become one, in their order."""
    by_place: dict[int, list[Edit]] = {}
    for edit in edits:
        by_place.setdefault(edit.start, []).append(edit)
    joined: list[Edit] = []
    for place, group in by_place.items():
        inserted = "".join(edit.text for edit in group if edit.start == edit.end)
        replaced = [edit for edit in group if edit.start != edit.end]
        end, text = (replaced[0].end, replaced[0].text) if replaced else (place, "")
        joined.append(Edit(place, end, inserted + text))
    return tuple(joined)
