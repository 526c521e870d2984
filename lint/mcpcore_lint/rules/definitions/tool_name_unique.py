"""The rule tool-name-unique."""

from __future__ import annotations

import ast
from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

from mcpcore_lint.dataclasses import light
from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import CallValue, Const, Items, Missing, Symbol, string
from mcpcore_lint.rules.base import ProjectContext, Rule, RuleContext
from mcpcore_lint.rules.definitions._names import name_place
from mcpcore_lint.syntax.parse import walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcpcore_lint.model import ToolDef, Value
    from mcpcore_lint.records import ToolRecord
    from mcpcore_lint.rules.base import Family
    from mcpcore_lint.syntax.module import Module
    from mcpcore_lint.syntax.scopes import Scope


class ToolNameUnique(Rule):
    """Two tools of one name."""

    id = "tool-name-unique"
    severity = Severity.ERROR
    family: ClassVar[Family] = "definitions"
    summary = "two tools of one server with one name"
    why = "A name means one tool. Of two, servers keep the first or the last, with a line in the log at most."
    bad = '@server.tool()\ndef fetch(id: str) -> str: ...\n\n@server.tool(name="fetch")\ndef fetch_all() -> str: ...'
    good = (
        '@server.tool()\ndef fetch(id: str) -> str: ...\n\n@server.tool(name="fetch_all")\ndef fetch_all() -> str: ...'
    )
    how_to_fix = "Rename one of them."
    when_to_suppress = "When only one of them is ever registered, in a way that the linter does not see."

    def check_file(self, module: Module, ctx: RuleContext) -> None:
        """Compare what one file registers; it shows which of two registrations are alternatives."""
        places: dict[tuple[str, str], list[_Registered]] = defaultdict(list)
        for each in (*_registered(ctx), *_listed(module, ctx)):
            places[each.server, each.name].append(each)
        for (server, name), found in places.items():
            if len(found) < 2 or _takes_duplicates(server, module, ctx):
                continue
            found.sort(key=lambda one: one.order)
            for index, each in enumerate(found):
                first = next((one for one in found[:index] if _together(one, each, module)), None)
                if first is None:
                    continue
                node, where = each.place
                ctx.report(
                    node,
                    f"the name {name!r} is taken by another tool of the server",
                    help="rename one of the two",
                    tool=each.tool,
                    module=where,
                    related=[ctx.related(first.place[0], "the other tool", first.place[1])],
                )
        for tool in ctx.tools:
            if tool.flavour == "lowlevel":
                self._check_listed(tool, module, ctx)
                break

    @staticmethod
    def _check_listed(tool: ToolDef, module: Module, ctx: RuleContext) -> None:
        """Compare the tools of each list that a low-level server gives."""
        from mcpcore_lint.rules.definitions._listed import listed

        places: dict[tuple[ast.Return, str], list[_Registered]] = defaultdict(list)
        for each in listed(ctx, tool):
            name = string(each.name)
            if name is not None and each.module is module:
                place = (each.places["name"], module)
                places[each.answer, name].append(_Registered("", name, each.call, place, None))
        for (_, name), found in places.items():
            for index, later in enumerate(found):
                first = next((one for one in found[:index] if _in_one_list(one, later, module)), None)
                if first is not None:
                    ctx.report(
                        later.place[0],
                        f"the name {name!r} is taken by another tool of the list",
                        help="rename one of the two",
                        related=[ctx.related(first.place[0], "the other tool")],
                    )

    def check_project(self, tools: Sequence[ToolRecord], ctx: ProjectContext) -> None:
        """Compare what different files register on one server."""
        found: dict[tuple[str, str], list[ToolRecord]] = defaultdict(list)
        for tool in tools:
            # Of a low-level server several functions may serve one tool, one handing its calls on to the next.
            if tool.kind != "tool" or tool.flavour == "lowlevel":
                continue
            if tool.server is not None and tool.name is not None:
                found[tool.server, tool.name].append(tool)
        for (server, name), each in found.items():
            home = server.rpartition(":")[0].rpartition(":")[0]
            # The file that makes the server goes first; after it the order of paths is as good as any.
            ordered = sorted(each, key=lambda one: (one.path != home, one.path, one.span))
            for left, right in pairwise(ordered):
                if left.path != right.path:
                    ctx.report(
                        right.path,
                        right.span,
                        f"the name {name!r} is taken by another tool of the server",
                        help=f"rename one of the two: {left.path}:{left.span.line} has the other",
                        tool=right.name,
                    )


@light
class _Registered:
    """One tool on one server, as one file registers it."""

    server: str
    name: str
    node: ast.AST
    """Where the registration stands, to tell which others it excludes."""
    place: tuple[ast.AST, Module]
    tool: ToolDef | None

    @property
    def order(self) -> tuple[int, int]:
        return getattr(self.node, "lineno", 0), getattr(self.node, "col_offset", 0)


def _registered(ctx: RuleContext) -> Iterator[_Registered]:
    for tool in ctx.tools:
        name = string(tool.name)
        if tool.kind != "tool" or tool.server is None or name is None or tool.flavour == "lowlevel":
            continue
        if tool.decorator_keyword("version") is not None:
            continue
        elsewhere = tool.handler.module is not ctx.module
        if elsewhere and isinstance(tool.name.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield _Registered(tool.server, name, tool.registration, (tool.registration, tool.module), tool)
            continue
        node = tool.registration
        decorated = not isinstance(tool.handler.node, ast.Lambda) and node in tool.handler.node.decorator_list
        yield _Registered(tool.server, name, tool.handler.node if decorated else node, name_place(tool), tool)


def _listed(module: Module, ctx: RuleContext) -> Iterator[_Registered]:
    """Tools of `@tool` that a file puts on a server: `Server(tools=[...])`, `server.add_tool(...)`."""
    from mcpcore_lint.registrations.build import Builder

    if "mcpcore" not in module.source.text:
        return
    for node, scope in module.calls_near("add_tool", "tools"):
        func = node.func
        if isinstance(func, ast.Attribute) and func.attr == "add_tool" and len(node.args) == 1 and not node.keywords:
            name = _declared_name(ctx.resolve(node.args[0], scope), ctx)
            _, server = Builder(module, ctx.hierarchy).server(func.value, scope) if name is not None else (None, None)
            if server is not None and name is not None:
                yield _Registered(server, name, node, (node.args[0], module), None)
        for keyword in node.keywords:
            if keyword.arg != "tools":
                continue
            value = ctx.resolve(keyword.value, scope) if _called(func, scope, ctx) == "mcpcore.Server" else None
            if not isinstance(value, Items):
                continue
            key = f"{module.path}:{node.lineno}:{node.col_offset}"
            written = set(walk([keyword.value]))
            for each in value.items:
                name = _declared_name(each, ctx)
                if name is not None:
                    at = each.node if each.node is not None and each.node in written else keyword.value
                    yield _Registered(key, name, at, (at, module), None)


def _called(func: ast.expr, scope: Scope, ctx: RuleContext) -> str:
    """The name of what is called, also by a `partial(...)` of it; its arguments are not looked at."""
    value = ctx.resolve(func, scope)
    if isinstance(value, CallValue) and value.func.name == "functools.partial" and value.args:
        value = value.args[0]
    return value.name if isinstance(value, Symbol) else ""


def _declared_name(value: Value, ctx: RuleContext) -> str | None:
    """The name of a tool that `@tool` makes of a function; None where it is not one, or its name is not known."""
    if not isinstance(value, Symbol) or not isinstance(value.definition, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return None
    module = ctx.project.module_defining(value.definition)
    if module is None:
        return None
    for decorator in value.definition.decorator_list:
        if isinstance(decorator, ast.Call) and not _may_name(decorator):
            # To read all that it is given, its contract above all, would be for nothing.
            made = ctx.resolve(decorator.func, module.scope)
            if isinstance(made, Symbol) and made.name == "mcpcore.tool":
                return value.definition.name
        made = ctx.resolve(decorator, module.scope)
        if isinstance(made, Symbol) and made.name == "mcpcore.tool":
            return value.definition.name
        if isinstance(made, CallValue) and made.func.name == "mcpcore.tool":
            given = made.argument("name")
            plain = isinstance(given, Missing) or (isinstance(given, Const) and given.value is None)
            return value.definition.name if plain else string(given)
    return None


def _may_name(decorator: ast.Call) -> bool:
    """Whether a name may be among the arguments of `@tool(...)`."""
    return any(each.arg in {"name", None} for each in decorator.keywords) or any(
        isinstance(each, ast.Starred) for each in decorator.args
    )


def _scope_at(node: ast.AST, module: Module) -> Scope:
    for each in _around(node, module):
        if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return module.scope_of(each)
    return module.scope


def _around(node: ast.AST, module: Module) -> Iterator[ast.AST]:
    current = module.parents.get(node)
    while current is not None:
        yield current
        current = module.parents.get(current)


def _takes_duplicates(server: str, module: Module, ctx: RuleContext) -> bool:
    """Whether a server is said what to do with duplicates, loses tools again, or is not one server for certain."""
    if module.source.has("remove_tool"):
        return True
    for node, _ in module.calls_near("duplicate", "**"):
        if server == f"{module.path}:{node.lineno}:{node.col_offset}":
            return any("duplicate" in (each.arg or "duplicate") for each in node.keywords)
    place, _, column = server.rpartition(":")
    if column.isdigit() and place.rpartition(":")[2].isdigit():
        # The place of one constructor call: one server for certain.
        return False
    return any(
        len(found[1]) > 1
        for tool in ctx.tools
        if tool.server == server
        for name in [_server_name(tool.registration)]
        if name is not None and (found := _scope_at(tool.registration, module).lookup(name)) is not None
    )


def _server_name(registration: ast.expr) -> str | None:
    func = registration.func if isinstance(registration, ast.Call) else registration
    return func.value.id if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) else None


def _together(left: _Registered, right: _Registered, module: Module) -> bool:
    """Whether two registrations are both made: in the same function, and not in branches that exclude each other."""
    if left.tool is not None and right.tool is not None:
        if left.tool.handler.module.path != right.tool.handler.module.path:
            # Those of different files are compared when all files are known.
            return False
        for each in (left.tool, right.tool):
            name = _server_name(each.registration)
            found = _scope_at(each.registration, module).lookup(name) if name is not None else None
            if found is not None and len(found[1]) > 1:
                return False
    chains = [[each.node, *_around(each.node, module)] for each in (left, right)]
    functions = [
        next((one for one in chain[1:] if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))), None)
        for chain in chains
    ]
    if functions[0] is not functions[1]:
        return False
    above = set(chains[0])
    common = next((each for each in chains[1] if each in above), None)
    if common is None:
        return True
    sides = [_branch(common, chain) for chain in chains]
    return sides[0] == sides[1] or None in sides


def _in_one_list(left: _Registered, right: _Registered, module: Module) -> bool:
    """Whether two tools are in one list for certain: of one statement, or of statements that follow each other."""
    statements = [_statement(each.node, module) for each in (left, right)]
    one, other = statements
    if one is not other:
        # Of a list that is made twice the second replaces the first.
        made_anew = all(isinstance(each, (ast.Assign, ast.AnnAssign)) for each in statements)
        if made_anew or module.parents.get(one) is not module.parents.get(other):
            return False
    return _together(left, right, module)


def _statement(node: ast.AST, module: Module) -> ast.AST:
    return next((each for each in (node, *_around(node, module)) if isinstance(each, ast.stmt)), node)


def _branch(parent: ast.AST, chain: Sequence[ast.AST]) -> str | None:
    """Which of the branches of a statement that exclude each other a node is in; None for none of them."""
    position = chain.index(parent)
    child = chain[position - 1] if position else None
    if isinstance(parent, ast.IfExp):
        return "body" if child is parent.body else "else" if child is parent.orelse else None
    if isinstance(parent, ast.If):
        return "body" if child in parent.body else "else" if child in parent.orelse else None
    if isinstance(parent, (ast.Try, ast.TryStar)):
        if isinstance(child, ast.ExceptHandler):
            return f"except {parent.handlers.index(child)}"
        return "body" if child in parent.body or child in parent.orelse else None
    if isinstance(parent, ast.Match):
        return f"case {parent.cases.index(child)}" if isinstance(child, ast.match_case) else None
    return None
