"""tool-name-unique."""

import ast
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.engine.semantics.type_model import name_of
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.parse import walk
from mcpcore_lint.model import Items, Symbol, ToolDef, Value, string
from mcpcore_lint.records import ToolRecord
from mcpcore_lint.rule import ProjectContext, Rule, RuleContext
from mcpcore_lint.rules._tools import name_place

_MESSAGE: Final = "the name {!r} is taken by another tool of the server"
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_BRANCHING: Final = (ast.If, ast.IfExp, ast.Try, ast.TryStar, ast.Match)


class ToolNameUnique(Rule):
    """Two tools of a server have the same name.

    Summary: two tools of one server have the same name
    Why: Clients see only one of the two tools. Which one depends on the server: the first or the last, with at most a
        line in the log.
    How to fix: Rename one of them.
    When to suppress: When only one of them is ever registered, in a way that the linter does not see.

    Bad:
        @server.tool()
        def fetch(id: str) -> str: ...

        @server.tool(name="fetch")
        def fetch_all() -> str: ...
    Good:
        @server.tool(name="fetch_all")
        def fetch_all() -> str: ...
    """

    severity = Severity.ERROR

    def check_file(self, module: Module, ctx: RuleContext) -> None:
        """Compare the tools that one file registers."""
        # Such a file replaces tools on purpose.
        if module.source.has("remove_tool") or module.source.has("on_duplicate"):
            return
        by_name: dict[tuple[str, str], list[_Registration]] = defaultdict(list)
        for registration in (*_own_tools(ctx), *_added_tools(module, ctx)):
            by_name[registration.server, registration.name].append(registration)
        for (_, name), same in by_name.items():
            same.sort(key=lambda registration: (registration.node.lineno, registration.node.col_offset))
            for index, later in enumerate(same):
                first = next((earlier for earlier in same[:index] if _both_run(earlier, later, module)), None)
                if first is not None:
                    related = [ctx.related(first.place, "the other tool", first.module)]
                    step, tool, where = "rename one of the two", later.tool, later.module
                    ctx.report(later.place, _MESSAGE.format(name), help=step, tool=tool, module=where, related=related)

    def check_project(self, tools: Sequence[ToolRecord], ctx: ProjectContext) -> None:
        """Compare the tools that different files register on one server."""
        by_name: dict[tuple[str, str], list[ToolRecord]] = defaultdict(list)
        for tool in tools:
            # Several functions of a low-level server may serve one tool, each passing the call to the next.
            if tool.kind == "tool" and tool.flavour != "lowlevel" and tool.server is not None and tool.name is not None:
                by_name[tool.server, tool.name].append(tool)
        for (server, name), same in by_name.items():
            home = server.rpartition(":")[0].rpartition(":")[0]
            # The file that makes the server goes first; after it the order of paths is as good as any.
            same.sort(key=lambda tool: (tool.path != home, tool.path, tool.span))
            for first, later in pairwise(same):
                if first.path != later.path:
                    step = f"rename one of the two: the other is at {first.path}:{first.span.line}"
                    ctx.report(later.path, later.span, _MESSAGE.format(name), help=step, tool=later.name)


class _Registration(NamedTuple):
    """A tool on a server, as one file registers it."""

    server: str
    name: str
    node: ast.expr | ast.stmt
    """The registration, which shows in which function and branch it is made."""
    place: ast.AST
    """Where a finding is reported, in `module`."""
    module: Module
    tool: ToolDef | None


def _own_tools(ctx: RuleContext) -> Iterator[_Registration]:
    """The tools that are registered where they are defined, and those of `add_tool`."""
    for tool in ctx.tools:
        name = string(tool.name)
        # FastMCP serves several versions of a tool under one name.
        versioned = tool.decorator_keyword("version") is not None
        if tool.kind != "tool" or tool.server is None or name is None or tool.flavour == "lowlevel" or versioned:
            continue
        handler, node = tool.handler.node, tool.registration
        elsewhere = tool.handler.module is not ctx.module
        if elsewhere and isinstance(tool.name.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield _Registration(tool.server, name, node, node, tool.module, tool)
        else:
            decorated = not isinstance(handler, ast.Lambda) and node in handler.decorator_list
            yield _Registration(tool.server, name, handler if decorated else node, *name_place(tool), tool)


def _added_tools(module: Module, ctx: RuleContext) -> Iterator[_Registration]:
    """The `@tool` functions that a file puts on a server: `Server(tools=[...])`, `server.add_tool(...)`."""
    from mcpcore_lint.engine.registrations.calls import Calls

    for call, scope in module.calls_near("add_tool", "tools") if module.source.has("mcpcore") else ():
        func = call.func
        if isinstance(func, ast.Attribute) and func.attr == "add_tool" and len(call.args) == 1 and not call.keywords:
            name = _declared_name(ctx.resolve(call.args[0], scope), ctx)
            _, server = Calls(ctx.hierarchy).servers.server(func.value, scope) if name is not None else (None, None)
            if server is not None and name is not None:
                yield _Registration(server, name, call, call.args[0], module, None)
        tools = next((keyword.value for keyword in call.keywords if keyword.arg == "tools"), None)
        if tools is None or name_of(func, scope) != "mcpcore.Server":
            continue
        listed, written = ctx.resolve(tools, scope), set(walk([tools]))
        for item in listed.items if isinstance(listed, Items) else ():
            name = _declared_name(item, ctx)
            if name is not None:
                node = item.node if isinstance(item.node, ast.expr) and item.node in written else tools
                yield _Registration(f"{module.path}:{call.lineno}:{call.col_offset}", name, node, node, module, None)


def _declared_name(value: Value, ctx: RuleContext) -> str | None:
    """The name of the tool that `@tool` makes of a function; None if it is another value, or the name is unknown."""
    definition = value.definition if isinstance(value, Symbol) else None
    if not isinstance(definition, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return None
    module = ctx.project.module_defining(definition)
    for decorator in definition.decorator_list if module is not None else ():
        maker = decorator.func if isinstance(decorator, ast.Call) else decorator
        if module is not None and name_of(maker, module.scope) == "mcpcore.tool":
            keywords = decorator.keywords if isinstance(decorator, ast.Call) else []
            names = [keyword.value for keyword in keywords if keyword.arg in {"name", None}]
            return string(ctx.resolve(names[0], module.scope)) if names else definition.name
    return None


def _both_run(left: _Registration, right: _Registration, module: Module) -> bool:
    """Whether both registrations are made in one function, and not both in branches, which may exclude each other."""
    if left.tool is not None and right.tool is not None and left.tool.handler.module is not right.tool.handler.module:
        return False  # check_project compares these.
    (function, branched), (other_function, other_branched) = (_place(side.node, module) for side in (left, right))
    return function is other_function and not (branched and other_branched)


def _place(node: ast.AST, module: Module) -> tuple[ast.AST | None, bool]:
    """The function around a node, and whether there is a statement with several branches in between."""
    branched = False
    parent = module.parents.get(node)
    while parent is not None and not isinstance(parent, _FUNCTIONS):
        branched |= isinstance(parent, _BRANCHING)
        parent = module.parents.get(parent)
    return parent, branched
