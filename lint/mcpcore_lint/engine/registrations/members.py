"""The members of modules, classes and objects: all of them, or one by its name; and modules imported by name."""

from __future__ import annotations

import ast
import os
from typing import TYPE_CHECKING, Final

from mcpcore_lint.engine.registrations.environment import (
    DEEP,
    Placed,
    assignments_of,
    in_module,
    substitute,
    written_scope,
)
from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.semantics.symbols import class_round
from mcpcore_lint.engine.semantics.type_model import ancestry, name_of
from mcpcore_lint.engine.syntax.parse import children
from mcpcore_lint.model import CallValue, Symbol, Text, options, string

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore_lint.engine.registrations.elements import Pair
    from mcpcore_lint.engine.registrations.functions import Functions
    from mcpcore_lint.engine.syntax.module import Module
    from mcpcore_lint.engine.syntax.scopes import Scope


IMPORTS: Final = frozenset({"importlib.import_module", "builtins.__import__"})
_NAMESPACES: Final = frozenset({"vars", "globals", "locals"})


class Members:
    """Finds them, for one file."""

    def __init__(self, functions: Functions) -> None:
        self.functions = functions
        self._depth = 0

    # -- texts -------------------------------------------------------------------------------------------------------

    def text(self, node: ast.expr, scope: Scope) -> str | None:
        """The text that an expression is, also the name of a function or of a module."""
        if self._depth > DEEP:
            return None
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, str) else None
        self._depth += 1
        try:
            return self._text(node, scope)
        finally:
            self._depth -= 1

    def _text(self, node: ast.expr, scope: Scope) -> str | None:
        node, scope = substitute(node, scope)
        known = string(evaluate(node, scope))
        if known is not None:
            return known
        if isinstance(node, ast.Name):
            if node.id in {"__name__", "__package__"}:
                module = scope.module
                return module.name if node.id == "__name__" or module.is_package else module.name.rpartition(".")[0]
            values = assignments_of(node, scope)
            return self.text(*values[0]) if len(values) == 1 and not isinstance(values[0][0], ast.Name) else None
        if isinstance(node, ast.Attribute) and node.attr in {"__name__", "__module__", "__package__"}:
            module_here = self.module(node.value, scope)
            if module_here is not None:
                return module_here.name
            functions = self.functions.behind(node.value, scope)
            if len({function.node for function in functions}) == 1:
                return string(functions[0].name) if node.attr == "__name__" else functions[0].module.name
        if isinstance(node, ast.JoinedStr):
            parts = [self._part(part, scope) for part in node.values]
            return None if None in parts else "".join(part for part in parts if part is not None)
        return None

    def _part(self, node: ast.expr, scope: Scope) -> str | None:
        if isinstance(node, ast.FormattedValue):
            return self.text(node.value, scope) if node.format_spec is None else None
        return string(evaluate(node, scope))

    # -- modules -----------------------------------------------------------------------------------------------------

    def module(self, node: ast.expr, scope: Scope, depth: int = 0) -> Module | None:
        """The module of the project that an expression evaluates to, or None."""
        if depth > DEEP or self.functions.too_many_steps():
            return None
        node, scope = substitute(node, scope)
        value = evaluate(node, scope)
        definition = value.definition if isinstance(value, Symbol) else None
        if isinstance(value, Symbol) and definition is not None:
            project = scope.module.project
            return project.module_by_name(value.name, definition) if isinstance(definition, ast.Module) else None
        if isinstance(node, ast.Call):
            return self._imported(node, scope)
        if isinstance(node, ast.Subscript) and name_of(node.value, scope) == "sys.modules":
            return _by_name(self.text(node.slice, scope), scope)
        modules = (self.module(placed, where, depth + 1) for placed, where in assignments_of(node, scope))
        return next((module for module in modules if module is not None), None)

    def modules(self, node: ast.expr, scope: Scope, depth: int = 0) -> list[Module]:
        """The module that an expression evaluates to, or all those of a folder, one of which it is in each round."""
        module = self.module(node, scope)
        if module is not None or depth > DEEP:
            return [] if module is None else [module]
        node, scope = substitute(node, scope)
        if isinstance(node, ast.Call):
            return imported_modules(node, scope, self.functions)
        return [inner for placed in assignments_of(node, scope) for inner in self.modules(*placed, depth + 1)]

    def _imported(self, node: ast.Call, scope: Scope) -> Module | None:
        """The module of `import_module(name)`."""
        if not node.args or name_of(node.func, scope) not in IMPORTS:
            return None
        name = self.text(node.args[0], scope)
        if name is not None and name.startswith("."):
            from importlib.util import resolve_name

            packages = [*node.args[1:2], *(keyword.value for keyword in node.keywords if keyword.arg == "package")]
            package = self.text(packages[0], scope) if packages else None
            name = resolve_name(name, package) if package else None
        return _by_name(name, scope)

    # -- members -----------------------------------------------------------------------------------------------------

    def of(self, node: ast.expr, scope: Scope) -> list[Pair]:
        """The members of a module, a class or an object, or of its `__dict__`: each with its name."""
        node = self.holder(node) or node
        own = isinstance(node, ast.Call) and self.holder(node) is node
        modules = [scope.module] if own else self.modules(node, scope)
        if modules:
            return [
                (_constant(name, node), _name(name, module.tree.body[0] if module.tree.body else node), module.scope)
                for module in modules
                for name in sorted(module.scope.bindings)
                # A module of a folder rather imports helpers than tools.
                if len(modules) == 1 or module.scope.bindings[name][0].kind != "import"
            ]
        kinds = [
            scope.module.project.class_info(symbol.definition)
            for value in options(evaluate(node, scope))
            for symbol in [value.func if isinstance(value, CallValue) else value]
            if isinstance(symbol, Symbol) and isinstance(symbol.definition, ast.ClassDef)
        ]
        info = class_round(scope) if getattr(node, "id", "") in {"self", "cls"} else next(iter(kinds), None)
        methods = sorted({name for base in (ancestry(info) if info is not None else ()) for name in base.methods})
        return [
            (_constant(name, node), ast.copy_location(ast.Attribute(node, name, ast.Load()), node), scope)
            for name in methods
        ]

    @staticmethod
    def holder(node: ast.expr) -> ast.expr | None:
        """The object of `vars(x)` and `x.__dict__`; the call itself in `globals()`."""
        if isinstance(node, ast.Attribute) and node.attr == "__dict__":
            return node.value
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _NAMESPACES:
            return node.args[0] if node.args else node
        return None

    def named_members(self, holder: ast.expr, name: ast.expr, scope: Scope) -> list[Placed]:
        """The value of `getattr(holder, name)`: one member, or all members with its known beginning and end."""
        text = self.text(name, scope)
        if text is None:
            value = evaluate(*substitute(name, scope))
            parts = value.parts if isinstance(value, Text) else ()
            before, after = (parts[0] or "", parts[-1] or "") if len(parts) > 1 else ("", "")
            placed: list[Placed] = []
            for key, member, where in self.of(holder, scope) if before or after else []:
                word = string(evaluate(key, where)) or ""
                # The part that varies is not empty: `getattr(self, f"do_{name}")` does not mean a member `do_`.
                if word.startswith(before) and word.endswith(after) and len(word) > len(before) + len(after):
                    placed.append((member, where))
            return placed
        if not text.isidentifier():
            return []
        inner = self.holder(holder)
        modules = [scope.module] if isinstance(inner, ast.Call) else self.modules(inner or holder, scope)
        if modules:
            known = [module for module in modules if text in module.scope.bindings] or modules[:1]
            return [(_name(text, name), module.scope) for module in known]
        return [(ast.copy_location(ast.Attribute(inner or holder, text, ast.Load()), name), scope)]

    def home(self, node: ast.expr, scope: Scope) -> list[Placed]:
        """The name that `module.name` is in its file, if the module is known; nothing for other expressions."""
        if not isinstance(node, ast.Attribute):
            return []
        return [placed for module in self.modules(node.value, scope) for placed in in_module(node.attr, module, node)]


def _by_name(name: str | None, scope: Scope) -> Module | None:
    if not name or not name.strip("."):
        return None
    module = scope.module
    return module if name == module.name else module.project.module_of(module, name, 0)


def _name(name: str, at: ast.AST) -> ast.expr:
    return ast.copy_location(ast.Name(name, ast.Load()), at)


def _constant(name: str, at: ast.AST) -> ast.expr:
    return ast.copy_location(ast.Constant(name), at)


_LOADS: Final = frozenset(
    {"importlib.import_module", "builtins.__import__", "importlib.util.module_from_spec", "importlib.util.find_spec"}
)
_SAME: Final = frozenset({"Path", "PurePath", "abspath", "realpath", "str", "fspath", "resolve", "absolute", "list"})
"""Functions and methods that return the path that they get."""
_DEEPER: Final = frozenset({"walk_packages", "walk", "rglob"})
"""Functions that go through the folders in a folder as well."""
_STEPS: Final = 60


def imported_modules(call: ast.Call, scope: Scope, functions: Functions) -> list[Module]:
    """The modules that a call imports whose name or path is only known at run time: all those of the folder."""
    if name_of(call.func, scope) not in _LOADS or not call.args:
        return []
    module, folder, is_deep = written_scope(scope).module, _of_package(call, scope), False
    queue: list[Placed] = [(argument, scope) for argument in call.args] if folder is None else []
    seen: set[ast.expr] = set()
    # The queue grows while it is read, so the nearest folder is found first.
    for node, where in queue:
        if node in seen or len(seen) > _STEPS:
            continue
        seen.add(node)
        is_deep |= isinstance(node, ast.Call) and getattr(node.func, "attr", "") in _DEEPER
        folder = _folder(node, where)
        if folder is not None and os.path.isdir(folder):
            break
        folder = None
        queue += _parts(node, where, functions)
    modules = module.project.modules_with(module, lambda text: "def " in text) if folder is not None else None
    return [
        part
        for part in modules or ()
        if folder is not None and not part.is_package and part is not module
        if os.path.dirname(part.absolute) == folder or (is_deep and part.absolute.startswith(folder + os.sep))
    ]


def _of_package(call: ast.Call, scope: Scope) -> str | None:
    """The folder of the package in `import_module(f"acme.tools.{name}")` and `import_module(f".{name}", __name__)`."""
    value = evaluate(*substitute(call.args[0], scope))
    start = (value.parts[0] or "") if isinstance(value, Text) and value.parts else ""
    here = written_scope(scope).module
    name = start.rpartition(".")[0]
    if start == ".":
        packages = [*call.args[1:2], *(keyword.value for keyword in call.keywords)]
        package = packages[0] if packages else None
        name = string(evaluate(package, scope)) or "" if package is not None else ""
        if getattr(package, "id", "") in {"__name__", "__package__"}:
            return os.path.dirname(here.absolute)
    home = here.project.module_of(here, name, 0) if name else None
    return os.path.dirname(home.absolute) if home is not None and home.is_package else None


def _parts(node: ast.expr, scope: Scope, functions: Functions) -> Iterator[Placed]:
    """The expressions that an expression is made of: its parts, and the values of its names."""
    seen = substitute(node, scope)
    if seen[0] is not node:
        yield seen
    elif isinstance(node, ast.Name):
        yield from functions.elements.origins(node, scope)
    else:
        for part in children(node):
            inner = part.iter if isinstance(part, ast.comprehension) else part
            inner = inner.value if isinstance(inner, ast.keyword) else inner
            if isinstance(inner, ast.expr):
                yield inner, scope


def _folder(node: ast.expr, scope: Scope, depth: int = 0) -> str | None:
    """The path that an expression is, if it starts at a file or a package of the project."""
    if depth > DEEP:
        return None
    node, scope = substitute(node, scope)

    def inner(part: ast.expr) -> str | None:
        return _folder(part, scope, depth + 1)

    def joined(whole: ast.expr, *parts: ast.expr) -> str | None:
        start, texts = inner(whole), [string(evaluate(part, scope)) for part in parts]
        return None if start is None or None in texts else os.path.normpath(os.path.join(start, *filter(None, texts)))

    match node:
        case ast.Name(id="__file__"):
            return scope.module.absolute
        case ast.Name(id="__path__"):
            return os.path.dirname(scope.module.absolute)
        case ast.Attribute(value=value, attr="__path__" | "__file__"):
            symbol = evaluate(value, scope)
            tree = symbol.definition if isinstance(symbol, Symbol) else None
            owner = scope.module.project.module_by_name(symbol.name, tree) if isinstance(tree, ast.Module) else None  # type: ignore[attr-defined]
            path = owner.absolute if owner is not None else None
            return os.path.dirname(path) if path is not None and node.attr == "__path__" else path
        case ast.Attribute(value=value, attr="parent") | ast.Call(func=ast.Attribute(attr="dirname"), args=[value]):
            path = inner(value)
            return os.path.dirname(path) if path is not None else None
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return joined(left, right)
        case ast.Call(func=ast.Attribute(attr="join"), args=[whole, *parts]):
            return joined(whole, *parts)
        case ast.Call(func=ast.Attribute(value=whole, attr="joinpath"), args=parts):
            return joined(whole, *parts)
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[value]) if name in _SAME:
            return inner(value)
        case ast.Call(func=ast.Attribute(value=value, attr=name), args=[]) if name in _SAME:
            return inner(value)
        # `__path__[0]`: a package has a list of folders.
        case ast.Subscript(value=value, slice=ast.Constant()):
            return inner(value)
        case ast.Name():
            values = assignments_of(node, scope)
            return _folder(*values[0], depth + 1) if len(values) == 1 else None
    return None
