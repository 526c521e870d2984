"""Evaluates expressions without running them: constants, names through imports, and choices between values."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, Final

from mcpcore_lint.dataclasses import T, replace
from mcpcore_lint.engine.semantics.annotations import MAX_DEPTH, AnnotationReader, too_long
from mcpcore_lint.engine.semantics.codes import CODES, code_of, custom_code
from mcpcore_lint.engine.semantics.symbols import class_info, enum_like, exported_by_mcpcore, qualified
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.parse import alternatives, defaults_of, returned
from mcpcore_lint.engine.syntax.scopes import Binding, Scope
from mcpcore_lint.model import (
    CallValue,
    Choice,
    CodeValue,
    Const,
    FunctionNode,
    Items,
    Mapping,
    Missing,
    Symbol,
    Text,
    Unknown,
    Value,
    options,
    string,
)
from mcpcore_lint.names import BUILTIN_NAMES, ENTRY_POSITIONAL, canonical
from mcpcore_lint.values import MAX_OPTIONS, choice, joined, pieces

MAX_STEPS: Final = 1_000
"""The maximum number of bindings to visit for one expression. A name that is bound often has too many paths."""
MAX_ITEMS: Final = 2_000
"""The maximum number of known items of a list. Lists that contain each other can grow without end."""

_VALUE: Final = frozenset({"value", "_value_"})
_CONTAINERS: Final = (Items, Mapping)
_OF_MEMBER: Final = _VALUE | {"name", "_name_"}
"""The attributes of enum members."""
_METHODS: Final = frozenset({"values", "keys", "format", "on", "on_code"})
_OF_MADE: Final = {
    "mcpcore.FailureMode": frozenset({"reason", "code", "when", "recovery"}),
    **dict.fromkeys(("mcp.Tool", "mcp.types.Tool", "mcp_types.Tool"), frozenset({"name"})),
}
"""Attributes that have the value of the argument of their name, by the class that is called."""


class Resolver(AnnotationReader):
    """Evaluates one expression. It counts depth and steps, so each expression needs its own resolver."""

    depth: int = 0
    steps: int = 0
    active: frozenset[int] = frozenset()
    """The bindings that are being evaluated."""
    frame: tuple[Scope, dict[str, Value]] | None = None
    """Temporary values of names in a scope: the parameters of one call."""
    cut: bool = False
    """Whether the result is incomplete: a name defined by itself, or the limit on depth or steps was reached."""

    # -- names ---------------------------------------------------------------------------------------------------

    def name(self, name: str, scope: Scope, node: ast.AST) -> Value:
        """The value of a name in a scope."""
        module = scope.module
        if self.frame is not None and self.frame[0] is scope and name in self.frame[1]:
            return self.frame[1][name]
        match = scope.lookup_at(node) if type(node) is ast.Name else scope.lookup(name)
        if match is None:
            if module.star_imports and (starred := self._starred(name, module, node)) is not None:
                return starred
            if name in BUILTIN_NAMES:
                return Symbol(node, module, canonical(f"builtins.{name}"))
            return Unknown(node, module, f"{name} is not defined in this file")
        where, bindings = match
        known = where.values.get(where.key(name, bindings)) or self.named(bindings, where, name, node)
        if type(known) is Symbol:
            # The value is cached; only its place is new.
            return Symbol(node, known.module, known.name, known.definition)
        return known

    def named(self, bindings: list[Binding], where: Scope, name: str, node: ast.AST) -> Value:
        """The value of a name. It is cached unless it is incomplete and other bindings are still being evaluated."""
        key = where.key(name, bindings)
        known = where.values.get(key)
        if known is not None:
            return known
        if self.frame is not None and self.frame[0] is where:
            # The value may depend on temporary values, so it is not cached.
            return self._bindings(bindings, where, name, node)
        before, self.cut = self.cut, False
        outermost = not self.active
        known = self._bindings(bindings, where, name, node)
        if outermost or not self.cut:
            where.values[key] = known
        self.cut = before or self.cut
        return known

    def _bindings(self, bindings: list[Binding], where: Scope, name: str, node: ast.AST) -> Value:
        if len(bindings) == 1:
            value = self._binding(bindings[0], where, name, node)
        else:
            values: list[Value] = []
            for binding in bindings:
                values.append(self._binding(binding, where, name, node))
                if len(values) > MAX_OPTIONS:
                    return Unknown(node, where.module, f"{name} is bound in too many places")
            value = choice(values, node, where.module)
        if isinstance(value, _CONTAINERS) and where.module.changes_in_place(name, where):
            return replace(value, complete=False)
        return value

    def _binding(self, binding: Binding, where: Scope, name: str, node: ast.AST) -> Value:
        module = where.module
        self.steps += 1
        before = self.active
        if id(binding) in before and where.is_module and where.parent is not None:
            # `GONE = GONE` in the body of a class: the right side is the name outside the class.
            return self.name(name, where.parent, node)
        if id(binding) in before or self.depth > MAX_DEPTH or self.steps > MAX_STEPS:
            self.cut = True
            return Unknown(node, module, f"{name} is defined by itself")
        if binding.kind in {"assign", "annotated"}:
            if binding.value is None:
                return Unknown(node, module, f"{name} has no value here")
            self.active = before | {id(binding)}
            try:
                return self.expression(binding.value, where)
            finally:
                self.active = before
        if binding.kind == "import" and binding.target is not None:
            self.active = before | {id(binding)}
            try:
                return self.imported(binding.target, module, node)
            finally:
                self.active = before
        if binding.kind in {"function", "class"}:
            return Symbol(node, module, qualified(module, binding.node), binding.node)
        if binding.kind == "parameter" and binding.annotation is not None:
            texts = self.literal_strings(binding.annotation, where)
            if texts:
                return choice([Const(node, module, text) for text in texts], node, module)
        return Unknown(node, module, f"{name} is not a constant")

    def imported(self, target: tuple[str, str | None, int], module: Module, node: ast.AST) -> Value:
        """The value that an import binds."""
        source, name, level = target
        imported = module.project.module_of(module, source, level) if source or level else None
        if name is None:
            if imported is not None:
                return Symbol(node, module, imported.name, imported.tree)
            return Symbol(node, module, canonical(source))
        # `from . import store` in the package itself imports the submodule, not the name that it is about to bind.
        if imported is not None and imported is not module:
            member = self.member(imported, name, node)
            if member is not None:
                return member
        submodule = module.project.module_of(module, f"{source}.{name}" if source else name, level)
        if submodule is not None:
            return Symbol(node, module, submodule.name, submodule.tree)
        if imported is not None or level:
            return Unknown(node, module, f"{name} is not found in {'.' * level}{source}")
        return Symbol(node, module, canonical(f"{source}.{name}"))

    def member(self, module: Module, name: str, node: ast.AST) -> Value | None:
        """The value of a module-level name of the project; None if the module does not define it."""
        self.depth += 1
        try:
            if self.depth > MAX_DEPTH:
                self.cut = True
                return Unknown(node, module, "too many imports deep")
            bindings = module.scope.bindings.get(name)
            return (
                self._starred(name, module, node)
                if bindings is None
                else self.named(bindings, module.scope, name, node)
            )
        finally:
            self.depth -= 1

    def _starred(self, name: str, module: Module, node: ast.AST) -> Value | None:
        # The last star import that has the name binds it.
        for source, level in reversed(module.star_imports):
            imported = module.project.module_of(module, source, level)
            if imported is None and not level:
                # The names that a library exports are not known; those with a canonical name are surely its own.
                full = canonical(f"{source}.{name}")
                if full != f"{source}.{name}" or (source == "mcpcore" and exported_by_mcpcore(name)):
                    return Symbol(node, module, full)
            elif imported is not None and imported is not module and imported.exports(name):
                member = self.member(imported, name, node)
                if member is not None:
                    return member
        return None

    # -- expressions ---------------------------------------------------------------------------------------------

    def expression(self, node: ast.expr, scope: Scope) -> Value:
        """The value of an expression."""
        kind = type(node)
        if kind is ast.Constant:
            return _constant(node, scope)  # type: ignore[arg-type]
        self.depth += 1
        try:
            if self.depth > MAX_DEPTH:
                self.cut = True
                return Unknown(node, scope.module, "the expression is too deep to follow")
            if kind is ast.Name:
                return self.name(node.id, scope, node)  # type: ignore[attr-defined]
            evaluate_kind = self._BY_KIND.get(kind)
            if evaluate_kind is None:
                return Unknown(node, scope.module, f"a {kind.__name__.lower()} is not a constant")
            return evaluate_kind(self, node, scope)
        finally:
            self.depth -= 1

    def _one_of(self, node: ast.IfExp | ast.BoolOp, scope: Scope) -> Value:
        # The arguments of a call may decide which of them it is.
        truth = self._argument_is_true(node.test if isinstance(node, ast.IfExp) else node.values[0], scope)
        if isinstance(node, ast.IfExp) and truth is not None:
            return self.expression(node.body if truth else node.orelse, scope)
        if isinstance(node, ast.BoolOp) and truth is isinstance(node.op, ast.And):
            rest = node.values[1:]
            others = ast.copy_location(ast.BoolOp(node.op, rest), node) if len(rest) > 1 else rest[0]
            return self.expression(others, scope)
        values = [self.expression(part, scope) for part in alternatives(node)[:MAX_OPTIONS]]
        return choice(values, node, scope.module)

    def _argument_is_true(self, test: ast.expr, scope: Scope) -> bool | None:
        """Whether a parameter with a temporary value is true; None if the test is another, or has no such value."""
        negated = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
        name = getattr(test.operand if isinstance(test, ast.UnaryOp) else test, "id", "")
        is_here = self.frame is not None and self.frame[0] is scope and len(scope.bindings.get(name, ())) == 1
        value = self.frame[1].get(name) if self.frame is not None and is_here else None
        return bool(value.value) is not negated if isinstance(value, Const) else None

    def _inner(self, node: ast.NamedExpr | ast.Starred, scope: Scope) -> Value:
        return self.expression(node.value, scope)

    def _signed(self, node: ast.UnaryOp, scope: Scope) -> Value:
        value = self.expression(node.operand, scope)
        if isinstance(node.op, ast.USub) and isinstance(value, Const) and isinstance(value.value, (int, float)):
            return Const(node, scope.module, -value.value)
        return Unknown(node, scope.module, "an operator on a value that is not a number")

    def attribute(self, node: ast.Attribute, scope: Scope) -> Value:
        """The value of `base.attr`."""
        module = scope.module
        if self.depth == 1 and too_long(node):
            return Unknown(node, module, "the expression is too deep to follow")
        base = self.expression(node.value, scope)
        if type(base) is Unknown:
            return Unknown(node, module, f"the attribute {node.attr} of a value")
        if node.attr in _OF_MEMBER and isinstance(node.value, ast.Attribute):
            holder = self.expression(node.value.value, scope)
            if isinstance(holder, Symbol) and holder.definition is not None and enum_like(holder):
                return base if node.attr in _VALUE else Const(node, module, node.value.attr)
        if type(base) is not Choice:
            return self._attribute_of(base, node, module)
        return choice([self._attribute_of(option, node, module) for option in options(base)], node, module)

    def _attribute_of(self, base: Value, node: ast.Attribute, module: Module) -> Value:
        attr = node.attr
        if isinstance(base, Symbol):
            if isinstance(base.definition, ast.Module):
                owner = module.project.module_by_name(base.name, base.definition)
                if owner is not None:
                    member = self.member(owner, attr, node)
                    if member is not None:
                        return member
                    submodule = module.project.module_of(owner, attr, 1) if owner.is_package else None
                    if submodule is not None:
                        return Symbol(node, module, submodule.name, submodule.tree)
                return Unknown(node, module, f"{base.name} has no {attr}")
            if isinstance(base.definition, ast.ClassDef):
                return self._class_attribute(base, node, module)
            if base.definition is not None:
                return Unknown(node, module, f"an attribute of {base.name}")
            if base.name == "mcpcore.ErrorCode":
                number = CODES.by_name.get(attr)
                # A misspelt member is one that does not exist, which a rule reports. Lower case names a method of the
                # class.
                if attr.isupper() or number is not None:
                    return CodeValue(node, module, attr, number, exists=number is not None)
            submodule = module.project.module_of(module, f"{base.name}.{attr}")
            if submodule is not None and not base.name.startswith("builtins."):
                return Symbol(node, module, submodule.name, submodule.tree)
            return Symbol(node, module, canonical(f"{base.name}.{attr}"))
        if isinstance(base, (Const, CodeValue)) and attr in _VALUE:
            return Const(node, module, base.number) if isinstance(base, CodeValue) else base
        if isinstance(base, CodeValue) and attr in _OF_MEMBER:
            return Const(node, module, base.name)
        if isinstance(base, CallValue) and attr in _OF_MADE.get(base.func.name, ()):
            argument = base.argument(attr, ENTRY_POSITIONAL.index(attr) if attr in ENTRY_POSITIONAL else None)
            return Unknown(node, module, f"the entry has no {attr}") if isinstance(argument, Missing) else argument
        return Unknown(node, module, f"the attribute {attr} of a value")

    def _class_attribute(self, base: Symbol, node: ast.Attribute, module: Module) -> Value:
        info = class_info(base)
        if info is None:
            return Unknown(node, module, f"an attribute of {base.name}")
        bindings = info.attributes.get(node.attr)
        if bindings:
            binding = bindings[-1]
            if binding.kind in {"function", "class"}:
                return Symbol(node, module, f"{base.name}.{node.attr}", binding.node)
            if binding.value is None or len(bindings) > 1:
                return Unknown(node, module, f"{base.name}.{node.attr} has several values")
            value = self.expression(binding.value, info.body_scope)
            # As `StrEnum` does it; other enums number their members, and no number is a reason.
            is_auto = isinstance(value, CallValue) and value.func.name == "enum.auto"
            return Const(node, module, node.attr.lower()) if is_auto else value
        for parent in info.node.bases:
            inherited = self.expression(parent, info.scope)
            if isinstance(inherited, Symbol) and isinstance(inherited.definition, ast.ClassDef):
                value = self._attribute_of(inherited, node, info.module)
                if not isinstance(value, Unknown):
                    return value
        return Unknown(node, module, f"{base.name} has no {node.attr} that can be seen")

    def _joined(self, node: ast.JoinedStr, scope: Scope) -> Value:
        parts: list[str | None] = []
        for piece in node.values:
            # `!r` and `:>8` change the text of the value.
            plain = isinstance(piece, ast.FormattedValue) and piece.format_spec is None and piece.conversion == -1
            if isinstance(piece, ast.FormattedValue):
                parts += pieces(self.expression(piece.value, scope)) if plain else [None]
            else:
                parts += pieces(self.expression(piece, scope))
        return joined(node, scope.module, parts)

    def _items(self, node: ast.List | ast.Tuple | ast.Set, scope: Scope) -> Value:
        items: list[Value] = []
        complete = True
        for element in node.elts:
            if not isinstance(element, ast.Starred):
                items.append(self.expression(element, scope))
                continue
            value = self.members(self.expression(element.value, scope))
            items += value.items if isinstance(value, Items) else ()
            complete = complete and isinstance(value, Items) and value.complete
        if len(items) > MAX_ITEMS:
            items, complete = items[:MAX_ITEMS], False
        kind = "tuple" if isinstance(node, ast.Tuple) else "set" if isinstance(node, ast.Set) else "list"
        return Items(node, scope.module, kind, tuple(items), complete)  # type: ignore[arg-type]

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, scope: Scope) -> Value:
        """All items of something, or an attribute of each: `[mode.value for mode in Mode]`."""
        module = scope.module
        kind: Any = "set" if isinstance(node, ast.SetComp) else "list"
        match node.generators, node.elt:
            case (
                [ast.comprehension(target=ast.Name(id=target), iter=source, ifs=[], is_async=0)],
                ast.Name(id=name) | ast.Attribute(value=ast.Name(id=name)) as element,
            ) if name == target:
                whole = self.members(self.expression(source, scope))
                # A list that is made empty is filled later, perhaps by a function that gets it.
                if isinstance(whole, Items) and whole.items:
                    items = (
                        tuple(self._attribute_of(item, element, module) for item in whole.items)
                        if isinstance(element, ast.Attribute)
                        else whole.items
                    )
                    return Items(node, module, kind, items, whole.complete)
        return Unknown(node, module, "a comprehension that is not followed")

    def members(self, value: Value) -> Value:
        """The values of the members of an enum of the project, over which a loop goes; any other value as it is."""
        info = class_info(value) if isinstance(value, Symbol) and enum_like(value) else None
        if info is None or not isinstance(value, Symbol):
            return value
        members = [
            self._class_attribute(value, ast.copy_location(ast.Attribute(core, name, ast.Load()), core), info.module)
            for name, bindings in info.attributes.items()
            # `_ignore_` and `__slots__` are no members.
            if (core := bindings[0].value) is not None and not (name.startswith("_") and name.endswith("_"))
        ]
        return Items(value.node, info.module, "list", tuple(members), complete=True)

    def _dict(self, node: ast.Dict, scope: Scope) -> Value:
        pairs: list[tuple[Value, Value]] = []
        complete = True
        for key, value_node in zip(node.keys, node.values, strict=True):
            value = self.expression(value_node, scope)
            if key is not None:
                pairs.append((self.expression(key, scope), value))
                continue
            pairs += value.items if isinstance(value, Mapping) else ()
            complete = complete and isinstance(value, Mapping) and value.complete
        return Mapping(node, scope.module, tuple(pairs), complete)

    def _binary(self, node: ast.BinOp, scope: Scope) -> Value:
        """The sum of two lists or texts, the union of two tables, or a text with values put into it by `%`."""
        module = scope.module
        left = self.expression(node.left, scope)
        if isinstance(node.op, ast.Mod) and string(left) is not None:
            return Text(node, module, (string(left), None))
        right = self.expression(node.right, scope)
        if isinstance(node.op, ast.BitOr) and isinstance(left, Mapping) and isinstance(right, Mapping):
            return Mapping(node, module, (*left.items, *right.items), left.complete and right.complete)
        if isinstance(node.op, ast.Add):
            # A list and something unknown have at least the items of the list.
            lists = [side for side in (left, right) if isinstance(side, Items)]
            if lists:
                items = tuple(item for side in lists for item in side.items)
                complete = len(lists) == 2 and all(side.complete for side in lists)
                return Items(node, module, lists[0].kind, items[:MAX_ITEMS], complete and len(items) <= MAX_ITEMS)
            parts = [*pieces(left), *pieces(right)]
            # Two unknown values may be numbers.
            if parts != [None, None]:
                return joined(node, module, parts)
        return Unknown(node, module, "an operator that is not followed")

    def call(self, node: ast.Call, scope: Scope) -> Value:
        """The value of a call, if the callee is known by name."""
        module = scope.module
        func = self.expression(node.func, scope)
        first: tuple[Value, ...] = ()
        preset: tuple[tuple[str, Value], ...] = ()
        if isinstance(func, CallValue) and func.func.name == "functools.partial" and func.complete and func.args:
            (inner, *more), preset = func.args, func.keywords
            func, first = inner, tuple(more)
        if not isinstance(func, Symbol):
            return self._method_of_value(node, scope)
        args, keywords, complete = self.arguments(node, scope)
        # A keyword of the call replaces that of the partial.
        names = {name for name, _ in keywords}
        args = [*first, *args]
        keywords = [*((name, value) for name, value in preset if name not in names), *keywords]
        match func.name:
            case "mcpcore.ErrorCode":
                return code_of(args, node, module)
            case "mcpcore.CustomCode":
                return custom_code(CallValue(node, module, func, tuple(args), tuple(keywords), complete))
            case "typing.cast":
                return args[1] if len(args) == 2 else Unknown(node, module, "a cast")
            case "builtins.list" | "builtins.tuple" | "builtins.set":
                kind: Any = func.name.removeprefix("builtins.")
                whole = self.members(args[0]) if len(args) == 1 else None
                if isinstance(whole, Items):
                    return Items(node, module, kind, whole.items, whole.complete)
                return Items(node, module, kind, (), complete=complete and not args and not keywords)
            case "builtins.dict":
                tables = [arg for arg in args if isinstance(arg, Mapping)]
                complete = complete and len(tables) == len(args) and all(table.complete for table in tables)
                pairs = [pair for table in tables for pair in table.items]
                pairs += [(Const(value.node, module, key), value) for key, value in keywords]
                return Mapping(node, module, tuple(pairs), complete)
            case "importlib.import_module" if len(args) == 1:
                text = string(args[0])
                if text is not None and not text.startswith("."):
                    return self.imported((text, None, 0), module, node)
        value = CallValue(node, module, func, tuple(args), tuple(keywords), complete)
        made = self._mode_made(value, func.definition) if self.frame is None and complete else None
        return made or value

    @staticmethod
    def _mode_made(call: CallValue, function: ast.AST | None) -> CallValue | None:
        """The failure mode that a function of the project makes of its arguments, at the place of the call."""
        if not isinstance(function, ast.FunctionDef) or function.decorator_list or call.module is None:
            return None
        owner = call.module.project.module_defining(function)
        made = returned(function) if owner is not None and owner.source.has("FailureMode") else []
        if owner is None or len(made) != 1:
            return None
        # The entry without a name makes a frame for a call without arguments too, so that calls inside are not
        # followed.
        scope, frame = owner.scope_of(function), {"": call, **arguments_in(function, call, owner)}
        mode = evaluated_with(frame, scope, lambda resolver: resolver.expression(made[0], scope))
        if not isinstance(mode, CallValue) or mode.func.name != "mcpcore.FailureMode":
            return None
        return replace(mode, node=call.node, module=call.module, func=replace(mode.func, definition=function))

    def _method_of_value(self, node: ast.Call, scope: Scope) -> Value:
        """The result of `table.values()`, `table.keys()`, `text.format(...)` and `MODE.on(...)`."""
        func = node.func
        if isinstance(func, ast.Attribute) and func.attr in _METHODS:
            base = self.expression(func.value, scope)
            if isinstance(base, CallValue) and base.func.name == "mcpcore.FailureMode":
                args, keywords, complete = self.arguments(node, scope)
                method = Symbol(func, scope.module, func.attr)
                mapped = CallValue(node, scope.module, method, tuple(args), tuple(keywords), complete)
                return replace(base, mapped=(*base.mapped, mapped))
            if isinstance(base, Mapping) and func.attr != "format":
                items = tuple(pair[func.attr == "values"] for pair in base.items)
                return Items(node, scope.module, "tuple", items, base.complete)
            if string(base) is not None and func.attr == "format":
                return Text(node, scope.module, (string(base), None))
        return Unknown(node, scope.module, "the result of a call")

    def arguments(self, node: ast.Call, scope: Scope) -> tuple[list[Value], list[tuple[str, Value]], bool]:
        """The positional arguments of a call, its keyword arguments, and whether those are all of them."""
        args: list[Value] = []
        keywords: list[tuple[str, Value]] = []
        complete = True
        for arg in node.args:
            value = self.expression(arg, scope)
            if type(arg) is ast.Starred:
                if isinstance(value, Items) and value.complete and complete:
                    args.extend(value.items)
                else:
                    complete = False
            # Behind an unknown `*args`, the position of an argument is not known.
            elif complete:
                args.append(value)
        for keyword in node.keywords:
            value = self.expression(keyword.value, scope)
            if keyword.arg is not None:
                keywords.append((keyword.arg, value))
            elif isinstance(value, Mapping):
                for key, item in value.items:
                    text = string(key)
                    if text is not None:
                        keywords.append((text, item))
                complete = complete and value.complete
            else:
                complete = False
        return args, keywords, complete

    def _subscript(self, node: ast.Subscript, scope: Scope) -> Value:
        module = scope.module
        base = self.expression(node.value, scope)
        if isinstance(base, Symbol) and base.name != "mcpcore.ErrorCode" and not enum_like(base):
            # A generic alias: list[int], Context[Literal["a"]], FailureMode["a"](...).
            return Symbol(node, module, base.name, base.definition)
        key = self.expression(node.slice, scope)
        text = string(key)
        if isinstance(base, Symbol) and text is not None:
            attribute = ast.copy_location(ast.Attribute(node.value, text, ast.Load()), node)
            return self._attribute_of(base, attribute, module)
        if isinstance(base, Mapping) and base.complete and text is not None:
            return base.get(text) or Unknown(node, module, "a key that the table lacks")
        if isinstance(base, Items) and base.complete and base.kind != "set" and isinstance(key, Const):
            index = key.value
            if isinstance(index, int) and -len(base.items) <= index < len(base.items):
                return base.items[index]
        return Unknown(node, module, "an item that is not followed")

    _BY_KIND: Final[dict[type[ast.AST], Callable[[Resolver, Any, Scope], Value]]] = {
        ast.Attribute: attribute,
        ast.JoinedStr: _joined,
        ast.List: _items,
        ast.Tuple: _items,
        ast.Set: _items,
        **dict.fromkeys((ast.ListComp, ast.SetComp, ast.GeneratorExp), _comprehension),
        ast.Dict: _dict,
        ast.IfExp: _one_of,
        ast.BoolOp: _one_of,
        ast.NamedExpr: _inner,
        ast.Starred: _inner,
        ast.BinOp: _binary,
        ast.UnaryOp: _signed,
        ast.Call: call,
        ast.Subscript: _subscript,
    }
    """The method that evaluates each kind of expression."""


def evaluated_with(values: dict[str, Value], scope: Scope, evaluator: Callable[[Resolver], T]) -> T:
    """The result of an evaluation in a scope whose names have some temporary values."""
    resolver = Resolver()
    if not values:
        return evaluator(resolver)
    resolver.frame = scope, values
    # The values that were cached for other arguments do not hold here.
    cached, scope.values = scope.values, {}
    try:
        return evaluator(resolver)
    finally:
        scope.values = cached


def arguments_in(function: FunctionNode, call: CallValue, owner: Module, *bound: Value) -> dict[str, Value]:
    """The values of the parameters of a function for one call of it, except those that it binds again."""
    args, scope, reader = function.args, owner.scope_of(function), Resolver()
    reader.frame = owner.scope, {}  # a default may call the function itself
    values = {name: reader.expression(default, owner.scope) for name, default in defaults_of(args).items()}
    values |= zip([parameter.arg for parameter in (*args.posonlyargs, *args.args)], (*bound, *call.args), strict=False)
    values |= dict(call.keywords)
    return {name: value for name, value in values.items() if len(scope.bindings.get(name, ())) == 1}


def evaluate(node: ast.expr, scope: Scope) -> Value:
    """The value of an expression in a scope. It is kept, since many readers ask for it."""
    return scope.values.get(node) or scope.values.setdefault(node, Resolver().expression(node, scope))


def symbol_of(node: ast.AST | None, scope: Scope) -> Symbol | None:
    """The class, the function, the module or the name of another package that an expression is; None for the rest."""
    value = evaluate(node, scope) if isinstance(node, ast.expr) else None
    return value if isinstance(value, Symbol) else None


def _constant(node: ast.Constant, scope: Scope) -> Value:
    value = node.value
    return Unknown(node, scope.module, "an ellipsis") if value is ... else Const(node, scope.module, value)
