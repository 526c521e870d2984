"""Extracts the facts of one function: its errors, its calls, and the guards around them."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from typing import Final

from mcpcore_lint.dataclasses import replace
from mcpcore_lint.engine.flow.bodies.errors import evaluate_arguments
from mcpcore_lint.engine.flow.bodies.raises import leaves
from mcpcore_lint.engine.flow.effects import (
    Blind,
    Effect,
    Event,
    Facts,
    Guard,
    Key,
    Parameter,
    Program,
    Throw,
    Write,
    parameter_of,
)
from mcpcore_lint.engine.flow.facts.callees import Callees
from mcpcore_lint.engine.flow.facts.converting import guards_made
from mcpcore_lint.engine.flow.facts.guards import Guards
from mcpcore_lint.engine.flow.facts.spelling import last_name, spelled
from mcpcore_lint.engine.flow.facts.stdout import may_write, replaces_stdout, written_by
from mcpcore_lint.engine.semantics.codes import CODES
from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.semantics.symbols import class_info
from mcpcore_lint.engine.semantics.type_model import BUILTIN_METHODS, Instance, is_property, method_of
from mcpcore_lint.engine.syntax.module import ClassInfo, Module
from mcpcore_lint.engine.syntax.scopes import Scope
from mcpcore_lint.model import (
    CodeValue,
    Const,
    ErrorForm,
    ErrorSite,
    FunctionNode,
    Symbol,
    ThrowSite,
    Value,
    is_left_out,
    options,
    string,
)
from mcpcore_lint.names import FRAMEWORKS, PLAIN_BUILTINS

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
"""Functions that take a function and do not run it now, or do not pass its error back to the caller."""

_QUIET: Final = PLAIN_BUILTINS - {
    "map", "filter", "sorted", "min", "max", "iter", "next", "open", "eval", "exec", "compile", "sum", "all", "any",
    "print", "__import__", "super", "property", "classmethod", "staticmethod", "type", "vars", "setattr", "delattr",
    "input",
}  # fmt: skip
"""Builtins that run no function of the project and raise nothing worth reporting."""


_RUN: Final = {
    **dict.fromkeys(("to_thread", "run_sync", "run_in_threadpool", "submit", "start_soon"), 0),
    "run_in_executor": 1,
}
"""Runners that take a function and its arguments separately, with the position of the function."""
_RUNNERS: Final = frozenset(
    {*_RUN, "create_task", "ensure_future", "gather", "wait_for", "shield", "run", "run_until_complete",
     "run_coroutine_threadsafe", "map", "filter", "sorted", "reduce"}
)  # fmt: skip
"""Outside functions that run a function and pass its error back."""
_HARMLESS: Final = frozenset({"loguru", "structlog", "typing_extensions", "rich", "annotated_types", "anyio", "trio"})
"""Packages for logs, types and tasks, whose functions are not reported as unknown."""
_TASKS: Final = frozenset({"create_task", "ensure_future"})
"""Functions that turn a coroutine into a task."""
_FUTURES: Final = frozenset({"submit", "run_in_executor", "to_thread", "start_soon"})
"""Functions that run another function in a thread, a process or a task group."""
_ENTERS: Final = frozenset({"enter_context", "enter_async_context"})
_MADE_ELSEWHERE: Final = "the raised error is created elsewhere"
_WAITED_ELSEWHERE: Final = "the place where it is awaited is not known"


class Extractor:
    """Extracts the facts of one function."""

    def __init__(self, program: Program, node: FunctionNode, module: Module, receiver: ClassInfo | None = None) -> None:
        self.callees = Callees(program, node, module, receiver)
        self.guards = Guards(self.callees)
        self.program = program
        self.node = node
        self.module = module
        self.scope = self.callees.scope
        self.builder = self.callees.builder
        self.parents = self.builder.body.parents
        self.errors = self.builder.errors.sites
        self.events: list[Event] = []

    def extract(self, key: Key) -> Facts:
        """Return the facts."""
        facts = Facts(key.name, self.events, [], [])
        for throw in self.builder.model.throws:
            if throw.function is self.node:
                self._throw(throw)
        nested = self.builder.body.function_of
        for check in self.builder.body.asserts:
            if check not in nested:
                span = self.module.source.span(check)
                self._add(check, Throw("builtins.AssertionError", "builtin", (), (), self.module.path, span))
        for call in self.builder.body.calls:
            if call not in nested and call not in self.errors:
                self._call(call)
        for attribute in self.builder.body.attributes:
            if attribute not in nested and type(attribute.ctx) is ast.Load:
                self._property(attribute)
        for block in self.builder.body.withs:
            if block not in nested:
                self._with(block)
        for statement in self.builder.body.returns:
            if statement not in nested and statement.value is not None:
                self._return(statement.value, facts)
        if isinstance(self.node, ast.Lambda):
            self._return(self.node.body, facts)
        if self.module.once("prints", lambda: may_write(self.module.source.text)):
            self._writes(key.name)
        return facts

    def _throw(self, throw: ThrowSite) -> None:
        """Add the errors of one `raise`, or mark them as unknown."""
        if throw.error is not None:
            self._add(throw.node, throw_of(throw.error, self.module, throw.node, grouped=throw.grouped))
            return
        if throw.made is not None and (errors := self._errors_of(throw.made)):
            for error in errors:
                self._add(throw.node, throw_of(error, self.module, throw.node))
            return
        if throw.call is not None:
            targets, outside = self.callees.targets(throw.call)
            context = self._passed_context(throw.call)
            if context is not None or "mcpcore.Context.fail" in outside:
                error = self.builder.errors.made_by_context(throw.call)
                self._add(throw.node, throw_of(error, self.module, throw.node)._replace(context_from=context))
            elif targets:
                self._add(throw.node, targets=tuple(targets), results=True)
            else:
                self._blind(spelled(throw.call.func), throw.node, _MADE_ELSEWHERE, call=throw.call)
        elif not throw.reraise or (throw.node.exc is None and throw.catch is None):
            name = f"raise {spelled(throw.node.exc)}" if throw.node.exc is not None else "raise"
            self._blind(name, throw.node, _MADE_ELSEWHERE)

    def _passed_context(self, call: ast.Call) -> Parameter | None:
        """Return the parameter without annotation whose `fail` is raised."""
        if not isinstance(call.func, ast.Attribute) or call.func.attr != "fail":
            return None
        return self.callees.parameter(call.func.value) if type(self.parents.get(call)) is ast.Raise else None

    def _errors_of(self, node: ast.expr) -> list[ErrorSite]:
        """Return the errors that an expression may be; an empty list if one of its values may be something else."""
        values: list[Value] = [*options(evaluate(node.func if isinstance(node, ast.Call) else node, self.scope))]
        if isinstance(node, ast.Call):
            call = evaluate_arguments(node, self.scope)
            values = [replace(call, func=value) if isinstance(value, Symbol) else value for value in values]
        errors = [self.builder.errors.error_of(value, node) for value in values]
        return [] if None in errors else [error for error in errors if error is not None]

    def _writes(self, name: str) -> None:
        """Add the writes of the function to standard output, unless it replaces `sys.stdout`."""
        body = self.builder.body
        if replaces_stdout(body.attributes):
            for event in self.events:
                event.guards = (*event.guards, Guard(redirects=True))
            return
        for call in body.calls:
            written = None
            if call not in body.function_of:
                written = written_by(call, self.callees.targets(call)[1], self.scope)
            if written is not None:
                self._add(call, Write(*written, name, self.module.path, self.module.source.span(call)))

    # -- events --------------------------------------------------------------------------------------------------

    def _add(
        self,
        node: ast.AST,
        effect: Effect | None = None,
        *,
        targets: tuple[Key, ...] = (),
        parameter: Parameter | None = None,
        results: bool = False,
    ) -> None:
        span = effect.span if effect is not None else self.module.source.span(node)
        where_awaited = (*self.guards.gathered(node, targets), *self.guards.awaited_by(node, targets))
        guards = (*where_awaited, *self.guards.of(node))
        self.events.append(Event(span, guards, effect, targets, parameter, results))

    def _add_parameter(self, node: ast.AST, parameter: Parameter) -> None:
        """Add the call of a parameter, whose value only the caller knows."""
        why = "its value is passed in by a caller that is not known"
        self._add(node, self._unresolved(parameter.name, node, why), parameter=parameter)

    def _blind(self, name: str, at: ast.AST, why: str, *, call: ast.Call | None = None, project: bool = True) -> None:
        """Add something that cannot be resolved."""
        takes_context = call is not None and self._takes_context(call)
        self._add(at, self._unresolved(name, at, why)._replace(takes_context=takes_context, project=project))

    def _unresolved(self, name: str, at: ast.AST, why: str) -> Blind:
        return Blind(name, self.module.path, self.module.source.span(at), takes_context=False, project=True, why=why)

    def _takes_context(self, call: ast.Call) -> bool:
        arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
        for argument in arguments:
            node = argument.value if isinstance(argument, ast.Starred) else argument
            if type(node) is ast.Name and self.builder.contexts.is_context(node, self.scope):
                return True
        return False

    # -- calls ---------------------------------------------------------------------------------------------------

    def _call(self, node: ast.Call) -> None:
        func = node.func
        if type(func) is ast.Name and func.id in self.builder.body.builtins and func.id in _QUIET:
            return
        if type(func) is ast.Attribute and self.builder.contexts.is_context(func.value, self.scope):
            if func.attr == "guard":
                self._unseen_errors(node)
            return
        if self._passed_context(node) is not None:
            return
        if guards := self._guards_around(func):
            self._named(func, (*guards, *self.guards.of(node)))
        around_task = self._waiting(node)
        # Nothing awaits a task that is an expression statement, so its error is lost.
        if isinstance(around_task, ast.Expr) or self.builder.contexts.is_context_call(node, "recovery_for"):
            return
        if type(func) is ast.Name and (parameter := self.callees.parameter(func)) is not None:
            self._add_parameter(node, parameter)
            return
        targets, outside = self.callees.targets(node)
        if targets:
            if around_task is not None and not isinstance(around_task, (ast.Await, ast.Return)):
                self._blind(targets[0].name, node, _WAITED_ELSEWHERE)
            else:
                self._add(node, targets=tuple(self.callees.with_arguments(target, node) for target in targets))
        if "mcpcore.Context.fail" in outside or "mcpcore.Context.guard" in outside:
            self._unseen_errors(node)
        for name in outside:
            for raised in self._configured(name):
                self._raised_outside(node, name, raised)
        if outside and self.program.thorough:
            self._report_outside(node, outside)
        if targets:
            return
        self._callbacks(node)
        if isinstance(func, ast.Attribute) and func.attr in _ENTERS and node.args:
            self._run_by_with(node.args[0])
            if guards := self.guards.converting(node.args[0]):
                self._named(node.args[0], (*guards, *self.guards.of(node)))
        if not outside or self._takes_context(node):
            why = "the context is passed to it" if outside else "the called function is not known"
            self._blind(spelled(func), node, why, call=node, project=not outside and _could_be_project(func))

    def _unseen_errors(self, node: ast.Call) -> None:
        """Add the errors of a `ctx.fail` or `ctx.guard` that may or may not raise them."""
        if type(self.parents.get(node)) is ast.withitem:
            return
        if guards := self.guards.converting(node):
            # The data keys are compared only for guards that wrap a block or a function.
            throws = [entry.throw._replace(data_keys=None) for guard in guards for entry in guard.becomes]
        else:
            error = self.builder.errors.made_by_context(node)
            throws = [throw_of(error, self.module, node)._replace(is_named_only=True)]
        self.events += [Event(throw.span, (), throw) for throw in throws]

    def _guards_around(self, func: ast.expr) -> list[Guard]:
        """Return the guards that a call wraps around a function, as in `guard(...)(load)`."""
        if type(func) is ast.Call:
            return self.guards.converting(func)
        match = self.scope.lookup(func.id) if type(func) is ast.Name else None
        call = match[1][0].value if match is not None and len(match[1]) == 1 else None
        if match is None or type(call) is not ast.Call or type(call.func) is not ast.Call:
            return []
        return guards_made(call.func, match[0], func)

    def _report_outside(self, node: ast.Call, outside: list[str]) -> None:
        """Report functions of other packages if nothing is known about their errors."""
        for name in dict.fromkeys(outside):
            package = name.partition(".")[0]
            plain = package in sys.stdlib_module_names or package in FRAMEWORKS or package in _HARMLESS
            if plain or package == "builtins" or "." not in name or name in self.program.raises:
                continue
            self._blind(name, node, "its errors are not known", project=False)

    def _configured(self, name: str) -> tuple[str, ...]:
        """Return the errors that the project's settings list for a function of another package."""
        raises = self.program.raises
        return (raises.get(name) or raises.get(f"{name.rpartition('.')[0]}.*") or ()) if raises else ()

    def _raised_outside(self, node: ast.AST, name: str, raised: str) -> None:
        form: ErrorForm = "builtin" if raised.startswith("builtins.") else "other"
        span = self.module.source.span(node)
        self._add(node, Throw(raised, form, (), (), self.module.path, span, name.removeprefix("builtins.")))

    def _waiting(self, node: ast.Call) -> ast.AST | None:
        """Return what is around the task that a coroutine becomes; None if it becomes none, or one of a task group."""
        parent = self.parents.get(node)
        if not isinstance(parent, ast.Call) or node not in parent.args or last_name(parent.func) not in _TASKS:
            return None
        holder = parent.func.value if isinstance(parent.func, ast.Attribute) else None
        match = self.scope.lookup(holder.id) if isinstance(holder, ast.Name) else None
        is_grouped = match is not None and any(binding.kind == "with" for binding in match[1])
        return None if is_grouped else self.parents.get(parent)

    def _callbacks(self, node: ast.Call) -> None:
        """Add functions of the project that are passed to other packages, which may run them."""
        func = node.func
        name = last_name(func)
        if name in NEVER_NOW:
            return
        if name in _RUN:
            self._run_elsewhere(node, _RUN[name])
        for argument in [*node.args, *(keyword.value for keyword in node.keywords if keyword.arg is not None)]:
            functions = self.callees.functions_in(argument)
            if functions and self._is_class(func):
                return  # the object stores the function; calls through the attribute are followed instead
            for function in functions:
                if isinstance(function, Parameter) and name in _RUNNERS:
                    self._add_parameter(node, function)
                elif isinstance(function, Parameter):
                    self._add(node, parameter=function)  # only known functions count as called
                elif name in _FUTURES and not isinstance(self.parents.get(node), ast.Await):
                    self._blind(function.name, node, _WAITED_ELSEWHERE)
                else:
                    self._add(node, targets=(function,))

    def _is_class(self, func: ast.expr) -> bool:
        """Whether a callee is a class of the project without a constructor."""
        if not isinstance(func, (ast.Name, ast.Attribute)):
            return False
        values = options(self.builder.errors.callee(func, self.scope))
        infos = [class_info(value) for value in values if isinstance(value, Symbol)]
        return bool(infos) and None not in infos

    def _run_elsewhere(self, node: ast.Call, place: int) -> None:
        """Report an unknown function that is passed to a runner."""
        function = node.args[place] if place < len(node.args) else None
        if not isinstance(function, (ast.Attribute, ast.Name)) or self.callees.functions_in(function):
            return
        targets, outside = self.callees.callable(function)
        if not targets and not outside and _could_be_project(function):
            self._blind(spelled(function), function, "the called function is not known")

    def _property(self, node: ast.Attribute) -> None:
        """Add the property that reading an attribute runs."""
        parent = self.parents.get(node)
        # A name with a call behind it is a method, and no property.
        if not isinstance(node.value, ast.Name) or (isinstance(parent, ast.Call) and parent.func is node):
            return
        for kind in self.callees.inference.name(node.value, self.scope):
            if isinstance(kind, Instance) and (method := method_of(kind.info, node.attr)) and is_property(method[0]):
                self._add(node, targets=tuple(self.callees.methods(kind, node.attr) or ()))

    # -- with ----------------------------------------------------------------------------------------------------

    def _with(self, node: ast.With | ast.AsyncWith) -> None:
        for item in node.items:
            self._run_by_with(item.context_expr)
            if any(guard.becomes for guard in self.guards.converting(item.context_expr)):
                self._named(item.context_expr, self.guards.of(node.body[0]))

    def _named(self, node: ast.expr, guards: tuple[Guard, ...]) -> None:
        """Add the errors that a guard names, even if nothing inside is known to cause them.

        Args:
            node: The guard.
            guards: All guards around the block, including this one.
        """
        place = self.module.source.span(node)
        for at, guard in enumerate(guards):
            for entry in guard.becomes:
                if entry.throw.path == self.module.path and place.holds(entry.throw.span):
                    self.events.append(Event(entry.throw.span, guards[at + 1 :], entry.throw))

    def _run_by_with(self, node: ast.expr) -> None:
        """Add the methods that a context manager runs on entry and exit."""
        for kind in self.callees.inference.of(node, self.scope):
            if isinstance(kind, Instance):
                for name in ("__aenter__", "__enter__", "__aexit__", "__exit__"):
                    if methods := self.callees.methods(kind, name):
                        self._add(node, targets=tuple(methods))

    def _return(self, node: ast.expr, facts: Facts) -> None:
        for leaf in leaves(node, self.scope):
            call: ast.expr = leaf
            while isinstance(call, ast.Await):
                call = call.value
            targets = self.callees.targets(call)[0] if isinstance(call, ast.Call) else []
            if error := self.errors.get(leaf):
                facts.returned.append(throw_of(error, self.module, leaf))
            # The call of a class gives the object, and nothing that its `__init__` returns.
            elif targets and not targets[0].name.endswith("__init__"):
                facts.returned_from.extend(targets)
            elif isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
                bindings = self.scope.bindings.get(call.func.id, ())
                if any(binding.kind == "parameter" for binding in bindings):  # `return cls(...)`
                    facts.returned.append(self._unresolved(facts.name, leaf, _MADE_ELSEWHERE))


def throw_of(error: ErrorSite, module: Module, at: ast.AST, *, grouped: bool = False) -> Throw:
    """Return an error as it leaves the function that raises it."""
    scope, span = module.scope_of(error.function), module.source.span(at)
    codes, code_from = labels_of(error.code, scope, code_name)
    reasons, reason_from = labels_of(error.reason, scope, string)
    throw = Throw(error.type_name, error.form, codes, reasons, module.path, span, grouped=grouped)
    return throw._replace(code_from=code_from, reason_from=reason_from) if code_from or reason_from else throw


def labels_of(
    value: Value, scope: Scope, label: Callable[[Value], str | None]
) -> tuple[tuple[str, ...] | None, Parameter | None]:
    """Return the codes or reasons that a value may be, None if unknown, and the parameter that it is, if it is one."""
    labels, node = _labels(value, label), value.node
    match = scope.lookup(node.id) if labels is None and isinstance(node, ast.Name) else None
    if match is None or not isinstance(node, ast.Name) or [binding.kind for binding in match[1]] != ["parameter"]:
        return labels, None
    function = match[0].node
    return labels, None if isinstance(function, ast.Module) else parameter_of(function, scope.module, node.id)


def _labels(value: Value, label: Callable[[Value], str | None]) -> tuple[str, ...] | None:
    """Return the codes or reasons that an error may have; None if one is unknown."""
    labels = [label(option) for option in options(value) if not is_left_out(option)]
    return None if None in labels else tuple(dict.fromkeys(name for name in labels if name is not None))


def code_name(value: Value) -> str | None:
    """Return the name of a code."""
    if isinstance(value, Const):
        return CODES.name_of(value.value) if type(value.value) is int else None
    return value.name if isinstance(value, CodeValue) else None


def _could_be_project(func: ast.expr) -> bool:
    return not isinstance(func, ast.Attribute) or func.attr not in BUILTIN_METHODS
