"""The members of modules and classes: all of them, or one by its name."""

from __future__ import annotations

import ast
import os
from typing import TYPE_CHECKING, Final

from mcpcore_lint.model import CallValue, Symbol, Text, options, string
from mcpcore_lint.registrations.bindings import DEEP, bound, see
from mcpcore_lint.registrations.frames import Frame
from mcpcore_lint.semantics.evaluate import evaluate
from mcpcore_lint.semantics.symbols import class_round
from mcpcore_lint.semantics.type_model import ancestry

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore_lint.registrations.frames import Placed
    from mcpcore_lint.registrations.handlers import Targets
    from mcpcore_lint.syntax.module import ClassInfo, Module
    from mcpcore_lint.syntax.scopes import Scope

_IMPORTS: Final = frozenset({"importlib.import_module", "builtins.__import__"})
_NAMESPACES: Final = frozenset({"vars", "globals", "locals"})


class Members:
    """Finds them, for one file."""

    def __init__(self, targets: Targets) -> None:
        self.targets = targets
        self._deep = 0

    # -- texts -------------------------------------------------------------------------------------------------------

    def text(self, node: ast.expr, scope: Scope) -> str | None:
        """The text that an expression is, also where it is the name of a function or a module."""
        if self._deep > DEEP:
            return None
        self._deep += 1
        try:
            return self._text(node, scope)
        finally:
            self._deep -= 1

    def _text(self, node: ast.expr, scope: Scope) -> str | None:
        if isinstance(scope, Frame):
            node, scope = see(node, scope, scope.filled)
        known = string(evaluate(node, scope))
        if known is not None:
            return known
        if isinstance(node, ast.Name):
            if node.id in {"__name__", "__package__"}:
                module = scope.module
                return module.name if node.id == "__name__" or module.is_package else module.name.rpartition(".")[0]
            made = bound(node, scope)
            return self.text(*made[0]) if len(made) == 1 and not isinstance(made[0][0], ast.Name) else None
        if isinstance(node, ast.Attribute) and node.attr in {"__name__", "__module__", "__package__"}:
            module_here = self.module(node.value, scope)
            if module_here is not None:
                return module_here.name
            functions = self.targets.behind(node.value, scope)
            if len({each.node for each in functions}) == 1:
                return string(functions[0].name) if node.attr == "__name__" else functions[0].module.name
        if isinstance(node, ast.JoinedStr):
            return self._joined(node, scope)
        return None

    def _joined(self, node: ast.JoinedStr, scope: Scope) -> str | None:
        parts: list[str] = []
        for each in node.values:
            part = string(evaluate(each, scope)) if isinstance(each, ast.Constant) else None
            if isinstance(each, ast.FormattedValue) and each.format_spec is None:
                part = self.text(each.value, scope)
            if part is None:
                return None
            parts.append(part)
        return "".join(parts)

    @staticmethod
    def named(name: str, at: ast.expr) -> ast.expr:
        """The name of a member, as an expression."""
        return ast.copy_location(ast.Constant(name), at)

    # -- modules -----------------------------------------------------------------------------------------------------

    def module(self, node: ast.expr, scope: Scope, depth: int = 0) -> Module | None:
        """The module of the project that an expression evaluates to, or None."""
        if depth > DEEP or self.targets.too_much():
            return None
        if isinstance(scope, Frame):
            node, scope = see(node, scope, scope.filled)
        if isinstance(node, ast.Constant):
            return None
        value = evaluate(node, scope)
        if isinstance(value, Symbol) and isinstance(value.definition, ast.Module):
            return scope.module.project.module_by_name(value.name, value.definition)
        if isinstance(node, ast.Call):
            return self._imported(node, scope, depth)
        if isinstance(node, ast.Subscript):
            table = evaluate(node.value, scope)
            if isinstance(table, Symbol) and table.name == "sys.modules":
                return self._by_name(self.text(node.slice, scope), scope)
        for each, where in bound(node, scope):
            module = self.module(each, where, depth + 1)
            if module is not None:
                return module
        return None

    def _imported(self, node: ast.Call, scope: Scope, depth: int) -> Module | None:
        callee = evaluate(node.func, scope)
        if not isinstance(callee, Symbol) or not node.args:
            return None
        if callee.name == "builtins.getattr" and len(node.args) > 1:
            package = self.module(node.args[0], scope, depth + 1)
            name = self.text(node.args[1], scope)
            if package is None or name is None or not package.is_package:
                return None
            return package.project.module_of(package, name, 1)
        if callee.name not in _IMPORTS:
            return None
        name = self.text(node.args[0], scope)
        package_given = [*node.args[1:2], *(each.value for each in node.keywords if each.arg == "package")]
        if name is not None and name.startswith(".") and callee.name in _IMPORTS:
            package_name = self.text(package_given[0], scope) if package_given else None
            if package_name is None:
                return None
            level = len(name) - len(name.lstrip("."))
            above = package_name.split(".")
            name = ".".join([*above[: len(above) - level + 1], name.lstrip(".")])
        return self._by_name(name, scope)

    @staticmethod
    def _by_name(name: str | None, scope: Scope) -> Module | None:
        if not name or not name.strip("."):
            return None
        if name == scope.module.name:
            return scope.module
        return scope.module.project.module_of(scope.module, name, 0)

    def submodules(self, node: ast.Call, scope: Scope) -> Iterator[ast.expr]:
        """What `pkgutil.iter_modules(package.__path__, prefix)` gives: records of finder, name and `ispkg`."""
        prefix = ""
        prefixes = [*node.args[1:2], *(each.value for each in node.keywords if each.arg == "prefix")]
        if prefixes:
            told = self.text(prefixes[0], scope)
            if told is None:
                return
            prefix = told
        paths = [*node.args[:1], *(each.value for each in node.keywords if each.arg == "path")]
        folder = self._folder(paths[0], scope, 0) if paths else None
        try:
            names = sorted(os.listdir(folder)) if folder is not None else []
        except OSError:
            return
        for each in names:
            name, dot, suffix = each.partition(".")
            is_package = not dot and folder is not None and os.path.isfile(os.path.join(folder, each, "__init__.py"))
            if name == "__init__" or not name.isidentifier() or not (suffix == "py" or is_package):
                continue
            parts: list[ast.expr] = [ast.Constant(None), ast.Constant(prefix + name), ast.Constant(is_package)]
            keywords = [ast.keyword(key, part) for key, part in zip(("finder", "name", "ispkg"), parts, strict=True)]
            record = ast.Call(ast.Name("ModuleInfo", ast.Load()), parts, keywords)
            for part in (record.func, record, *parts):
                ast.copy_location(part, node)
            yield record

    def _folder(self, node: ast.expr, scope: Scope, depth: int) -> str | None:
        """The folder that a search path names: `package.__path__`, `__path__`, or the folder of the file."""
        if isinstance(node, ast.Attribute) and node.attr == "__path__":
            package = self.module(node.value, scope)
            return os.path.dirname(package.absolute) if package is not None and package.is_package else None
        if isinstance(node, ast.Name):
            if node.id == "__path__":
                return os.path.dirname(scope.module.absolute)
            made = bound(node, scope)
            return self._folder(*made[0], depth + 1) if len(made) == 1 and depth < DEEP else None
        if isinstance(node, ast.List) and len(node.elts) == 1:
            return self._folder(node.elts[0], scope, depth)
        if ast.unparse(node) in _OWN_FOLDER:
            return os.path.dirname(scope.module.absolute)
        return None

    # -- members -----------------------------------------------------------------------------------------------------

    def of(self, node: ast.expr, scope: Scope) -> list[tuple[str, Placed]]:
        """The members of a module, a class or an object, each with what it is; `node` may be its `__dict__` as well."""
        inner = self.holder(node)
        if inner is not None:
            node = inner
            if isinstance(node, ast.Call):
                return self._of_module(scope.module)
        module = self.module(node, scope)
        if module is not None:
            return self._of_module(module)
        info = self._class(node, scope)
        found: dict[str, tuple[str, Placed]] = {}
        for each in ancestry(info) if info is not None else ():
            for name in each.methods:
                member = ast.copy_location(ast.Attribute(node, name, ast.Load()), node)
                found.setdefault(name, (name, (member, scope)))
        return [found[name] for name in sorted(found)]

    @staticmethod
    def holder(node: ast.expr) -> ast.expr | None:
        """What `vars(x)` and `x.__dict__` are about; the call itself where that is the own module."""
        if isinstance(node, ast.Attribute) and node.attr == "__dict__":
            return node.value
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _NAMESPACES:
            return node.args[0] if node.args else node
        return None

    @staticmethod
    def _of_module(module: Module) -> list[tuple[str, Placed]]:
        names = sorted(module.scope.bindings)
        at = module.tree.body[0] if module.tree.body else None
        found: list[tuple[str, Placed]] = []
        for name in names:
            node = ast.Name(name, ast.Load())
            if at is not None:
                ast.copy_location(node, at)
            found.append((name, (node, module.scope)))
        return found

    def _class(self, node: ast.expr, scope: Scope) -> ClassInfo | None:
        if isinstance(node, ast.Name) and node.id in {"self", "cls"}:
            return class_round(scope)
        for each in options(evaluate(node, scope)):
            symbol = each.func if isinstance(each, CallValue) else each
            if isinstance(symbol, Symbol) and isinstance(symbol.definition, ast.ClassDef):
                return scope.module.project.class_info(symbol.definition)
        return None

    def named_members(self, holder: ast.expr, name: ast.expr, scope: Scope) -> list[Placed]:
        """What `getattr(holder, name)` gives: one member, or all whose names begin and end so."""
        text = self.text(name, scope)
        inner = self.holder(holder)
        if text is None:
            value = evaluate(*see(name, scope, scope.filled)) if isinstance(scope, Frame) else evaluate(name, scope)
            parts = value.parts if isinstance(value, Text) else ()
            before, after = (parts[0] or "", parts[-1] or "") if len(parts) > 1 else ("", "")
            if not (before or after):
                return []
            return [
                placed
                for member, placed in self.of(holder, scope)
                if member.startswith(before) and member.endswith(after) and len(member) > len(before) + len(after)
            ]
        if not text.isidentifier():
            return []
        module = scope.module if isinstance(inner, ast.Call) else self.module(inner or holder, scope)
        if module is not None:
            return [(ast.copy_location(ast.Name(text, ast.Load()), name), module.scope)]
        return [(ast.copy_location(ast.Attribute(inner or holder, text, ast.Load()), name), scope)]

    def home(self, node: ast.expr, scope: Scope) -> Placed | None:
        """The same name in the file that it is imported from; None for any other."""
        place = scope.lookup(node.id) if isinstance(node, ast.Name) else None
        if place is not None:
            target = place[1][0].target if place[1][0].kind == "import" else None
            if target is None or target[1] is None:
                return None
            module = place[0].module.project.module_of(place[0].module, target[0], target[2])
            name = target[1]
        elif isinstance(node, ast.Attribute):
            module, name = self.module(node.value, scope), node.attr
        else:
            return None
        if module is None or name not in module.scope.bindings or module is scope.module:
            return None
        return ast.copy_location(ast.Name(name, ast.Load()), node), module.scope


_OWN_FOLDER: Final = frozenset(
    {
        "os.path.dirname(__file__)",
        "os.path.dirname(os.path.abspath(__file__))",
        "str(Path(__file__).parent)",
        "Path(__file__).parent",
        "str(Path(__file__).resolve().parent)",
        "Path(__file__).resolve().parent",
    }
)

__all__ = ["Members"]
