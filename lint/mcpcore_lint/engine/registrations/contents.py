"""What is ever put into a list, a set or a table: a variable, or an attribute of the objects of a class."""

import ast
from collections.abc import Iterator
from typing import Final, NamedTuple

from mcpcore_lint.engine.registrations.environment import call_frame, class_of, functions_run, written_scope
from mcpcore_lint.engine.semantics.type_model import ancestry
from mcpcore_lint.engine.syntax.module import Module, kept
from mcpcore_lint.engine.syntax.parse import argument_of, statements
from mcpcore_lint.engine.syntax.scopes import Scope

_PUTS: Final = ("append", "add", "insert", "extend", "update", "setdefault")
_MORE: Final = frozenset({"extend", "update", "include_router"})
"""Methods that take several items."""
# Methods that add routes to an application, each with the name and the place of the argument.
_ROUTED: Final = {"include_router": ("router", 0), "add_api_route": ("endpoint", 1)}
ROUTES: Final = frozenset({"get", "post", "put", "patch", "delete", "options", "head", "trace", "api_route"})
"""Methods of a web application or of a router that decorate a function."""


class Entry(NamedTuple):
    """What one statement puts into a collection."""

    key: ast.expr | None
    """The key, if the collection is a table."""
    value: ast.expr
    scope: Scope
    at: ast.expr
    """The expression whose enclosing loops count."""
    several: bool = False
    """Whether the value is a collection, all of whose items are put in."""


def contents_of(node: ast.expr, scope: Scope) -> Iterator[Entry]:
    """The entries of the collection that a name or an attribute is, in the files that mention it."""
    if isinstance(node, ast.Name):
        place = scope.lookup(node.id)
        # An imported name is followed to its own file, and a function or a class is no collection.
        if (
            place is None
            or not isinstance(place[1][0].node, ast.stmt)
            or place[1][0].kind in {"import", "function", "class"}
        ):
            return
        home, name = written_scope(place[0]), node.id
        for module in _modules(home.module, name) if home.is_module else (home.module,):
            for entry, subject in _entries(module, name):
                if _is_variable(subject, name, entry.scope, home):
                    # In the function itself, its arguments are known.
                    yield entry._replace(scope=scope) if written_scope(scope) is entry.scope else entry
            yield from _handed_on(module, name, home)
    elif isinstance(node, ast.Attribute):
        info = class_of(node.value, scope)
        for module in _modules(info.module, node.attr) if info is not None else ():
            for entry, subject in _entries(module, node.attr):
                owned = isinstance(subject, ast.Attribute) and class_of(subject.value, entry.scope)
                if info is not None and owned and (info in [*ancestry(owned)] or owned in [*ancestry(info)]):
                    yield entry


def _handed_on(module: Module, name: str, home: Scope) -> Iterator[Entry]:
    """What functions of the project put into a collection that is passed to them: `fill(x)`."""
    for call, scope in module.calls_near(f"({name}", f" {name},", f" {name})", f"={name}"):
        passed = [*call.args, *(keyword.value for keyword in call.keywords)]
        if not any(isinstance(part, ast.Name) and _is_variable(part, name, scope, home) for part in passed):
            continue
        for called in functions_run(call, scope):
            frame, inside = call_frame(called, call, scope), called.owner.scope_of(called.function)
            for parameter, (argument, _) in frame.filled.items():
                same = isinstance(argument, ast.Name) and argument.id == name
                entries = _entries(called.owner, parameter) if same else ()
                named = (entry for entry, subject in entries if isinstance(subject, ast.Name) and entry.scope is inside)
                yield from (entry._replace(scope=frame) for entry in named)


def _modules(home: Module, name: str) -> list[Module]:
    """The files that may put something into a collection of this name."""
    words = (f"{name}.", f"{name}[", f"{name} +", f"{name} |", f"{name})")

    def may_put(text: str) -> bool:
        # Most files do not have the name, so it is searched alone first.
        return name in text and any(word in text for word in words)

    return home.once(("modules", name), lambda: home.project.modules_with(home, may_put) or [home])


def _is_variable(subject: ast.expr, name: str, scope: Scope, home: Scope) -> bool:
    """Whether an expression is the variable that a scope binds, also under its name in another file."""
    if isinstance(subject, ast.Name) and subject.id != name:
        return False
    if isinstance(subject, ast.Attribute):
        owner = scope.module.project.module_of(scope.module, home.module.name, 0) if home.is_module else None
        binding = scope.lookup(getattr(subject.value, "id", ""))
        if owner is not home.module or binding is None or binding[1][0].target is None:
            return False
        source, inner, level = binding[1][0].target
        whole = f"{source}.{inner}" if source and inner else source or inner or ""
        return scope.module.project.module_of(scope.module, whole, level) is home.module
    place = scope.lookup(name)
    if place is None:
        return False
    if place[0] is home:
        return True
    target = place[1][0].target
    if target is None or target[1] is None or not home.is_module:
        return False
    return scope.module.project.module_of(scope.module, target[0], target[2]) is home.module


@kept
def _entries(module: Module, name: str) -> list[tuple[Entry, ast.expr]]:
    """The entries that a file puts into collections of a name, each with the expression that is the collection."""
    module.complete()
    return [*_called(module, name), *_assigned(module, name), *_by_decorator(module, name)]


def _called(module: Module, name: str) -> Iterator[tuple[Entry, ast.expr]]:
    """`x.append(fn)`, `x.update(...)`, `x.setdefault(key, []).append(fn)`, `x[key].append(fn)`."""
    for call, scope in module.calls_near(*(f"{name}{after}" for after in (".", "["))):
        match call:
            case ast.Call(func=ast.Attribute(value=subject, attr="setdefault"), args=[key, value]):
                entry = Entry(key, value, scope, call)
            case ast.Call(func=ast.Attribute(value=subject, attr=method)) if (
                method in _ROUTED and (routed := argument_of(call, *_ROUTED[method])) is not None
            ):
                value, entry = routed, Entry(None, routed, scope, call, method in _MORE)
            case ast.Call(func=ast.Call(func=ast.Attribute(value=subject, attr=method)), args=[value]) if (
                method in ROUTES
            ):
                entry = Entry(None, value, scope, call)
            case ast.Call(func=ast.Attribute(value=subject, attr=method), args=[*_, value]) if method in _PUTS:
                entry = Entry(None, value, scope, call, method in _MORE)
            case _:
                continue
        match subject:
            case (
                ast.Subscript(value=holder, slice=key)
                | ast.Call(func=ast.Attribute(value=holder, attr="setdefault"), args=[key, *_])
            ):
                listed = value if entry.several else ast.copy_location(ast.List([value], ast.Load()), value)
                subject, entry = holder, Entry(key, listed, scope, call)
        subject = _routed(subject, name)
        if _ends(subject, name):
            yield entry, subject


def _assigned(module: Module, name: str) -> Iterator[tuple[Entry, ast.expr]]:
    """`x[key] = fn`, `x += [...]`."""
    functions = [*module.functions.items()] if module.changes_in_place(name) else []
    bodies = ((function.body, scope) for function, scope in functions if not isinstance(function, ast.Lambda))
    for body, scope in ((module.tree.body, module.scope), *bodies):
        for statement in statements([*body]):
            match statement:
                case ast.Assign(targets=[ast.Subscript(value=subject, slice=key)], value=value):
                    entry = Entry(key, value, scope, value)
                case ast.AugAssign(target=subject, op=ast.Add() | ast.BitOr(), value=value):
                    entry = Entry(None, value, scope, value, several=True)
                case _:
                    continue
            if _ends(subject, name):
                yield entry, subject


def _by_decorator(module: Module, name: str) -> Iterator[tuple[Entry, ast.expr]]:
    """What `@x.append` and `@x.get("/path")` decorate."""
    for function, inner in list(module.functions.items()) if f"{name}." in module.source.text else ():
        for decorator in getattr(function, "decorator_list", ()):
            match decorator:
                case ast.Attribute(value=held, attr=method) | ast.Call(func=ast.Attribute(value=held, attr=method)) if (
                    method in (ROUTES if isinstance(decorator, ast.Call) else _PUTS)
                ):
                    item = ast.copy_location(ast.Name(getattr(function, "name", ""), ast.Load()), function)
                    info = module.classes.get(inner.owner) if inner.owner is not None else None
                    outside = info.body_scope if info is not None else inner.parent or module.scope
                    held = _routed(held, name)
                    if _ends(held, name):
                        yield Entry(None, item, outside, decorator), held


def _routed(subject: ast.expr, name: str) -> ast.expr:
    """The application in `app.router`."""
    is_part = isinstance(subject, ast.Attribute) and subject.attr == "router" != name
    return subject.value if isinstance(subject, ast.Attribute) and is_part else subject


def _ends(subject: ast.expr, name: str) -> bool:
    return getattr(subject, "id", None) == name or getattr(subject, "attr", None) == name
