"""Reads what one function does: its errors, its calls, and the clauses round each."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final, TypeVar

from mcpcore_lint.bodies.builder import HandlerBuilder
from mcpcore_lint.effects import Blind, Clause, Event, EventKind, Facts, Guard, Key, Parameter, Throw, key_of
from mcpcore_lint.infer import (
    BUILTIN_METHODS,
    ClassObject,
    Inference,
    Instance,
    Kind,
    Outside,
    Super,
    ancestry,
    is_property,
    method_of,
    outside_bases,
)
from mcpcore_lint.knowledge import KNOWLEDGE
from mcpcore_lint.model import (
    CallValue,
    CodeValue,
    Const,
    ErrorForm,
    ErrorSite,
    FunctionNode,
    Items,
    Mapping,
    Missing,
    Symbol,
    Unknown,
    Value,
    options,
)
from mcpcore_lint.resolve import PLAIN_BUILTINS, Resolver, class_info, evaluate
from mcpcore_lint.syntax import all_parameters, own_nodes, walk_shallow

if TYPE_CHECKING:
    from mcpcore_lint.calls import CallGraph
    from mcpcore_lint.project import Binding, ClassInfo, Module, Scope


K = TypeVar("K")
NEVER_NOW: Final = frozenset(
    {
        "register", "add_done_callback", "Thread", "Process", "signal", "call_later", "call_soon", "call_at",
        "call_soon_threadsafe", "subscribe", "add_listener", "connect", "add_event_handler", "setattr",
        "add_signal_handler",
        "add_tool", "add_route", "include_router", "partial", "wraps", "update_wrapper", "isinstance", "issubclass",
        "add_middleware", "Depends", "Timer", "finalize", "add_task", "setdefault", "append", "add", "type", "hasattr",
        "getattr", "callable", "cast", "print", "repr", "str", "id", "len", "format", "debug", "info",
        "warning", "error", "__init__",
        "exception", "log", "critical", "Field", "field", "TypeVar", "NewType", "dataclass",
    }
)  # fmt: skip
"""Calls that take a function and do not run it now, or whose failure does not come back to the caller."""

_TASK_GROUPS: Final = frozenset(
    {"asyncio.TaskGroup", "anyio.create_task_group", "trio.open_nursery", "anyio.abc.TaskGroup"}
)


_QUIET: Final = PLAIN_BUILTINS - {
    "map", "filter", "sorted", "min", "max", "iter", "next", "open", "eval", "exec", "compile", "sum", "all", "any",
    "print", "__import__", "super", "property", "classmethod", "staticmethod", "type", "vars", "setattr", "delattr",
    "input",
}  # fmt: skip
"""Builtins that run no function of the project and raise nothing that is worth telling."""


_WITH_CONSTRUCTORS: Final = frozenset({"coded", "project", "protocol", "framework"})
"""How an error is made that may be of a class of the project."""


MAX_VALUES_DEEP: Final = 8
"""How many names and tables deep the values of an expression are looked for."""
_EVERYTHING: Final = Clause(("builtins.BaseException",), (), star=True)
_LEAVES: Final = (ast.Return, ast.Raise, ast.Continue, ast.Break)


class Extractor:
    """Reads the facts of one function."""

    def __init__(self, graph: CallGraph, node: FunctionNode, module: Module, receiver: ClassInfo | None) -> None:
        self.graph = graph
        self.node = node
        self.module = module
        self.scope = module.scope_of(node)
        self.receiver = receiver
        self.inference = Inference(receiver)
        self.builder = HandlerBuilder.of(node, module, graph.hierarchy)
        self.model = self.builder.model
        self.parents = self.builder.parents
        self._guards_of: dict[ast.AST, tuple[Guard, ...]] = {}
        self._try_guards: dict[ast.AST, Guard] = {}
        self._raised: set[ast.expr] = set()
        """Calls that make an error of one of several classes."""
        self._errors = {each.node for each in self.model.errors}

    def extract(self, key: Key) -> Facts:
        """The facts."""
        facts = Facts(key)
        self.events = facts.events
        for throw in self.model.throws:
            if throw.function is not self.node:
                continue
            if throw.error is not None:
                self._add("throw", throw.node, throw=self._throw(throw.error, throw.node, grouped=throw.grouped))
            elif throw.made is not None and self._elsewhere(throw.node, throw.made):
                continue
            elif throw.call is not None:
                targets, _ = self._targets(throw.call)
                if targets:
                    self._add("result", throw.node, targets=tuple(targets))
                else:
                    self._blind(throw.call, throw.node, "the error that it raises is made elsewhere")
            elif not throw.reraise:
                self._blind_raise(throw.node)
        nested = self.builder.function_of
        for call in self.builder.calls:
            if call not in nested and call not in self._errors and call not in self._raised:
                self._call(call)
        for error in self.model.errors:
            if error.function is self.node and error.form in _WITH_CONSTRUCTORS and isinstance(error.node, ast.expr):
                self._made_with(error.node)
        for block in self.builder.withs:
            if block not in nested:
                self._with(block)
        for attribute in self.builder.attributes:
            if attribute not in nested:
                self._property(attribute)
        for statement in self.builder.returns:
            if statement not in nested and statement.value is not None:
                self._return(statement.value, facts)
        if isinstance(self.node, ast.Lambda):
            self._return(self.node.body, facts)
        return facts

    def _elsewhere(self, node: ast.Raise, made: ast.expr) -> bool:
        """Tell what a `raise` raises that is made elsewhere, or is one of several; False where that is unknown."""
        errors = self._errors_of(made)
        for each in errors:
            self._add("throw", node, throw=self._throw(each, node))
        if errors and isinstance(made, ast.Call):
            self._raised.add(made)
        return bool(errors)

    def _errors_of(self, made: ast.expr) -> list[ErrorSite]:
        """The errors that an expression may be; none where one of them is not known to be an error."""
        if isinstance(made, ast.Call):
            values: list[Value] | None = None
            if not (isinstance(made.func, ast.Name) and self._class_of(made.func)):
                values = self._values(made.func, self.scope)
            else:
                values = [*self._class_of(made.func)]
            args, keywords, complete = Resolver().arguments(made, self.scope) if values else ([], [], True)
            values = (
                [
                    CallValue(made, self.module, each, tuple(args), tuple(keywords), complete)
                    for each in values or ()
                    if isinstance(each, Symbol)
                ]
                if values and all(isinstance(each, Symbol) for each in values)
                else None
            )
        else:
            values = self._values(made, self.scope)
        found: list[ErrorSite] = []
        for each in values or ():
            if isinstance(each, Const) and each.value is None:
                continue
            error = self.builder.error_of(each, made)
            if error is None:
                return []
            found.append(error)
        return found

    def _class_of(self, node: ast.Name) -> list[Symbol]:
        """The class that `cls` is in a class method."""
        found = self.scope.lookup(node.id)
        if found is None or [each.kind for each in found[1]] != ["parameter"] or found[0].owner is None:
            return []
        return [
            Symbol(node, self.module, f"{kind.info.module.name}.{kind.info.qualname}", kind.info.node)
            for kind in self.inference.name(node, self.scope)
            if isinstance(kind, ClassObject)
        ]

    def _values(self, node: ast.expr, scope: Scope, depth: int = 0) -> list[Value] | None:
        """All that an expression may be, items of tables and attributes of objects included; None where unknown."""
        if depth > MAX_VALUES_DEEP:
            return None
        found = list(options(evaluate(node, scope)))
        if found and not any(isinstance(each, Unknown) for each in found):
            return found
        parts: list[tuple[ast.expr, Scope]] = []
        looped: list[Value] = []
        if isinstance(node, ast.Lambda):
            return [Symbol(node, scope.module, "<lambda>", node)]
        if isinstance(node, ast.IfExp):
            parts = [(node.body, scope), (node.orelse, scope)]
        elif isinstance(node, ast.BoolOp):
            parts = [(each, scope) for each in node.values]
        elif isinstance(node, ast.NamedExpr):
            parts = [(node.value, scope)]
        elif isinstance(node, ast.Subscript):
            return self._items(node.value, scope, depth)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
            if not node.args or node.keywords:
                return None
            items = self._items(node.func.value, scope, depth, mapping=True)
            more = self._values(node.args[1], scope, depth + 1) if len(node.args) > 1 else []
            return None if items is None or more is None else [*items, *more]
        elif isinstance(node, ast.Name):
            bound = scope.lookup(node.id)
            if bound is None:
                return None
            for binding in bound[1]:
                if isinstance(binding.node, ast.For) and isinstance(binding.node.target, ast.Name):
                    items = self._items(binding.node.iter, bound[0], depth)
                    if items is None:
                        return None
                    looped.extend(items)
                    continue
                if binding.kind not in {"assign", "annotated"} or binding.value is None:
                    return None
                parts.append((binding.value, bound[0]))
        elif isinstance(node, ast.Attribute) and scope is self.scope:
            kinds = self.inference.of(node.value, scope)
            for kind in kinds:
                held = self._held(kind, node.attr)
                if not held:
                    return None
                parts.extend(held)
        values = looped
        for part, where in parts:
            more = self._values(part, where, depth + 1)
            if more is None:
                return None
            values.extend(more)
        return values or None

    @staticmethod
    def _held(kind: Kind, attr: str) -> list[tuple[ast.expr, Scope]]:
        """What an attribute of an object of the project is set to; nothing where that is not all to be seen."""
        if not isinstance(kind, Instance):
            return []
        for each in ancestry(kind.info):
            if attr in each.instance_attributes:
                held = [(value, scope) for _, value, scope in each.instance_attributes[attr]]
                return (
                    [(value, scope) for value, scope in held if value is not None]
                    if all(value is not None for value, _ in held) and not each.module.changes_in_place(attr)
                    else []
                )
            bindings = each.attributes.get(attr)
            if bindings:
                value = bindings[0].value
                plain = len(bindings) == 1 and bindings[0].kind in {"assign", "annotated"}
                if value is None or not plain or each.module.changes_in_place(attr):
                    return []
                return [(value, each.body_scope)]
        return []

    def _items(self, node: ast.expr, scope: Scope, depth: int, *, mapping: bool = False) -> list[Value] | None:
        """The values of a table or of a sequence; None where they cannot all be seen."""
        if isinstance(node, ast.List | ast.Tuple | ast.Set | ast.Dict):
            tables: list[Value] | None = [evaluate(node, scope)]
        else:
            tables = self._values(node, scope, depth + 1)
        found: list[Value] = []
        for each in tables or ():
            if isinstance(each, Mapping) and each.complete:
                found.extend(one for _, value in each.items for one in options(value))
            elif isinstance(each, Items) and each.complete and not mapping:
                found.extend(one for value in each.items for one in options(value))
            else:
                return None
        for index, value in enumerate(found):
            if isinstance(value, Unknown):
                if not isinstance(value.node, ast.Lambda) or value.module is None:
                    return None
                found[index] = Symbol(value.node, value.module, "<lambda>", value.node)
        return found or None

    def _made_with(self, node: ast.expr) -> None:
        """The constructors of an error's class, where it is the project's own: they may raise on their own account."""
        keys: list[Key] = []
        for each in options(evaluate(node.func if isinstance(node, ast.Call) else node, self.scope)):
            info = class_info(each) if isinstance(each, Symbol) else None
            if info is not None:
                self._constructed(info, keys, [])
        if keys:
            self._add("call", node, targets=tuple(_unique(keys)))

    # -- events --------------------------------------------------------------------------------------------------

    def _add(
        self,
        kind: EventKind,
        node: ast.AST,
        *,
        throw: Throw | None = None,
        blind: Blind | None = None,
        targets: tuple[Key, ...] = (),
        bindings: tuple[tuple[Parameter, Key | Parameter], ...] = (),
        parameter: Parameter | None = None,
    ) -> None:
        span = self.module.source.span(node)
        guards = self.guards(node)
        if gathered := self._gathered(node, targets):
            guards = (*gathered, *guards)
        self.events.append(Event(kind, span, guards, throw, blind, targets, bindings, parameter))

    def _throw(self, error: ErrorSite, at: ast.AST, *, grouped: bool = False) -> Throw:
        codes: list[str] | None = []
        for each in options(error.code):
            if isinstance(each, CodeValue):
                assert codes is not None
                codes.append(each.name)
            elif isinstance(each, Missing):
                continue
            else:
                codes = None
                break
        reasons: list[str] | None = []
        for each in options(error.reason):
            if isinstance(each, Const) and isinstance(each.value, str):
                assert reasons is not None
                reasons.append(each.value)
            elif isinstance(each, Missing) or (isinstance(each, Const) and each.value is None):
                continue
            else:
                reasons = None
                break
        return Throw(
            error.type_name,
            error.form,
            None if codes is None else tuple(dict.fromkeys(codes)),
            None if reasons is None else tuple(dict.fromkeys(reasons)),
            self.module.path,
            self.module.source.span(at),
            "",
            grouped,
        )

    def _blind(self, call: ast.Call, at: ast.AST, why: str, *, project: bool = True) -> None:
        name = spelled(call.func)
        takes = any(self._is_context(each) for each in _arguments(call))
        blind = Blind(name, self.module.path, self.module.source.span(at), takes, project, why)
        self._add("blind", at, blind=blind)

    def _blind_raise(self, node: ast.Raise) -> None:
        name = spelled(node.exc) if node.exc is not None else "raise"
        blind = Blind(
            f"raise {name}",
            self.module.path,
            self.module.source.span(node),
            takes_context=False,
            project=True,
            why="the error is made elsewhere",
        )
        self._add("blind", node, blind=blind)

    def _is_context(self, node: ast.expr) -> bool:
        return self.builder._is_context(node, self.scope)  # noqa: SLF001

    # -- calls ---------------------------------------------------------------------------------------------------

    def _call(self, node: ast.Call) -> None:
        func = node.func
        if type(func) is ast.Name and func.id in _QUIET and self.scope.lookup(func.id) is None:
            return
        if self.builder._is_context_call(node, "recovery_for"):  # noqa: SLF001
            return
        if isinstance(func, ast.Attribute) and self._is_context(func.value):
            return
        if self._dropped_task(node):
            return
        parameter = self._parameter(func)
        if parameter is not None:
            self._add("parameter", node, parameter=parameter)
            return
        targets, outside = self._targets(node)
        bindings = self._bindings(node, targets)
        if targets:
            self._add("call", node, targets=tuple(targets), bindings=bindings)
        for name in outside:
            for fact in self._known(name):
                raised, _, condition = fact.partition(" ")
                if not condition or _holds(condition, node):
                    self._knowledge(node, name, raised)
        if not targets:
            self._callbacks(node)
            takes = any(self._is_context(each) for each in _arguments(node))
            if not outside or takes:
                why = "the context is handed over" if outside else "it is not known what is called"
                self._blind(node, node, why, project=not outside and self._could_be_project(func))

    def _could_be_project(self, func: ast.expr) -> bool:
        if isinstance(func, ast.Attribute):
            return func.attr not in BUILTIN_METHODS
        return True

    def _known(self, name: str) -> tuple[str, ...]:
        return self.graph.raises.get(name) or KNOWLEDGE.raises(name)

    def _knowledge(self, node: ast.AST, name: str, raised: str) -> None:
        form: ErrorForm = "builtin" if raised.startswith("builtins.") else "other"
        throw = Throw(
            raised, form, (), (), self.module.path, self.module.source.span(node), name.removeprefix("builtins.")
        )
        self._add("throw", node, throw=throw)

    def _dropped_task(self, node: ast.Call) -> bool:
        """Whether a coroutine is made into a task that nobody waits for: its failure goes nowhere."""
        parent = self.parents.get(node)
        if not isinstance(parent, ast.Call) or node not in parent.args:
            return False
        func = parent.func
        name = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
        if name not in {"create_task", "ensure_future"}:
            return False
        if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
            found = self.scope.lookup(func.value.id)
            if found is not None and any(each.kind == "with" for each in found[1]):
                return False
        return isinstance(self.parents.get(parent), ast.Expr)

    def _parameter(self, func: ast.expr) -> Parameter | None:
        """The parameter that is called, of this function or of one round it."""
        if not isinstance(func, ast.Name):
            return None
        return self._parameter_named(func.id)

    def _parameter_named(self, name: str) -> Parameter | None:
        found = self.scope.lookup(name)
        if found is None:
            return None
        where, bindings = found
        if where.is_module or any(each.kind != "parameter" for each in bindings):
            return None
        for each in bindings:
            kinds = self.inference.annotation(each.annotation, where.parent or where) if each.annotation else []
            if kinds:
                return None
        node = where.node
        assert not isinstance(node, ast.Module)
        if where.owner is not None and bindings[0].node is next(iter(all_parameters(node.args)), None):
            return None
        return Parameter(self.module.path, node.lineno, node.col_offset, name)

    def _targets(self, node: ast.Call) -> tuple[list[Key], list[str]]:
        """The functions of the project that a call may run, and the names of those outside it."""
        return self._callable(node.func)

    def _callable(self, func: ast.expr) -> tuple[list[Key], list[str]]:
        keys: list[Key] = []
        outside: list[str] = []
        if isinstance(func, ast.Lambda):
            return [key_of(func, self.module, None)], []
        if isinstance(func, ast.Name | ast.Attribute):
            if type(func) is ast.Name and func.id in PLAIN_BUILTINS and self.scope.lookup(func.id) is None:
                return [], [f"builtins.{func.id}"]
            value = self.builder.callee(func, self.scope)
            if value is not None:
                for each in options(value):
                    self._from_value(each, keys, outside)
                if keys or outside:
                    return _unique(keys), _unique(outside)
        if isinstance(func, ast.Attribute):
            for kind in self.inference.of(func.value, self.scope):
                self._from_kind(kind, func.attr, keys, outside)
            if not keys and not outside and func.attr in BUILTIN_METHODS:
                outside.append(f"builtins.object.{func.attr}")
        elif isinstance(func, ast.Name):
            for kind in self.inference.name(func, self.scope):
                self._called_kind(kind, keys, outside)
            alias = self._local_function(func)
            if alias is not None:
                keys.append(alias)
        elif isinstance(func, ast.Call):
            value = evaluate(func, self.scope)
            for each in options(value):
                if isinstance(each, CallValue) and each.func.name == "functools.partial" and each.args:
                    self._from_value(each.args[0], keys, outside)
            if not keys and not outside:
                for kind in self.inference.of(func, self.scope):
                    self._called_kind(kind, keys, outside)
        elif isinstance(func, ast.IfExp | ast.BoolOp):
            for part in (func.body, func.orelse) if isinstance(func, ast.IfExp) else tuple(func.values):
                more, other = self._callable(part)
                keys.extend(more)
                outside.extend(other)
        elif isinstance(func, ast.NamedExpr):
            return self._callable(func.value)
        if not keys and not outside and isinstance(func, ast.Subscript | ast.Name | ast.Call):
            for each in self._values(func, self.scope) or ():
                self._from_value(each, keys, outside)
        return _unique(keys), _unique(outside)

    def _local_function(self, func: ast.Name) -> Key | None:
        """`handler = lambda: ...` or `f = self.method`, called by the name."""
        found = self.scope.lookup(func.id)
        if found is None:
            return None
        where, bindings = found
        if len(bindings) == 1 and bindings[0].kind == "assign":
            value = bindings[0].value
            if isinstance(value, ast.Lambda):
                return key_of(value, where.module, None)
            if isinstance(value, ast.Attribute) and where.node is self.node:
                keys, _ = self._callable(value)
                return keys[0] if len(keys) == 1 else None
        return None

    def _from_value(self, value: object, keys: list[Key], outside: list[str]) -> None:
        if isinstance(value, CallValue) and value.func.name == "functools.partial" and value.args:
            for each in options(value.args[0]):
                self._from_value(each, keys, outside)
            return
        if isinstance(value, CallValue) and isinstance(value.func.definition, ast.ClassDef):
            info = class_info(value.func)
            if info is not None:
                self._called_kind(Instance(info), keys, outside)
            return
        if not isinstance(value, Symbol):
            return
        definition = value.definition
        if isinstance(definition, ast.Lambda):
            assert value.module is not None
            keys.append(key_of(definition, value.module, None))
        elif isinstance(definition, ast.FunctionDef | ast.AsyncFunctionDef):
            owner = self.module.project.module_defining(definition)
            if owner is not None:
                scope = owner.scope_of(definition)
                receiver = owner.classes.get(scope.owner) if scope.owner is not None else None
                if receiver is not None and (abstract := _abstract(definition, receiver)):
                    del abstract
                    return
                keys.append(key_of(definition, owner, receiver))
        elif isinstance(definition, ast.ClassDef):
            info = class_info(value)
            if info is not None:
                self._constructed(info, keys, outside)
        elif definition is None:
            outside.append(value.name)

    def _constructed(self, info: ClassInfo, keys: list[Key], outside: list[str]) -> None:
        hit = False
        for name in ("__new__", "__init__", "__post_init__"):
            found = method_of(info, name)
            if found is not None:
                keys.append(key_of(found[0], found[1].module, info))
                hit = True
        if not hit:
            outside.extend(each for each in outside_bases(info) if each)
            if not outside:
                outside.append("builtins.object")

    def _called_kind(self, kind: Kind, keys: list[Key], outside: list[str]) -> None:
        if isinstance(kind, Instance):
            found = method_of(kind.info, "__call__")
            if found is not None:
                keys.append(key_of(found[0], found[1].module, kind.info))
        elif isinstance(kind, ClassObject):
            self._constructed(kind.info, keys, outside)
        elif isinstance(kind, Outside):
            outside.append(kind.name or "builtins.object")

    def _from_kind(self, kind: Kind, attr: str, keys: list[Key], outside: list[str]) -> None:
        if isinstance(kind, Outside):
            outside.append(f"{kind.name}.{attr}" if kind.name else "builtins.object")
            return
        if isinstance(kind, Super):
            for parent in self._after(kind):
                method = parent.methods.get(attr)
                if method is not None:
                    if not _abstract(method, parent):
                        keys.append(key_of(method, parent.module, kind.receiver))
                    return
            outside.append(f"builtins.object.{attr}")
            return
        found = method_of(kind.info, attr)
        if found is not None:
            if not _abstract(*found):
                keys.append(key_of(found[0], found[1].module, kind.info))
            return
        for each in ancestry(kind.info):
            for annotation, value, scope in each.instance_attributes.get(attr, ()):
                del annotation
                if isinstance(value, ast.Lambda):
                    keys.append(key_of(value, each.module, None))
                elif isinstance(value, ast.Name):
                    resolved = evaluate(value, scope)
                    for one in options(resolved):
                        self._from_value(one, keys, outside)
            for binding in each.attributes.get(attr, ()):
                if (method := _made_of_method(binding, each, "partialmethod")) is not None:
                    keys.append(key_of(method, each.module, kind.info))
                if binding.kind == "class" and isinstance(binding.node, ast.ClassDef):
                    info = each.module.classes.get(binding.node)
                    if info is not None:
                        self._constructed(info, keys, outside)
        for inner in self.inference.attribute_of(kind, attr):
            self._called_kind(inner, keys, outside)
        if not keys and not outside:
            outside.extend(
                f"{each}.{attr}" for each in outside_bases(kind.info) if each and not each.startswith("typing.")
            )

    @staticmethod
    def _after(kind: Super) -> list[ClassInfo]:
        """The classes that come after `owner` in the order in which the receiver's methods are looked up."""
        order = list(ancestry(kind.receiver))
        for index, each in enumerate(order):
            if each is kind.owner:
                return order[index + 1 :]
        return list(ancestry(kind.owner))[1:]

    def _bindings(self, node: ast.Call, targets: list[Key]) -> tuple[tuple[Parameter, Key | Parameter], ...]:
        """Functions that are handed over: for each target, its parameter to what it gets."""
        handed: list[tuple[int | str, Key | Parameter]] = []
        for index, each in enumerate(node.args):
            handed.extend((index, value) for value in self._functions_in(each))
        for keyword in node.keywords:
            if keyword.arg is not None:
                handed.extend((keyword.arg, value) for value in self._functions_in(keyword.value))
        if not handed:
            return ()
        found: list[tuple[Parameter, Key | Parameter]] = []
        for target in targets:
            located = self.graph._find(target)  # noqa: SLF001
            if located is None:
                continue
            function, module = located
            args = function.args
            positional = [*args.posonlyargs, *args.args]
            scope = module.scope_of(function)
            if scope.owner is not None and not _static(function):
                positional = positional[1:]
            for place, value in handed:
                name: str | None = None
                if isinstance(place, str):
                    name = place
                elif place < len(positional):
                    name = positional[place].arg
                if name is not None:
                    found.append((Parameter(module.path, function.lineno, function.col_offset, name), value))
        return tuple(found)

    def _functions_in(self, node: ast.expr) -> list[Key | Parameter]:
        """The functions that an argument is."""
        if isinstance(node, ast.Lambda):
            return [key_of(node, self.module, None)]
        if isinstance(node, ast.Name):
            bound = self.scope.lookup(node.id)
            if bound is None:
                if not self.module.star_imports:
                    return []
            elif not any(_may_be_function(each) for each in bound[1]):
                parameter = self._parameter_named(node.id) if bound[1][0].kind == "parameter" else None
                return [parameter] if parameter is not None else []
        if isinstance(node, ast.Name | ast.Attribute):
            value = evaluate(node, self.scope)
            found: list[Key | Parameter] = []
            if not isinstance(value, Unknown):
                for each in options(value):
                    if isinstance(each, Symbol) and isinstance(each.definition, ast.FunctionDef | ast.AsyncFunctionDef):
                        keys: list[Key] = []
                        self._from_value(each, keys, [])
                        found.extend(keys)
                return found
            if isinstance(node, ast.Attribute):
                for kind in self.inference.of(node.value, self.scope):
                    if isinstance(kind, Instance | ClassObject):
                        method = method_of(kind.info, node.attr)
                        if method is not None and not is_property(method[0]):
                            found.append(key_of(method[0], method[1].module, kind.info))
            if isinstance(node, ast.Name) and not found:
                local = self._local_function(node)
                if local is not None:
                    found.append(local)
            return found
        if isinstance(node, ast.Call):
            value = evaluate(node, self.scope)
            if isinstance(value, CallValue) and value.func.name == "functools.partial" and node.args:
                return self._functions_in(node.args[0])
        return []

    def _callbacks(self, node: ast.Call) -> None:
        """Functions of the project that are handed to code outside it, which may run them."""
        func = node.func
        name = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
        if name in NEVER_NOW:
            return
        for argument in _arguments(node):
            for each in self._functions_in(argument):
                if isinstance(each, Key):
                    self._add("call", node, targets=(each,))
                else:
                    self._add("parameter", node, parameter=each)

    def _property(self, node: ast.Attribute) -> None:
        parent = self.parents.get(node)
        if isinstance(parent, ast.Call) and parent.func is node:
            return
        if type(node.value) not in {ast.Name, ast.Attribute, ast.Call}:
            return
        reads = type(node.ctx) is ast.Load or (isinstance(parent, ast.AugAssign) and parent.target is node)
        for kind in self.inference.of(node.value, self.scope):
            if not isinstance(kind, Instance):
                continue
            if reads:
                found = method_of(kind.info, node.attr)
                if found is not None and is_property(found[0]) and not _abstract(*found):
                    self._add("call", node, targets=(key_of(found[0], found[1].module, kind.info),))
                elif found is None:
                    self._made_property(node, kind)
            if type(node.ctx) is not ast.Load:
                word = "deleter" if type(node.ctx) is ast.Del else "setter"
                for each in ancestry(kind.info):
                    accessor = each.accessors.get((node.attr, word))
                    if accessor is not None:
                        self._add("call", node, targets=(key_of(accessor, each.module, kind.info),))
                        break
                    if node.attr in each.attributes:
                        break

    def _made_property(self, node: ast.Attribute, kind: Instance) -> None:
        """Reading `size = property(_read)`."""
        for each in ancestry(kind.info):
            bindings = each.attributes.get(node.attr)
            if bindings:
                method = _made_of_method(bindings[-1], each, "property")
                if method is not None:
                    self._add("call", node, targets=(key_of(method, each.module, kind.info),))
                return

    def _with(self, node: ast.With | ast.AsyncWith) -> None:
        for item in node.items:
            for kind in self.inference.of(item.context_expr, self.scope):
                if isinstance(kind, Instance):
                    for name in ("__aenter__", "__enter__", "__aexit__", "__exit__"):
                        found = method_of(kind.info, name)
                        if found is not None:
                            self._add(
                                "call", item.context_expr, targets=(key_of(found[0], found[1].module, kind.info),)
                            )

    def _return(self, node: ast.expr, facts: Facts) -> None:
        for leaf in self.builder.leaves(node, self.scope):
            error = next((each for each in self.model.errors if each.node is leaf), None)
            if error is not None:
                facts.returned.append(self._throw(error, leaf))
                continue
            call: ast.expr = leaf
            while isinstance(call, ast.Await):
                call = call.value
            if isinstance(call, ast.Call):
                if isinstance(call.func, ast.Name) and self._class_of(call.func):
                    facts.returned.extend(self._throw(each, call) for each in self._errors_of(call))
                facts.returned_from.extend(self._targets(call)[0])

    # -- guards --------------------------------------------------------------------------------------------------

    def guards(self, node: ast.AST) -> tuple[Guard, ...]:
        """What stands between a node and the end of its function, innermost first."""
        statement = node
        while not isinstance(statement, ast.stmt | ast.ExceptHandler) and statement in self.parents:
            statement = self.parents[statement]
        # An item of a `with` header is guarded by the items before it; the body by all of them.
        found = self._guards_of.get(statement)
        if found is None:
            found = self._guards(statement)
            self._guards_of[statement] = found
        return found

    def _guards(self, statement: ast.AST, stop: ast.AST | None = None) -> tuple[Guard, ...]:
        found: list[Guard] = []
        current = statement
        while True:
            parent = self.parents.get(current)
            if parent is None or current is stop or parent is stop or parent is self.node:
                return tuple(found)
            if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
                return tuple(found)
            if isinstance(parent, ast.Try | ast.TryStar):
                if current in parent.body and parent.handlers:
                    found.append(self._try(parent))
                if current not in parent.finalbody and _swallows(parent.finalbody):
                    found.append(Guard((_EVERYTHING,)))
            elif isinstance(parent, ast.With | ast.AsyncWith) and current in parent.body:
                found.extend(self._stacked(parent, current))
                for item in reversed(parent.items):
                    found.extend(self._context_guards(item.context_expr, parent))
            current = parent

    def _try(self, node: ast.Try | ast.TryStar) -> Guard:
        guard = self._try_guards.get(node)
        if guard is None:
            clauses: list[Clause] = []
            for handler in node.handlers:
                types: tuple[str | None, ...] = ("builtins.BaseException",)
                if handler.type is not None:
                    types = self.builder.types_of(handler.type, self.scope)
                passes = tuple(
                    (*self._narrowed(each, handler), *self._guards(each, stop=handler))
                    for each in _own_statements(handler.body)
                    if isinstance(each, ast.Raise) and self._raises_caught(each, handler)
                )
                clauses.append(Clause(types, passes, isinstance(node, ast.TryStar)))
            guard = Guard(tuple(clauses))
            self._try_guards[node] = guard
        return guard

    def _raises_caught(self, node: ast.Raise, handler: ast.ExceptHandler) -> bool:
        """Whether a `raise` in a clause raises what the clause caught, rather than what one inside it did."""
        current: ast.AST | None = self.parents.get(node)
        if node.exc is None:
            while current is not None and not isinstance(current, ast.ExceptHandler):
                current = self.parents.get(current)
            return current is handler
        name = node.exc
        while (
            isinstance(name, ast.Call) and isinstance(name.func, ast.Attribute) and name.func.attr == "with_traceback"
        ):
            name = name.func.value
        return isinstance(name, ast.Name) and handler.name is not None and name.id == handler.name

    def _context_guards(self, node: ast.expr, statement: ast.With | ast.AsyncWith) -> list[Guard]:
        if not isinstance(node, ast.Call):
            if isinstance(node, ast.Name) and (bound := self.scope.lookup(node.id)) is not None and len(bound[1]) == 1:
                made = bound[1][0].value
                if bound[1][0].kind == "assign" and isinstance(made, ast.Call):
                    return self._context_guards(made, statement)
            for kind in self.inference.of(node, self.scope):
                if isinstance(kind, Outside) and kind.name in _TASK_GROUPS:
                    return [Guard(group=True)]
            return []
        value = evaluate(node.func, self.scope)
        found: list[Guard] = []
        for each in options(value):
            if not isinstance(each, Symbol):
                continue
            if each.name in {"contextlib.suppress", "anyio.suppress"}:
                types = tuple(name for arg in node.args for name in self.builder.types_of(arg, self.scope))
                found.append(Guard((Clause(types, (), star=True),)))
            elif each.name in _TASK_GROUPS:
                found.append(Guard(group=True))
            elif each.name == "mcpcore.guard":
                found.append(Guard(converts=True))
            elif isinstance(each.definition, ast.FunctionDef | ast.AsyncFunctionDef):
                found.extend(self._generator_guards(each))
        if not found and isinstance(node.func, ast.Attribute):
            keys, _ = self._callable(node.func)
            for key in keys:
                located = self.graph._find(key)  # noqa: SLF001
                if located is not None and isinstance(located[0], ast.FunctionDef | ast.AsyncFunctionDef):
                    found.extend(self._yield_guards(*located))
        if not found:
            for kind in self.inference.of(node, self.scope):
                if isinstance(kind, Instance):
                    found.extend(self._exit_guards(kind))
        del statement
        return found

    def _generator_guards(self, symbol: Symbol) -> list[Guard]:
        assert isinstance(symbol.definition, ast.FunctionDef | ast.AsyncFunctionDef)
        owner = self.module.project.module_defining(symbol.definition)
        return self._yield_guards(symbol.definition, owner) if owner is not None else []

    def _yield_guards(self, node: FunctionNode, module: Module) -> list[Guard]:
        return yield_guards(self.graph, node, module) if node is not self.node else []

    def _exit_guards(self, kind: Instance) -> list[Guard]:
        """What the `__exit__` of a class of the project keeps from leaving, where that is plain to see."""
        found = method_of(kind.info, "__exit__") or method_of(kind.info, "__aexit__")
        if found is None:
            return []
        node, owner = found
        returns = [each for each in own_nodes(node) if isinstance(each, ast.Return)]
        if len(returns) != 1 or node.body[-1] is not returns[0]:
            return []
        value = returns[0].value
        if isinstance(value, ast.Constant):
            return [Guard((_EVERYTHING,))] if value.value else []
        names = [each.arg for each in (*node.args.posonlyargs, *node.args.args)]
        tests = value.values if isinstance(value, ast.BoolOp) and isinstance(value.op, ast.And) else [value]
        *before, last = tests
        if not all(each is not None and _asks_for_any(each, names[1:3]) for each in before):
            return []
        asked = _asked_class(last, {"issubclass": names[1:2], "isinstance": names[2:3]})
        if asked is None:
            return []
        types = self.builder.types_of(asked, owner.module.scope_of(node))
        return [Guard((Clause(types, (), star=True),))]

    def _narrowed(self, node: ast.Raise, handler: ast.ExceptHandler) -> tuple[Guard, ...]:
        """The classes that `isinstance(error, ...)` round a `raise` in a clause, or before it, lets through."""
        if handler.name is None:
            return ()
        found: list[Guard] = []
        current: ast.AST = node
        while current is not handler:
            parent = self.parents.get(current)
            if parent is None:
                return ()
            if isinstance(parent, ast.If) and current is not parent.test:
                found.extend(self._asked(parent.test, handler.name, holds=current in parent.body))
            blocks: list[list[ast.stmt]] = [
                getattr(parent, name, None) or [] for name in ("body", "orelse", "finalbody")
            ]
            body = next((each for each in blocks if current in each), [])
            for each in body[: body.index(current)] if isinstance(current, ast.stmt) and body else ():
                if isinstance(each, ast.If) and not each.orelse and isinstance(each.body[-1], _LEAVES):
                    found.extend(self._asked(each.test, handler.name, holds=False))
            current = parent
        return tuple(found)

    def _asked(self, test: ast.expr, name: str, *, holds: bool) -> list[Guard]:
        while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            test, holds = test.operand, not holds
        if holds and isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            return [guard for each in test.values for guard in self._asked(each, name, holds=True)]
        asked = _asked_class(test, {"isinstance": [name]})
        if asked is None:
            return []
        types = self.builder.types_of(asked, self.scope)
        return [Guard(only=types) if holds else Guard(but=types)]

    def _stacked(self, node: ast.With | ast.AsyncWith, statement: ast.AST) -> list[Guard]:
        """What was entered through an exit stack before a statement of its block, the last first."""
        stacks = {
            item.optional_vars.id
            for item in node.items
            if isinstance(item.optional_vars, ast.Name)
            and isinstance(item.context_expr, ast.Call)
            and spelled(item.context_expr.func).endswith("ExitStack")
        }
        found: list[Guard] = []
        for each in node.body if stacks else ():
            if each is statement:
                break
            value = each.value if isinstance(each, ast.Expr | ast.Assign) else None
            call = value.value if isinstance(value, ast.Await) else value
            if (
                isinstance(call, ast.Call)
                and len(call.args) == 1
                and isinstance(call.func, ast.Attribute)
                and call.func.attr in {"enter_context", "enter_async_context"}
                and isinstance(call.func.value, ast.Name)
                and call.func.value.id in stacks
            ):
                found[:0] = self._context_guards(call.args[0], node)
        return found

    def _gathered(self, node: ast.AST, targets: tuple[Key, ...]) -> tuple[Guard, ...]:
        """What `gather(..., return_exceptions=True)` round the call of a coroutine keeps as a result."""
        if "return_exceptions" not in self.module.source.text or not targets:
            return ()
        current = node
        while (parent := self.parents.get(current)) is not None and not isinstance(current, ast.stmt):
            if (
                isinstance(parent, ast.Call)
                and current is not parent.func
                and spelled(parent.func).rpartition(".")[2] == "gather"
                and any(
                    each.arg == "return_exceptions"
                    and isinstance(each.value, ast.Constant)
                    and each.value.value is True
                    for each in parent.keywords
                )
            ):
                located = [self.graph._find(each) for each in targets]  # noqa: SLF001
                if all(each is not None and isinstance(each[0], ast.AsyncFunctionDef) for each in located):
                    return (Guard((Clause(("builtins.Exception",), (), star=True),)),)
                return ()
            current = parent
        return ()


def yield_guards(graph: CallGraph, node: FunctionNode, module: Module) -> list[Guard]:
    """The guards round the `yield` of a generator that is a context manager: they hold for the `with` body."""
    if isinstance(node, ast.Lambda) or not any("contextmanager" in spelled(each) for each in node.decorator_list):
        return []
    extractor = Extractor(graph, node, module, None)
    extractor.events = []
    for each in own_nodes(node):
        if isinstance(each, ast.Yield):
            return list(extractor.guards(each))
    return []


def _asked_class(test: ast.expr | None, subjects: dict[str, list[str]]) -> ast.expr | None:
    """The classes in `isinstance(error, ...)`, by the functions and the names that they may ask about."""
    if (
        isinstance(test, ast.Call)
        and isinstance(test.func, ast.Name)
        and len(test.args) == 2
        and isinstance(test.args[0], ast.Name)
        and test.args[0].id in subjects.get(test.func.id, ())
    ):
        return test.args[1]
    return None


def _asks_for_any(test: ast.expr, names: list[str]) -> bool:
    """Whether a condition asks no more than whether there is an exception at all."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.IsNot):
        none = test.comparators[0]
        test = test.left if isinstance(none, ast.Constant) and none.value is None else none
    return isinstance(test, ast.Name) and test.id in names


def _swallows(body: list[ast.stmt]) -> bool:
    """Whether a `finally` leaves otherwise than it was entered, so that what came to it does not go on."""
    return any(isinstance(each, ast.Break | ast.Continue | ast.Raise) for each in body) or any(
        isinstance(each, ast.Return) for each in _own_statements(body)
    )


def _own_statements(body: list[ast.stmt]) -> list[ast.AST]:
    return walk_shallow([*body])


def _arguments(node: ast.Call) -> list[ast.expr]:
    found = [each.value if isinstance(each, ast.Starred) else each for each in node.args]
    found.extend(each.value for each in node.keywords)
    return found


def spelled(node: ast.expr | None) -> str:
    """A callee as written, shortened to its names."""
    parts: list[str] = []
    current: ast.expr | None = node
    for _ in range(20):
        if isinstance(current, ast.Attribute):
            parts.append(current.attr)
            current = current.value
        elif isinstance(current, ast.Call):
            if parts:
                parts[-1] = parts[-1]
            parts.append("()")
            current = current.func
        elif isinstance(current, ast.Subscript):
            parts.append("[]")
            current = current.value
        elif isinstance(current, ast.Name):
            parts.append(current.id)
            break
        elif isinstance(current, ast.Await):
            current = current.value
        else:
            parts.append("...")
            break
    text = ""
    for part in reversed(parts):
        text += part if part in {"()", "[]"} else f".{part}" if text else part
    return text


def _abstract(node: ast.FunctionDef | ast.AsyncFunctionDef, owner: ClassInfo) -> bool:
    """Whether a method has no body of its own: abstract, or of a protocol."""
    for each in node.decorator_list:
        if "abstract" in spelled(each):
            return True
    body = [each for each in node.body if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))]
    if not body or (
        len(body) == 1 and isinstance(body[0], ast.Raise) and "NotImplementedError" in spelled(body[0].exc)
    ):
        if not body:
            return any("Protocol" in spelled(base) or "ABC" in spelled(base) for base in owner.node.bases)
        return True
    return False


def _made_of_method(binding: Binding, info: ClassInfo, maker: str) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The method that `name = maker(method, ...)` in a class is made of."""
    value = binding.value
    if binding.kind != "assign" or not isinstance(value, ast.Call) or not value.args:
        return None
    first = value.args[0]
    return (
        info.methods.get(first.id)
        if spelled(value.func).rpartition(".")[2] == maker and isinstance(first, ast.Name)
        else None
    )


def _static(node: FunctionNode) -> bool:
    return not isinstance(node, ast.Lambda) and any(
        isinstance(each, ast.Name) and each.id == "staticmethod" for each in node.decorator_list
    )


def _holds(condition: str, node: ast.Call) -> bool:
    """Whether a call has the argument that `if check` asks for, or lacks the one that `unless exist_ok` does."""
    word, _, name = condition.partition(" ")
    given = False
    for keyword in node.keywords:
        if keyword.arg is None:
            return False
        if keyword.arg == name:
            given = not (isinstance(keyword.value, ast.Constant) and not keyword.value.value)
    return given is (word == "if")


def _may_be_function(binding: Binding) -> bool:
    """Whether a name is bound in a way that can make it a function: cheaper than finding out what it is."""
    return binding.kind in {"function", "import"} or (
        binding.kind == "assign"
        and isinstance(binding.value, ast.Name | ast.Attribute | ast.Lambda | ast.Call | ast.IfExp)
    )


def _unique(items: list[K]) -> list[K]:
    return list(dict.fromkeys(items))
