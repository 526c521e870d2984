"""Reads what one function does: its errors, its calls, and the clauses round each."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.effects import Blind, Event, EventKind, Facts, Key, Parameter, Throw, key_of
from mcpcore_lint.facts.callees import unique
from mcpcore_lint.facts.guards import GuardReader
from mcpcore_lint.facts.spelling import arguments_of, holds, is_abstract, made_of_method, spelled
from mcpcore_lint.kinds import BUILTIN_METHODS, Instance, ancestry, is_property, method_of
from mcpcore_lint.knowledge import KNOWLEDGE
from mcpcore_lint.model import (
    CodeValue,
    Const,
    ErrorForm,
    ErrorSite,
    FunctionNode,
    Missing,
    Symbol,
    options,
)
from mcpcore_lint.resolve import PLAIN_BUILTINS, evaluate
from mcpcore_lint.symbols import class_info

if TYPE_CHECKING:
    from mcpcore_lint.calls import CallGraph
    from mcpcore_lint.effects import Given
    from mcpcore_lint.project import ClassInfo, Module


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

_QUIET: Final = PLAIN_BUILTINS - {
    "map", "filter", "sorted", "min", "max", "iter", "next", "open", "eval", "exec", "compile", "sum", "all", "any",
    "print", "__import__", "super", "property", "classmethod", "staticmethod", "type", "vars", "setattr", "delattr",
    "input",
}  # fmt: skip
"""Builtins that run no function of the project and raise nothing that is worth telling."""


_WITH_CONSTRUCTORS: Final = frozenset({"coded", "project", "protocol", "framework"})
"""How an error is made that may be of a class of the project."""


class Extractor(GuardReader):
    """Reads the facts of one function."""

    def __init__(
        self,
        graph: CallGraph,
        node: FunctionNode,
        module: Module,
        receiver: ClassInfo | None,
        given: tuple[Given, ...] = (),
    ) -> None:
        super().__init__(graph, node, module, receiver, given)
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

    def _made_with(self, node: ast.expr) -> None:
        """The constructors of an error's class, where it is the project's own: they may raise on their own account."""
        keys: list[Key] = []
        for each in options(evaluate(node.func if isinstance(node, ast.Call) else node, self.scope)):
            info = class_info(each) if isinstance(each, Symbol) else None
            if info is not None:
                self._constructed(info, keys, [])
        if keys:
            self._add("call", node, targets=tuple(unique(keys)))

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
        takes = any(self._is_context(each) for each in arguments_of(call))
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
                if not condition or holds(condition, node):
                    self._knowledge(node, name, raised)
        if not targets:
            self._callbacks(node)
            takes = any(self._is_context(each) for each in arguments_of(node))
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

    def _callbacks(self, node: ast.Call) -> None:
        """Functions of the project that are handed to code outside it, which may run them."""
        func = node.func
        name = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
        if name in NEVER_NOW:
            return
        for argument in arguments_of(node):
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
                if found is not None and is_property(found[0]) and not is_abstract(*found):
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
                method = made_of_method(bindings[-1], each, "property")
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
