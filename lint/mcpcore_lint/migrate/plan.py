"""Plans what changes in one file with tools: the failures, the contracts, the constants and the imports."""

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from mcpcore_lint.codemods import edits as codemods
from mcpcore_lint.codemods.rewrite import Rewriter
from mcpcore_lint.diagnostics import Edit, Fix, grouped
from mcpcore_lint.engine.semantics.hierarchy import Hierarchy
from mcpcore_lint.engine.semantics.type_model import definition_of
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.scopes import Scope
from mcpcore_lint.migrate.callers import Callers, Helpers
from mcpcore_lint.migrate.contracts import Names, Writer, above, constants_of, joined
from mcpcore_lint.migrate.conversion import Conversion
from mcpcore_lint.migrate.model import Entry, Left, Place
from mcpcore_lint.model import ToolDef
from mcpcore_lint.reach import Reach

_USES: Final = {
    ("mcpcore", "FailureMode"),
    ("mcpcore", "ErrorCode"),
    ("mcpcore", "TODO"),
}

_MANY: Final = 4
"""Tools raise their failures although one of so many in their file goes on to return its own."""


class FilePlan(NamedTuple):
    """What changes in one file, and what is left in it."""

    edits: tuple[Edit, ...]
    left: tuple[Left, ...]
    converted: tuple[tuple[str, int, str], ...]
    """The rule, the line and the tool of each place that is converted."""
    removed: tuple[Left, ...]
    """The clauses that are removed, or raise again."""
    failures: Mapping[ast.AST, Sequence[tuple[Place, Scope]]] = {}
    """The failures that are converted, by the function of the tool, each with the scope of its names."""
    whole: frozenset[ast.AST] = frozenset()
    """The functions of the tools of which nothing else is left."""


def plan_tools(
    module: Module,
    tools: Sequence[ToolDef],
    rules: frozenset[str],
    callers: Callers,
    helpers: Helpers,
    hierarchy: Hierarchy,
) -> FilePlan:
    """Plan the conversion of the tools whose functions are in one file."""
    conversions = _conversions(tools, hierarchy)
    for conversion in conversions:
        conversion.read(rules, callers, helpers)
    returning = [
        item for item in conversions if item.stays or item.catch_alls or any(not at.raised for at in item.places)
    ]
    few = _MANY * sum(item.stays for item in conversions) <= len(returning)
    for conversion in conversions if not few else ():
        conversion.decide(stays=True, own=conversion.stays)
    _inherit(conversions)
    plan = _plan(module, conversions, Names(module))
    return plan._replace(whole=plan.whole - _passing(conversions, callers)) if callers.asserted else plan


def _passing(conversions: Sequence[Conversion], callers: Callers) -> set[ast.AST]:
    """The functions of tools that change and pass on an exception of another function."""
    changing = [item for item in conversions if item.places or item.catch_alls]
    return {item.body.node for item in changing if item.lines_of(callers.reach(item.tools[0]))}


def lines_of(tools: Sequence[ToolDef], reach: Callable[[ToolDef], Reach], hierarchy: Hierarchy) -> list[Left]:
    """The lines about the exceptions of other functions that leave the tools whose functions are in one file."""
    return [line for item in _conversions(tools, hierarchy) for line in item.lines_of(reach(item.tools[0]))]


def _conversions(tools: Sequence[ToolDef], hierarchy: Hierarchy) -> list[Conversion]:
    named = (tool for tool in tools if not isinstance(tool.handler.node, ast.Lambda))
    by_function = grouped(named, lambda tool: tool.handler.node)
    return [Conversion(group, hierarchy) for group in by_function.values()]


def _plan(
    module: Module,
    conversions: Sequence[Conversion],
    names: Names,
) -> FilePlan:
    writer = Writer(module, names)
    used: set[tuple[str, str]] = set()
    shared, made = constants_of(module, conversions)
    rewriter = Rewriter(module.path, module.source.text, module.tree)
    edits: set[Edit] = set()
    accepted = codemods.Compatible()
    converted: list[tuple[str, int, str]] = []
    left: list[Left] = []
    wanted: set[Entry] = set()
    removed: list[Left] = []
    failures: dict[ast.AST, list[tuple[Place, Scope]]] = {}
    for conversion in conversions:
        changes, gone = conversion.removals()
        new = rewriter.edits(Fix("", tuple(change for change in changes if change is not None)))
        if new and accepted.accept(new):
            edits.update(new)
            removed += gone
            failures[conversion.body.node] = [(catch.place, conversion.body.scope) for catch in conversion.catch_alls]
            continue  # the rest of the function waits for the next pass
        left += conversion.left
        if not (conversion.places or conversion.entries):
            continue
        # Only the names of this function count: if it is not changed, nothing is imported for it.
        names.spelled.clear()
        changes = conversion.changes(writer, shared)
        shields = [writer.shield(shield) for shield in conversion.shields]
        new = () if None in changes else rewriter.edits(Fix("", tuple(filter(None, changes))))
        if not new:
            pattern, decide = "the code is written in a way that cannot be changed safely", "convert it by hand"
            left += [conversion.body.left(failure.node, pattern, decide) for failure in conversion.places]
            continue
        if not accepted.accept(new):
            continue
        accepted.accept(shields)
        edits.update(new, shields)
        used |= names.spelled
        wanted.update(entry for entry in conversion.entries if entry in made)
        failures[conversion.body.node] = [(place, conversion.body.scope) for place in conversion.places]
        converted += [(place.rule, place.node.lineno, conversion.name) for place in conversion.places]
    constants = {name: entry for entry, name in made.items() if entry in wanted}
    inserts: list[Edit] = []
    if constants:
        place = above(module, [other.body.node for other in conversions if other.entries])
        text = "".join(writer.constant(name, entry) for name, entry in constants.items())
        inserts.append(Edit(place, place, text + writer.newline * 2))
        used |= _USES
    imports = names.edits(used)
    return FilePlan(
        joined([*imports, *inserts, *edits]), tuple(left), tuple(converted), tuple(removed), failures,
        frozenset(item.body.node for item in conversions if not any(not place.perhaps for place in item.left)),
    )  # fmt: skip


def _inherit(conversions: Sequence[Conversion]) -> None:
    """Give a tool that returns what another tool returns the entries of the other one."""
    by_node = {item.body.node: item for item in conversions}
    for conversion in conversions:
        if conversion.contract is not None or conversion.blocked:
            continue
        for node in conversion.body.nodes:
            value = node.value if isinstance(node, ast.Return) else None
            call = value.value if isinstance(value, ast.Await) else value
            definition = definition_of(call.func, conversion.body.scope) if isinstance(call, ast.Call) else None
            other = by_node.get(definition)  # type: ignore[call-overload]
            if other is None or other is conversion or other.contract is not None:
                continue
            known = {entry.reason for entry in conversion.entries}
            conversion.entries += [entry for entry in other.entries if entry.reason not in known]
