"""Where the project calls one of its functions: by name, as a decorator, as a method, and under another name.

A function that keeps its argument, in a list or in an object, says nothing of what is kept. Its callers do.
"""

import ast
import re
from collections.abc import Iterator, Set as AbstractSet
from functools import partial
from typing import Final, TypeAlias

from mcpcore_lint.engine.registrations.environment import (
    Called,
    call_frame,
    functions_called,
    functions_run,
    method_called,
    substitute,
    written_scope,
)
from mcpcore_lint.engine.registrations.registration_forms import DECORATORS, Maker, flavour_in, makes_server
from mcpcore_lint.engine.syntax.module import Module, kept
from mcpcore_lint.engine.syntax.parse import FUNCTIONS, Function, all_parameters, own_nodes, returned, walk
from mcpcore_lint.engine.syntax.scopes import Scope
from mcpcore_lint.patterns import regex

_RENAMES: Final = 2
"""How often a function may get another name: `tool, register = make()`, and a name imported `as` another."""
_PASSES: Final = 2
"""Through how many functions a parameter is passed on."""
_SEARCHING: Final = regex(
    r"(?<![\w.])(?:vars|dir|globals|__import__)\("
    r"|\b(?:import_module|exec_module|iter_modules|walk_packages|getmembers|entry_points)\("
    r"""|\bgetattr\((?!self\b)[\w.]+, (?:f["']|["']\w*["'] \+)"""
)
_EXPORTS: Final = regex(r"__all__[^=\n]*=\s*[\[(][^\])]*")
_KEEP_NOTHING: Final = frozenset({"staticmethod", "classmethod", "abstractmethod", "abc.abstractmethod"})


Caller: TypeAlias = "tuple[Called, ast.Call, Scope]"


def callers_of(scope: Scope) -> list[Caller] | None:
    """The calls of a function in the project, each with its scope.

    A decorator counts as a call with what it decorates. None if the project has too many files to search.
    """
    home = written_scope(scope)
    itself: list[Caller] | None = []  # a function that leads back to itself has no further callers
    return home.module.once(("callers", home.node), lambda: _callers(home), itself)


def _callers(home: Scope) -> list[Caller] | None:
    names = _names(home)
    candidates: list[tuple[ast.Call, Scope]] = []
    for _ in range(_RENAMES):
        modules = home.module.project.modules_with(home.module, partial(_mentioned, names))
        if modules is None:
            return None
        # The names that a file gives to what a call of these names returns.
        values = (value for module in modules for value in _named_values(module))
        more = {name for name, mentioned in values if not names.isdisjoint(mentioned)} - names
        candidates = [placed for module in modules for placed in _calls_of(module, names | more)]
        names |= more
        if not more:
            break
    return [caller for call in candidates for caller in _calling(home, *call)]


def all_callers_of(scope: Scope) -> list[Caller]:
    """The calls of a function that nothing else runs: the project names it nowhere else, and no decorator keeps it."""
    home = written_scope(scope)
    kept = not _KEEP_NOTHING.issuperset(map(ast.unparse, getattr(home.node, "decorator_list", ())))
    known, name, memo = (not kept and callers_of(home)) or [], getattr(home.node, "name", ""), home.module.memo
    if (key := ("all callers", home.node)) not in memo:
        modules = home.module.project.modules_with(home.module, partial(_mentioned, {name})) if known else None
        uses = {part for module in modules or () for part in _uses_of(name, module, home)}
        memo[key] = bool(uses) and uses <= {call.func for _, call, _ in known}
    return known if memo[key] else []


def methods_passed(func: ast.expr, scope: Scope, depth: int = 0) -> Iterator[Function]:
    """The methods of what the callers of a function around pass to it: `client.get` in `register(server, client)`."""
    name = getattr(func.value, "id", "") if isinstance(func, ast.Attribute) else ""
    where, bindings = scope.lookup(name) or (scope, [])
    if [binding.kind for binding in bindings] != ["parameter"] or (where is scope and not depth) or depth > _PASSES:
        return
    for called, call, outside in callers_of(where) or ():
        node, inside = substitute(func, call_frame(called, call, outside))
        if node is not func and isinstance(node, ast.Attribute):
            method = method_called(node, inside)
            yield from methods_passed(node, inside, depth + 1) if method is None else (method[0],)


def _uses_of(name: str, module: Module, home: Scope) -> Iterator[ast.AST]:
    """Where a file may have a function by its name, or by another name that an import gives it in this file alone."""
    kinds = {binding.kind for binding in module.scope.bindings.get(name, ())}
    other = kinds == {"function"} and module is not home.module
    for part in uses_in(module).get(name, ()):
        renamed = part.asname if isinstance(part, ast.alias) else None
        modules = home.module.project.modules_with(home.module, partial(_mentioned, {renamed})) if renamed else None
        if renamed is not None and modules == [module]:
            yield from uses_in(module).get(renamed, ())
        elif not (other and isinstance(part, ast.Name)):  # another function with the same name
            yield part


@kept
def uses_in(module: Module) -> dict[str, list[ast.AST]]:
    """Where a file has each name and each attribute, with the imports that give it another name."""
    uses: dict[str, list[ast.AST]] = {}
    for part in walk([module.tree]):
        for alias in part.names if isinstance(part, ast.ImportFrom) else ():
            uses.setdefault(alias.name, []).extend([alias] * (alias.asname is not None))
        if isinstance(part, (ast.Name, ast.Attribute)):
            uses.setdefault(part.id if isinstance(part, ast.Name) else part.attr, []).append(part)
    return uses


def _names(home: Scope) -> set[str]:
    """The names under which a function may be called: its own, or that of the class or of the function around it."""
    names: set[str] = set()
    scope: Scope | None = home
    while scope is not None and not isinstance(scope.node, (ast.Module, ast.Lambda)):
        names.add(scope.node.name)
        if scope.owner is not None and scope.node.name in {"__init__", "__call__"}:
            names.add(scope.owner.name)
        scope = scope.parent
    # Calls of these two are written with the name of the class or of the object.
    return names - {"__init__", "__call__"}


def _mentioned(names: AbstractSet[str], text: str) -> bool:
    return any(name in text for name in names)


@kept
def _named_values(module: Module) -> list[tuple[str, AbstractSet[str]]]:
    """The names that a file gives to values, each with the names in what makes the value."""
    named: list[tuple[str, AbstractSet[str]]] = []
    for name, bindings in module.scope.bindings.items():
        for binding in bindings:
            value = binding.value or getattr(binding.node, "value", None)
            if binding.kind in {"assign", "annotated", "opaque"} and isinstance(value, ast.expr):
                named.append((name, _names_in(value.func if isinstance(value, ast.Call) else value)))
            elif binding.target is not None:
                named.append((name, {binding.target[1] or ""}))
    return named


def _names_in(node: ast.expr) -> AbstractSet[str]:
    return {getattr(part, "id", getattr(part, "attr", "")) for part in walk([node])}


def _calls_of(module: Module, names: AbstractSet[str]) -> Iterator[tuple[ast.Call, Scope]]:
    """The calls and the decorators of a file whose functions have some of the names."""
    near = module.calls_near(*(f"{name}(" for name in sorted(names)))
    yield from ((call, scope) for call, scope in near if not names.isdisjoint(_names_in(call.func)))
    for node, inner in list(module.functions.items()):
        for decorator in getattr(node, "decorator_list", ()):
            if not names.isdisjoint(_names_in(decorator)):
                outside = inner.parent or module.scope
                name = ast.copy_location(ast.Name(getattr(node, "name", ""), ast.Load()), node)
                yield ast.copy_location(ast.Call(decorator, [name], []), decorator), outside
    for info in module.classes.values():
        for decorator in info.node.decorator_list:
            name = ast.copy_location(ast.Name(info.node.name, ast.Load()), info.node)
            yield ast.copy_location(ast.Call(decorator, [name], []), decorator), module.scope


def _calling(home: Scope, call: ast.Call, scope: Scope) -> Iterator[Caller]:
    """A call, if it runs the function. A call of itself passes on what another call gave it."""
    inside: Scope | None = scope
    while inside is not None:
        if inside.node is home.node:
            return
        inside = inside.parent
    same = (called for called in functions_run(call, scope) if called.function is home.node)
    # A decorator that is known to make tools has made one already.
    yield from (
        (called, call, scope) for called in same if not (is_decorator(call) and _makes_tools(home, scope.module))
    )


def is_unused(scope: Scope) -> bool:
    """Whether the project has the name of a function only where it defines, imports or exports it."""
    home = written_scope(scope)
    name = getattr(home.node, "name", "")
    quoted = regex(rf"""["'](?:[\w.]+[.:])?{name}["']""")
    modules = home.module.project.modules_with(home.module, lambda text: name in text) if name else None
    return modules is not None and not any(
        uses_in(module).get(name) or quoted.search(_EXPORTS.sub("", module.source.text)) for module in modules
    )


def is_never_run(scope: Scope) -> bool:
    """Whether nothing calls a function that takes a server, although another file makes one.

    A decorator may call it, and code that imports modules or looks up their members; another package, a method.
    """
    home = written_scope(scope)
    own, project = home.module, home.module.project
    is_plain = isinstance(home.node, FUNCTIONS) and not home.node.decorator_list and home.owner is None
    return is_plain and own.once(
        ("never run", home.node),
        lambda: (
            is_unused(home)
            and not makes_server(own.source.text)
            and project.has_text(own, makes_server)
            and not project.has_text(own, _searches_modules)
        ),
    )


def _searches_modules(text: str) -> bool:
    """Whether the text of a file imports modules by their names, or looks up members of modules."""
    return _SEARCHING.search(text) is not None


def is_decorator(call: ast.Call) -> bool:
    """Whether a call is made up for a decorator: it has no parentheses, so it ends where its function ends."""
    return (call.end_lineno, call.end_col_offset) == (call.func.end_lineno, call.func.end_col_offset)


def _makes_tools(home: Scope, asking: Module) -> bool:
    outer = home
    while outer.parent is not None and not outer.parent.is_module:
        outer = outer.parent
    return isinstance(outer.node, Function) and collector_of(outer.node, home.module, asking) is not None


# -- decorators that collect functions, to be registered later in a loop -----------------------------------------------

# A list, a table or a mark on the function lies between the decorator and the server. It is often filled by importing
# all modules of a folder, which the linter cannot follow. A decorator that has "tool" in its name, in a file that
# mentions MCP, is therefore taken to make tools.
_COLLECTS: Final = frozenset({"append", "add", "setdefault", "insert"})
_MARK: Final = regex(r"mcp_?tool|is_tool|^_*tool_*$|tool_?(?:def|spec)", re.IGNORECASE)
_ARGUMENTS: Final = {"name": "name", "tool_name": "name", "description": "description"}
"""Parameters of such a decorator, each with the argument of the maker that it is."""


def collector_of(function: Function, owner: Module, asking: Module) -> tuple[bool, Maker] | None:
    """Whether a decorator that collects is called first, as `@tool(...)`, and its maker; None for other functions.

    Parameters that are called like the tool's name or description are arguments of the maker.
    """
    if "tool" not in function.name.lower() or not any(
        "mcp" in module.source.text.lower() for module in (owner, asking)
    ):
        return None
    called_first = _collects(function, owner)
    return (called_first, _maker(function, owner, asking)) if called_first is not None else None


def _collects(function: Function, owner: Module) -> bool | None:
    """Whether a decorator that collects is called first; None for other functions."""
    # Each decorated function of the project asks, and a function may lead back to itself.
    return owner.once(("collects", function), lambda: _called_first(function, owner), None)


def _called_first(function: Function, owner: Module) -> bool | None:
    scope = owner.scope_of(function)
    for value in returned(function):
        called = next(functions_called(value.func, scope), None) if isinstance(value, ast.Call) else None
        if called is not None and called.function is not function and _collects(called.function, called.owner):
            return True  # `return REGISTRY.register(name)`
        nested = scope.bindings.get(value.id) if isinstance(value, ast.Name) else None
        inner = nested[0].node if nested else None
        if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)) and _keeps(inner, owner.scope_of(inner)):
            return True
    return False if _keeps(function, scope) else None


def _maker(function: Function, owner: Module, asking: Module) -> Maker:
    names = {parameter.arg for parameter in all_parameters(function.args)}
    keywords = [
        ast.keyword(keyword, ast.copy_location(ast.Name(name, ast.Load()), function))
        for name, keyword in _ARGUMENTS.items()
        if name in names
    ]
    inner = ast.copy_location(ast.Call(ast.Name("tool", ast.Load()), [], keywords), function)
    flavour = flavour_in(asking.source.text) or flavour_in(owner.source.text) or "sdk"
    return Maker(DECORATORS["tool"], flavour, None, inner=inner)


def _keeps(function: Function, scope: Scope) -> bool:
    """Whether a function keeps its first parameter: in a table, in an object, or marked."""
    parameters = [parameter.arg for parameter in (*function.args.posonlyargs, *function.args.args)]
    if parameters and parameters[0] in {"self", "cls"}:
        parameters = parameters[1:]
    return bool(parameters) and any(_keeps_at(node, parameters[0], scope) for node in own_nodes(function))


def _keeps_at(node: ast.AST, name: str, scope: Scope) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr=method, value=table), args=args) if method in _COLLECTS:
            return _outside(table, scope) and any(_holds(argument, name, scope) for argument in args)
        case ast.Assign(targets=[ast.Subscript(value=table)], value=value):
            return _outside(table, scope) and _holds(value, name, scope)
        case (
            ast.Call(func=ast.Name(id="setattr"), args=[ast.Name(id=marked), ast.Constant(value=str(mark)), *_])
            | ast.Assign(targets=[ast.Attribute(value=ast.Name(id=marked), attr=mark)])
        ):
            read = regex(rf"""\.{mark}\b(?! *=[^=])|["']{mark}["']""")
            is_mark = marked == name and _MARK.search(mark) is not None
            modules = scope.module.project.modules_with(scope.module, lambda text: read.search(text) is not None)
            return is_mark and modules != []  # a mark that no code reads registers no function
    return False


def _holds(node: ast.expr, name: str, scope: Scope) -> bool:
    """Whether an expression is a parameter, or a record with the parameter in it."""
    if isinstance(node, ast.Name) and node.id != name:
        bindings = scope.bindings.get(node.id, ())
        made = bindings[0].value if len(bindings) == 1 else None
        node = made if isinstance(made, ast.Call) else node
    match node:
        case ast.Dict(values=items) | ast.Tuple(elts=items) | ast.List(elts=items):
            parts = items
        case ast.Call(args=args, keywords=keywords):
            parts = [*args, *(keyword.value for keyword in keywords)]
        case _:
            parts = [node]
    return any(isinstance(part, ast.Name) and part.id == name for part in parts)


def _outside(table: ast.expr, scope: Scope) -> bool:
    """Whether a table outlives the decorator and has a name for tools."""
    table = table.value if isinstance(table, ast.Subscript) else table
    name = table.attr if isinstance(table, ast.Attribute) else table.id if isinstance(table, ast.Name) else ""
    if not any(word in name.lower() for word in ("tool", "registry", "registered")):
        return False
    if isinstance(table, ast.Attribute):
        return True
    match = scope.lookup(name)
    return match is not None and match[0] is not scope
