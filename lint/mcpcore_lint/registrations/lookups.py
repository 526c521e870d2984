"""What stands in tables from names to functions: written down, made by a function, or put in by a decorator."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.model import Const, Symbol, Value, options, string
from mcpcore_lint.registrations.bindings import bind, bound, see
from mcpcore_lint.registrations.servers import arguments_of
from mcpcore_lint.semantics.evaluate import evaluate
from mcpcore_lint.syntax.parse import alternatives, own_nodes, statements, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore_lint.registrations.frames import Env, Placed
    from mcpcore_lint.registrations.handlers import Targets
    from mcpcore_lint.syntax.module import Module
    from mcpcore_lint.syntax.scopes import Scope

DEEP: Final = 8
"""How many names and tables deep an entry is looked for."""
_ITEM: Final = ast.Name("<item>", ast.Load())
"""What stands for the entry that is looked at."""


class Tables:
    """Finds what stands in tables from names to functions."""

    def __init__(self, targets: Targets, module: Module) -> None:
        self.targets = targets
        self.module = module

    def entries(self, node: ast.expr, scope: Scope, depth: int = 0) -> Iterator[tuple[Value, Placed]]:
        """What a table has for each name."""
        if depth > DEEP or self.targets.too_much():
            return
        deeper = depth + 1
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if key is None:
                    yield from self.entries(value, scope, deeper)
                else:
                    for name in options(evaluate(key, scope)):
                        yield name, (value, scope)
        elif isinstance(node, ast.BinOp):
            yield from self.entries(node.left, scope, deeper)
            yield from self.entries(node.right, scope, deeper)
        elif isinstance(node, (ast.IfExp, ast.BoolOp)):
            for each in alternatives(node):
                yield from self.entries(each, scope, deeper)
        elif isinstance(node, ast.DictComp):
            yield from self._comprehended(node, scope, deeper)
        elif isinstance(node, ast.Call):
            yield from self._called(node, scope, deeper)
        elif isinstance(node, (ast.Name, ast.Attribute)):
            for each, where in bound(node, scope):
                yield from self.entries(each, where, deeper)
            yield from self._put_in(node, scope)

    def rounds(self, node: ast.expr, scope: Scope) -> tuple[ast.expr, list[Env]]:
        """What names stand for with each entry of a table that a name is looked up in: `fn, options = TABLE[name]`.

        With it comes what is registered, in terms of these names.
        """
        node, looked = _rooted(node, scope)
        if looked is not None:
            return node, self._each(looked, _ITEM, _ITEM, scope)
        seen: set[str] = set()
        stack = [node]
        while stack and len(seen) < DEEP:
            for name in walk([stack.pop()]):
                place = scope.lookup(name.id) if isinstance(name, ast.Name) and name.id not in seen else None
                if place is None or place[0] is not scope or not isinstance(name, ast.Name):
                    continue
                seen.add(name.id)
                for each in place[1]:
                    statement = each.node
                    if not isinstance(statement, (ast.Assign, ast.AnnAssign)) or statement.value is None:
                        continue
                    value, looked = _rooted(statement.value, scope)
                    if looked is None:
                        stack.append(value)
                        continue
                    target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
                    return node, self._each(looked, value, target, scope)
        return node, []

    def _each(self, looked: ast.expr, value: ast.expr, target: ast.expr, scope: Scope) -> list[Env]:
        """What an assignment fills in for each entry of a table; `value` is what it takes of the entry."""
        table, key = _asked(looked)
        if not isinstance(key, ast.Name):
            return []
        self.targets.steps = 0
        wanted = self._wanted(key, scope)
        found: list[Env] = []
        for name, item in self.entries(table, scope):
            text = string(name)
            if wanted and text not in wanted:
                continue
            env: Env = {}
            bind(target, see(value, scope, {_ITEM.id: item}), env)
            if text is not None:
                env[key.id] = ast.copy_location(ast.Constant(text), looked), scope
            found.append(env)
        return found

    def _wanted(self, key: ast.Name, scope: Scope) -> set[str | None]:
        """The names that the loop round a key goes through, as far as they can be seen."""
        current = scope.module.parents.get(key)
        while current is not None and not isinstance(current, (ast.FunctionDef, ast.AsyncFunctionDef)):
            loops = [current] if isinstance(current, (ast.For, ast.AsyncFor)) else getattr(current, "generators", ())
            for each in loops:
                if isinstance(each.target, ast.Name) and each.target.id == key.id:
                    return {string(evaluate(*one)) for one in self.targets.elements(each.iter, scope)}
            current = scope.module.parents.get(current)
        return set()

    def _comprehended(self, node: ast.DictComp, scope: Scope, depth: int) -> Iterator[tuple[Value, Placed]]:
        generator = node.generators[0]
        source = generator.iter
        if isinstance(source, ast.Call) and isinstance(source.func, ast.Attribute) and source.func.attr == "items":
            pair = generator.target.elts if isinstance(generator.target, ast.Tuple) else []
            if [_named(each) for each in pair] == [_named(node.key), _named(node.value)]:
                yield from self.entries(source.func.value, scope, depth)
            return
        for item in self.targets.elements(source, scope):
            env: Env = {}
            bind(generator.target, item, env)
            key = see(node.key, scope, env)
            yield evaluate(*key), see(node.value, scope, env)

    def _called(self, node: ast.Call, scope: Scope, depth: int) -> Iterator[tuple[Value, Placed]]:
        func = evaluate(node.func, scope)
        if not isinstance(func, Symbol):
            return
        if func.name in {"builtins.dict", "types.MappingProxyType"}:
            for each in node.args:
                yield from self.entries(each, scope, depth)
            for keyword in node.keywords:
                if keyword.arg is None:
                    yield from self.entries(keyword.value, scope, depth)
                else:
                    yield Const(keyword, scope.module, keyword.arg), (keyword.value, scope)
        elif isinstance(func.definition, (ast.FunctionDef, ast.AsyncFunctionDef)):
            owner = scope.module.project.module_defining(func.definition)
            for one in own_nodes(func.definition) if owner is not None else ():
                if isinstance(one, ast.Return) and one.value is not None and owner is not None:
                    yield from self.entries(one.value, owner.scope_of(func.definition), depth)

    # -- what is put in later ----------------------------------------------------------------------------------------

    def _put_in(self, node: ast.Name | ast.Attribute, scope: Scope) -> Iterator[tuple[Value, Placed]]:
        """`TABLE["x"] = do_x`, at the top or in a decorator that registers what it is given."""
        name = node.id if isinstance(node, ast.Name) else node.attr
        home = scope.module
        if isinstance(node, ast.Name):
            place = scope.lookup(name)
            target = place[1][0].target if place is not None and place[1][0].kind == "import" else None
            if target is not None and target[1] is not None:
                found = home.project.module_of(home, target[0], target[2])
                if found is not None:
                    home, name = found, target[1]
        if f"{name}[" not in home.source.text:
            return
        home.complete()
        bodies: list[tuple[list[ast.stmt], Scope]] = [(home.tree.body, home.scope)]
        bodies += [
            (each.body, inside) for each, inside in list(home.functions.items()) if not isinstance(each, ast.Lambda)
        ]
        for body, inside in bodies:
            for each in statements(body):
                if not isinstance(each, ast.Assign) or not isinstance(each.targets[0], ast.Subscript):
                    continue
                table = each.targets[0]
                if not _called_so(table.value, name):
                    continue
                key = table.slice
                if isinstance(each.value, ast.Name) and _parameter(each.value, inside):
                    yield from self._registered(key, inside, home)
                elif not (isinstance(key, ast.Name) and _parameter(key, inside)):
                    yield evaluate(key, inside), (each.value, inside)

    def _registered(self, key: ast.expr, inside: Scope, home: Module) -> Iterator[tuple[Value, Placed]]:
        """The functions that are decorated with what puts its parameter into a table."""
        decorator = inside.node
        round_it = inside.parent.node if inside.parent is not None else None
        for module in self._near(home):
            for function, scope in list(module.functions.items()):
                if isinstance(function, ast.Lambda):
                    continue
                for each in function.decorator_list:
                    outside = scope.parent or module.scope
                    maker = evaluate(each.func if isinstance(each, ast.Call) else each, outside)
                    made = maker.definition if isinstance(maker, Symbol) else None
                    if made is None or made not in {decorator, round_it}:
                        continue
                    name: Value = Const(function, module, function.name)
                    if isinstance(key, ast.Name) and isinstance(each, ast.Call):
                        assert isinstance(made, (ast.FunctionDef, ast.AsyncFunctionDef))
                        handed = arguments_of(made, each)
                        if key.id not in handed:
                            continue
                        name = evaluate(handed[key.id], outside)
                    yield name, (ast.copy_location(ast.Name(function.name, ast.Load()), function), outside)

    def _near(self, home: Module) -> list[Module]:
        """The files in which functions may be put into a table: its own, the handler's, and those it imports."""
        found = {home.path: home, self.module.path: self.module}
        for bindings in list(self.module.scope.bindings.values()):
            for each in bindings:
                if each.kind == "import" and each.target is not None:
                    source, name, level = each.target
                    for one in (f"{source}.{name}" if source else name or "", source):
                        module = self.module.project.module_of(self.module, one, level) if one else None
                        if module is not None:
                            found.setdefault(module.path, module)
        for module in found.values():
            module.complete()
        return list(found.values())


def may_be_looked_up(node: ast.expr, scope: Scope) -> bool:
    """Whether what is registered may come out of a table: not where it is a function by its name."""
    if not isinstance(node, ast.Name):
        return not isinstance(node, ast.Lambda)
    place = scope.lookup(node.id)
    return place is not None and place[1][0].kind not in {"function", "import"}


def _rooted(node: ast.expr, scope: Scope) -> tuple[ast.expr, ast.expr | None]:
    """An expression with what is looked up in it by a variable taken out: `TABLE[name]` of `TABLE[name].fn`."""
    outer: list[ast.Attribute | ast.Subscript] = []
    root = node
    while True:
        table, key = _asked(root)
        if table is not root:
            break
        if not isinstance(root, (ast.Attribute, ast.Subscript)):
            return node, None
        outer.append(root)
        root = root.value
    place = scope.lookup(key.id) if isinstance(key, ast.Name) else None
    if place is None or not all(
        each.kind == "parameter" or isinstance(each.node, (ast.For, ast.AsyncFor, ast.comprehension))
        for each in place[1]
    ):
        return node, None
    made: ast.expr = _ITEM
    for each in reversed(outer):
        part: ast.expr
        if isinstance(each, ast.Attribute):
            part = ast.Attribute(made, each.attr, ast.Load())
        else:
            part = ast.Subscript(made, each.slice, ast.Load())
        made = ast.copy_location(part, each)
    return made, root


def _asked(node: ast.expr) -> tuple[ast.expr, ast.expr]:
    """The table and the key of `TABLE[key]` and of `TABLE.get(key)`; the expression itself for any other."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Name):
        return node.value, node.slice
    if isinstance(node, ast.Call) and node.args and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
        return node.func.value, node.args[0]
    return node, node


def _named(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ast.dump(node)


def _called_so(node: ast.expr, name: str) -> bool:
    return (isinstance(node, ast.Name) and node.id == name) or (isinstance(node, ast.Attribute) and node.attr == name)


def _parameter(node: ast.Name, scope: Scope) -> bool:
    found = scope.lookup(node.id)
    return found is not None and found[1][0].kind == "parameter"


__all__ = ["Tables", "may_be_looked_up"]
