"""The expressions that names are bound to, through imports, and the parts of the objects that these create."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.meaning.kinds import ancestry
from mcpcore_lint.meaning.resolve import evaluate
from mcpcore_lint.meaning.symbols import class_info, class_round
from mcpcore_lint.model import CallValue, Symbol
from mcpcore_lint.names import FRAMEWORKS

if TYPE_CHECKING:
    from mcpcore_lint.reading.module import ClassInfo
    from mcpcore_lint.reading.scopes import Binding, Scope
    from mcpcore_lint.registrations.frames import Env, Placed

DEEP: Final = 8
"""How many bindings of a name are looked at, and how many imports deep."""


def bound(node: ast.expr, scope: Scope) -> list[Placed]:
    """The expressions that a name or an attribute is bound to, each with the scope to read it in, through imports."""
    if isinstance(node, ast.Name):
        found = scope.lookup(node.id)
        if found is not None:
            return _bound_by(found[1], found[0], node)
        for source, level in scope.module.star_imports:
            module = scope.module.project.module_of(scope.module, source, level)
            if module is not None and node.id in module.scope.bindings:
                return _bound_by(module.scope.bindings[node.id], module.scope, node)
        return []
    if not isinstance(node, ast.Attribute):
        return []
    base = evaluate(node.value, scope)
    if isinstance(base, Symbol) and isinstance(base.definition, ast.Module):
        owner = scope.module.project.module_by_name(base.name, base.definition)
        if owner is not None and node.attr in owner.scope.bindings:
            return _bound_by(owner.scope.bindings[node.attr], owner.scope, node)
        return []
    info: ClassInfo | None = None
    if isinstance(base, Symbol) and isinstance(base.definition, ast.ClassDef):
        info = scope.module.project.class_info(base.definition)
    elif isinstance(base, CallValue) and isinstance(base.func.definition, ast.ClassDef):
        info = scope.module.project.class_info(base.func.definition)
    elif isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}:
        info = class_round(scope)
    for each in ancestry(info) if info is not None else ():
        own = [
            (binding.value, each.body_scope)
            for binding in each.attributes.get(node.attr, ())
            if binding.value is not None
        ]
        own += [(value, where) for _, value, where in each.instance_attributes.get(node.attr, ()) if value is not None]
        if own:
            return own
    return []


def _bound_by(bindings: list[Binding], where: Scope, node: ast.expr, depth: int = 0) -> list[Placed]:
    found: list[Placed] = []
    for binding in bindings[:DEEP]:
        if binding.kind in {"assign", "annotated"} and binding.value is not None and binding.value is not node:
            found.append((binding.value, where))
        elif binding.kind == "import" and binding.target is not None and binding.target[1] is not None:
            source, name, level = binding.target
            module = where.module.project.module_of(where.module, source, level)
            if module is not None and name in module.scope.bindings and depth < DEEP:
                found.extend(_bound_by(module.scope.bindings[name], module.scope, node, depth + 1))
    return found


def bind(target: ast.expr, element: Placed, env: Env) -> None:
    """Fill in the variables of a loop or of an assignment."""
    item, scope = element
    if isinstance(target, ast.Name):
        env[target.id] = element
    elif isinstance(target, (ast.Tuple, ast.List)):
        if isinstance(item, ast.Name):
            made = bound(item, scope)
            if len(made) == 1:
                item, scope = made[0]
        items: list[ast.expr] = []
        if isinstance(item, (ast.Tuple, ast.List)):
            items = item.elts
        elif isinstance(item, ast.Call):
            items = item.args
        if len(items) == len(target.elts) and not any(isinstance(each, ast.Starred) for each in target.elts):
            for each, one in zip(target.elts, items, strict=True):
                bind(each, (one, scope), env)


def see(node: ast.expr, scope: Scope, env: Env) -> Placed:
    """An expression with the variables of a loop filled in: `fn`, `spec.fn`, `spec["fn"]`, `spec[0]`."""
    if not env:
        return node, scope
    if isinstance(node, ast.Name):
        return env.get(node.id, (node, scope))
    if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.value, ast.Name) and node.value.id in env:
        item, where = env[node.value.id]
        found = _part(item, where, node)
        if found is not None:
            return found
        if isinstance(node, ast.Attribute):
            return ast.copy_location(ast.Attribute(item, node.attr, ast.Load()), node), where
    return node, scope


def _part(item: ast.expr, scope: Scope, node: ast.Attribute | ast.Subscript) -> Placed | None:
    """A part of an object that is made in front of our eyes."""
    if isinstance(item, ast.Name):
        made = bound(item, scope)
        if len(made) != 1 or isinstance(made[0][0], ast.Name):
            return None
        item, scope = made[0]
    if isinstance(node, ast.Subscript):
        key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if isinstance(item, ast.Dict):
            for each, value in zip(item.keys, item.values, strict=True):
                if isinstance(each, ast.Constant) and each.value == key:
                    return value, scope
        elif isinstance(item, (ast.Tuple, ast.List)) and isinstance(key, int) and -1 <= key < len(item.elts) > 0:
            return item.elts[key], scope
        return None
    if isinstance(item, ast.Dict):
        # A record that is made of a dict.
        for each, value in zip(item.keys, item.values, strict=True):
            if isinstance(each, ast.Constant) and each.value == node.attr:
                return value, scope
    if not isinstance(item, ast.Call):
        return None
    symbol = evaluate(item.func, scope)
    if isinstance(symbol, Symbol) and symbol.name.partition(".")[0] in FRAMEWORKS:
        return None  # objects of the frameworks are registered where they are created
    for keyword in item.keywords:
        if keyword.arg == node.attr:
            return keyword.value, scope
    info = class_info(symbol) if isinstance(symbol, Symbol) else None
    if info is not None and "__init__" not in info.methods:
        fields = [name for name, bindings in info.attributes.items() if bindings[0].kind == "annotated"]
        if node.attr in fields and fields.index(node.attr) < len(item.args):
            return item.args[fields.index(node.attr)], scope
    return None


__all__ = ["bind", "bound", "see"]
