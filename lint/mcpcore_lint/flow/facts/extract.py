"""Extracts the facts of one function: its errors, its calls, and the guards around them."""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING, Final

from mcpcore_lint.flow.bodies.raises import leaves
from mcpcore_lint.flow.effects import (
    Bindings,
    Blind,
    Event,
    EventKind,
    Facts,
    Guard,
    Key,
    Parameter,
    ParameterUse,
    Throw,
    Write,
    redirected,
)
from mcpcore_lint.flow.facts.callees import Callees, unique
from mcpcore_lint.flow.facts.converting import guards_made
from mcpcore_lint.flow.facts.errors_made import throw_of
from mcpcore_lint.flow.facts.except_clauses import Guards
from mcpcore_lint.flow.facts.flags import unreached
from mcpcore_lint.flow.facts.spelling import FUTURES, TASKS, holds, spelled
from mcpcore_lint.flow.facts.stdout import may_write, replaces_stdout, written_by
from mcpcore_lint.model import (
    ErrorForm,
    Symbol,
    ThrowSite,
    options,
)
from mcpcore_lint.names import FRAMEWORKS, PLAIN_BUILTINS
from mcpcore_lint.semantics.knowledge import KNOWLEDGE
from mcpcore_lint.semantics.symbols import class_info
from mcpcore_lint.semantics.type_model import BUILTIN_METHODS, Instance

if TYPE_CHECKING:
    from mcpcore_lint.flow.facts.flags import Flags
    from mcpcore_lint.flow.program import Program
    from mcpcore_lint.model import FunctionNode
    from mcpcore_lint.syntax.module import ClassInfo, Module

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


_RUNNERS: Final = frozenset(
    {"to_thread", "run_sync", "run_in_threadpool", "run_in_executor", "submit", "start_soon", "create_task",
     "ensure_future", "gather", "wait_for", "shield", "run", "run_until_complete", "run_coroutine_threadsafe",
     "map", "filter", "sorted", "reduce"}
)  # fmt: skip
"""Outside functions that run a function and pass its error back."""
_HARMLESS: Final = frozenset({"loguru", "structlog", "typing_extensions", "rich", "annotated_types", "anyio", "trio"})
"""Packages for logs, types and tasks, whose functions are not reported as unknown."""
_RUN: Final = {
    "to_thread": 0,
    "run_sync": 0,
    "run_in_threadpool": 0,
    "submit": 0,
    "start_soon": 0,
    "run_in_executor": 1,
}
"""Runners that take a function and its arguments separately, with the position of the function."""
_ENTERS: Final = frozenset({"enter_context", "enter_async_context"})
_MADE_ELSEWHERE: Final = "the raised error is created elsewhere"
_WAITED_ELSEWHERE: Final = "the place where it is awaited is not known"


class Extractor:
    """Extracts the facts of one function."""

    def __init__(
        self,
        program: Program,
        node: FunctionNode,
        module: Module,
        receiver: ClassInfo | None = None,
        flags: Flags = (),
    ) -> None:
        self.callees = Callees(program, node, module, receiver, flags)
        self.guards = Guards(self.callees)
        self.program = program
        self.node = node
        self.module = module
        self.scope = self.callees.scope
        self.builder = self.callees.builder
        self.parents = self.builder.body.parents
        self.errors = self.callees.errors
        self._raised: set[ast.expr] = set()
        """Raised calls whose error is already recorded: one of several classes."""
        memo = module.memo
        if "prints" not in memo:
            memo["prints"] = may_write(module.source.text)
        self._dead = unreached(node, self.callees.flags)
        """Statements that do not run with the flags that the call passes."""

    def extract(self, key: Key) -> Facts:
        """Return the facts."""
        facts = Facts(key)
        self.events = facts.events
        for throw in self.builder.model.throws:
            if throw.function is self.node:
                self._throw(throw)
        nested = self.builder.body.function_of
        for check in self.builder.body.asserts:
            if check not in nested:
                span = self.module.source.span(check)
                failing = Throw("builtins.AssertionError", "builtin", (), (), self.module.path, span)
                self._add("throw", check, throw=failing)
        for call in self.builder.body.calls:
            if call not in nested and call not in self.errors.at and call not in self._raised:
                self._call(call)
        for block in self.builder.body.withs:
            if block not in nested:
                self._with(block)
        for statement in self.builder.body.returns:
            if statement not in nested and statement.value is not None and not self._is_dead(statement):
                self._return(statement.value, facts)
        if isinstance(self.node, ast.Lambda):
            self._return(self.node.body, facts)
        if self.module.memo["prints"]:
            self._writes(facts)
        return facts

    def _throw(self, throw: ThrowSite) -> None:
        """Add the errors of one `raise`, or mark them as unknown."""
        if throw.error is not None:
            known = throw_of(throw.error, self.module, throw.node, grouped=throw.grouped)
            self._add("throw", throw.node, throw=known)
            return
        errors = self.errors.errors_of(throw.made) if throw.made is not None else []
        if throw.made is not None and errors:
            for error in errors:
                self._add("throw", throw.node, throw=throw_of(error, self.module, throw.node))
            self._raised.add(throw.made)
            return
        if throw.call is not None:
            targets, _ = self.callees.targets(throw.call)
            if targets:
                self._add("result", throw.node, targets=tuple(targets))
            else:
                self._blind(spelled(throw.call.func), throw.node, _MADE_ELSEWHERE, call=throw.call)
        elif not throw.reraise or (throw.node.exc is None and throw.catch is None):
            name = f"raise {spelled(throw.node.exc)}" if throw.node.exc is not None else "raise"
            self._blind(name, throw.node, _MADE_ELSEWHERE)

    def _writes(self, facts: Facts) -> None:
        """Add the writes of the function to standard output, unless it replaces `sys.stdout`."""
        facts.redirects = replaces_stdout(self.builder.body.attributes)
        if facts.redirects:
            return
        for call in self.builder.body.calls:
            if call in self.builder.body.function_of:
                continue
            written = written_by(call, self.callees.targets(call)[1], self.scope)
            if written is None or self._is_dead(call) or redirected(self.guards.of(call)):
                continue
            span = self.module.source.span(call)
            facts.writes.append(Write(*written, facts.key.name, self.module.path, span))

    # -- events --------------------------------------------------------------------------------------------------

    def _add(
        self,
        kind: EventKind,
        node: ast.AST,
        *,
        throw: Throw | None = None,
        blind: Blind | None = None,
        targets: tuple[Key, ...] = (),
        bindings: Bindings = (),
        parameter: Parameter | None = None,
        use: ParameterUse = "calls",
    ) -> None:
        if self._is_dead(node):
            return
        span = throw.span if throw is not None else self.module.source.span(node)
        guards = (*self.guards.gathered(node, targets), *self.guards.of(node))
        self.events.append(Event(kind, span, guards, throw, blind, targets, bindings, parameter, use))

    def _add_calls(self, node: ast.AST, keys: list[Key]) -> None:
        if keys:
            self._add("call", node, targets=tuple(unique(keys)))

    def _is_dead(self, node: ast.AST) -> bool:
        current: ast.AST | None = node if self._dead else None
        while current is not None and current not in self._dead:
            current = self.parents.get(current)
        return current is not None

    def _blind(self, name: str, at: ast.AST, why: str, *, call: ast.Call | None = None, project: bool = True) -> None:
        """Add something that cannot be resolved."""
        takes_context = call is not None and self._takes_context(call)
        blind = Blind(name, self.module.path, self.module.source.span(at), takes_context, project, why)
        self._add("blind", at, blind=blind)

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
        if guards := self._guards_around(func):
            self._named(func, (*guards, *self.guards.of(node)))
        if self._is_dropped_task(node) or self.builder.contexts.is_context_call(node, "recovery_for"):
            return
        if type(func) is ast.Name and (parameter := self.callees.parameter(func)) is not None:
            self._add("parameter", node, parameter=parameter)
            return
        targets, outside = self.callees.targets(node)
        if targets:
            bindings = self.callees.bindings(node, targets)
            if self._is_kept_task(node):
                self._blind(targets[0].name, node, _WAITED_ELSEWHERE)
            else:
                self._add("call", node, targets=tuple(targets), bindings=bindings)
        if "mcpcore.Context.fail" in outside or "mcpcore.Context.guard" in outside:
            self._unseen_errors(node)
        for name in outside:
            for fact in self._known(name):
                raised, _, condition = fact.partition(" ")
                if not condition or holds(condition, node):
                    self._raised_outside(node, name, raised)
        if outside and self.program.thorough:
            self._report_outside(node, outside)
        if targets:
            return
        self._callbacks(node)
        if isinstance(func, ast.Attribute) and func.attr in _ENTERS and node.args:
            self._entered(node.args[0])
            if guards := self.guards.converting(node.args[0]):
                self._named(node.args[0], (*guards, *self.guards.of(node)))
        if not outside or self._takes_context(node):
            why = "the context is passed to it" if outside else "the called function is not known"
            project = not outside and _could_be_project(func)
            self._blind(spelled(func), node, why, call=node, project=project)

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
        self.events += [Event("guard", throw.span, (), throw) for throw in throws]

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
            if KNOWLEDGE.known(name) is None:
                self._blind(name, node, "its errors are not known", project=False)

    def _known(self, name: str) -> tuple[str, ...]:
        configured = self.program.raises
        own = (configured.get(name) or configured.get(f"{name.rpartition('.')[0]}.*")) if configured else None
        return own or KNOWLEDGE.raises(name)

    def _raised_outside(self, node: ast.AST, name: str, raised: str) -> None:
        form: ErrorForm = "builtin" if raised.startswith("builtins.") else "other"
        span = self.module.source.span(node)
        throw = Throw(raised, form, (), (), self.module.path, span, name.removeprefix("builtins."))
        self._add("throw", node, throw=throw)

    def _is_dropped_task(self, node: ast.Call) -> bool:
        """Whether a coroutine becomes a task that nothing awaits, so that its error is lost."""
        return self._is_task(node) and isinstance(self.parents.get(self.parents[node]), ast.Expr)

    def _is_kept_task(self, node: ast.Call) -> bool:
        """Whether a coroutine becomes a task that is awaited later, or never."""
        return self._is_task(node) and not isinstance(self.parents.get(self.parents[node]), (ast.Await, ast.Return))

    def _is_task(self, node: ast.Call) -> bool:
        """Whether a coroutine becomes a task outside a task group."""
        parent = self.parents.get(node)
        if not isinstance(parent, ast.Call) or node not in parent.args or _last_name(parent.func) not in TASKS:
            return False
        holder = parent.func.value if isinstance(parent.func, ast.Attribute) else None
        match = self.scope.lookup(holder.id) if isinstance(holder, ast.Name) else None
        return match is None or all(binding.kind != "with" for binding in match[1])

    def _callbacks(self, node: ast.Call) -> None:
        """Add functions of the project that are passed to other packages, which may run them."""
        func = node.func
        name = _last_name(func)
        if name in NEVER_NOW:
            return
        use: ParameterUse = "calls" if name in _RUNNERS else "hands on"
        if name in _RUN:
            self._run_elsewhere(node, _RUN[name])
        for argument in [*node.args, *(keyword.value for keyword in node.keywords if keyword.arg is not None)]:
            functions = self.callees.functions_in(argument)
            if functions and self._is_class(func):
                return  # the object stores the function; calls through the attribute are followed instead
            for function in functions:
                if not isinstance(function, Key):
                    self._add("parameter", node, parameter=function, use=use)
                elif name in FUTURES and not isinstance(self.parents.get(node), ast.Await):
                    self._blind(function.name, node, _WAITED_ELSEWHERE)
                else:
                    self._add("call", node, targets=(function,))

    def _is_class(self, func: ast.expr) -> bool:
        """Whether a callee is a class of the project without a constructor."""
        value = self.builder.errors.callee(func, self.scope) if isinstance(func, (ast.Name, ast.Attribute)) else None
        infos = (
            [class_info(option) for option in options(value) if isinstance(option, Symbol)] if value is not None else []
        )
        return bool(infos) and None not in infos

    def _run_elsewhere(self, node: ast.Call, place: int) -> None:
        """Report an unknown function that is passed to a runner."""
        function = node.args[place] if place < len(node.args) else None
        if not isinstance(function, (ast.Attribute, ast.Name)) or self.callees.functions_in(function):
            return
        targets, outside = self.callees.callable(function)
        if not targets and not outside and _could_be_project(function):
            self._blind(spelled(function), function, "the called function is not known")

    # -- with ----------------------------------------------------------------------------------------------------

    def _with(self, node: ast.With | ast.AsyncWith) -> None:
        for item in node.items:
            self._entered(item.context_expr)
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
                    self.events.append(Event("guard", entry.throw.span, guards[at + 1 :], entry.throw))

    def _entered(self, node: ast.expr) -> None:
        """Add the methods that a context manager runs on entry and exit."""
        for kind in self.callees.inference.of(node, self.scope):
            if isinstance(kind, Instance):
                for name in ("__aenter__", "__enter__", "__aexit__", "__exit__"):
                    self._add_calls(node, self.callees.methods(kind, name) or [])

    def _return(self, node: ast.expr, facts: Facts) -> None:
        for leaf in leaves(node, self.scope):
            error = self.errors.at.get(leaf)
            if error is not None:
                facts.returned.append(throw_of(error, self.module, leaf))
                continue
            call: ast.expr = leaf
            while isinstance(call, ast.Await):
                call = call.value
            if isinstance(call, ast.Call):
                if isinstance(call.func, ast.Name) and self.errors.class_of(call.func):
                    facts.returned.extend(throw_of(made, self.module, call) for made in self.errors.errors_of(call))
                facts.returned_from.extend(self.callees.targets(call)[0])


def _last_name(func: ast.expr) -> str:
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""


def _could_be_project(func: ast.expr) -> bool:
    return not isinstance(func, ast.Attribute) or func.attr not in BUILTIN_METHODS
