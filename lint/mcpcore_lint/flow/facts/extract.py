"""Reads what one function does: its errors, its calls, and the clauses round each."""

from __future__ import annotations

import ast
import sys
from typing import Final

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
from mcpcore_lint.flow.facts.callees import unique
from mcpcore_lint.flow.facts.constants import idle, unused
from mcpcore_lint.flow.facts.converting import guards_made
from mcpcore_lint.flow.facts.error_args import not_for
from mcpcore_lint.flow.facts.implicit import BUILTINS, ImplicitReader
from mcpcore_lint.flow.facts.spelling import FUTURES, TASKS, WAITED, holds, spelled
from mcpcore_lint.flow.facts.stdout import may_write, replaces_stdout, written_by
from mcpcore_lint.flow.knowledge import KNOWLEDGE
from mcpcore_lint.model import (
    ErrorForm,
    Symbol,
    options,
)
from mcpcore_lint.names import FRAMEWORKS
from mcpcore_lint.semantics.evaluate import PLAIN_BUILTINS, evaluate
from mcpcore_lint.semantics.symbols import class_info
from mcpcore_lint.semantics.type_model import BUILTIN_METHODS, Instance
from mcpcore_lint.syntax.parse import own_nodes

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


_RUNNERS: Final = frozenset(
    {"to_thread", "run_sync", "run_in_threadpool", "run_in_executor", "submit", "start_soon", "create_task",
     "ensure_future", "gather", "wait_for", "shield", "run", "run_until_complete", "run_coroutine_threadsafe",
     "map", "filter", "sorted", "reduce"}
)  # fmt: skip
"""Functions outside the project that run what they are given and hand its failure back."""
_HARMLESS: Final = frozenset({"loguru", "structlog", "typing_extensions", "rich", "annotated_types", "anyio", "trio"})
"""Packages whose functions write logs or say what types are."""
_RUN: Final = {
    "to_thread": 0,
    "run_sync": 0,
    "run_in_threadpool": 0,
    "submit": 0,
    "start_soon": 0,
    "run_in_executor": 1,
}
"""Of those, the ones that take a function and its arguments apart: where the function stands."""
_ENTERS: Final = frozenset({"enter_context", "enter_async_context"})
_CLOSES: Final = {"contextlib.closing": "close", "contextlib.aclosing": "aclose"}
"""Context managers that call a method of what they hold when they are left."""


class Extractor(ImplicitReader):
    """Reads the facts of one function."""

    def _begin(self) -> None:
        super()._begin()
        self._of_builtins: list[tuple[ast.Call, str]] = []
        self._raised: set[ast.expr] = set()
        """Calls that make an error of one of several classes."""
        text = self.module.source
        memo = self.module.memo
        if "runs_beside" not in memo:
            memo["runs_beside"] = any(map(text.has, WAITED))
        self._runs_beside: bool = memo["runs_beside"]
        """Whether what the file has in it may be awaited elsewhere than where it is called."""
        self._asks_recovery = text.has("recovery_for")
        self._makes_tasks = self._runs_beside and any(map(text.has, TASKS))
        if "prints" not in memo:
            memo["prints"] = may_write(text.text)
        self._prints: bool = memo["prints"]
        """Whether anything in the file may write to standard output."""
        self._idle: set[ast.AST] = set()
        """Statements that do not run for the texts that parameters are."""

    def extract(self, key: Key) -> Facts:
        """The facts."""
        facts = Facts(key)
        self.events = facts.events
        if self.constants:
            self._idle = idle(self.node, self.module, self.constants)
        if self.labels:
            self._idle = self._idle | not_for(self.node, self.labels)
        if self.flags:
            self._idle = self._idle | unused(self.node, self.flags)
        for throw in self.model.throws:
            if throw.function is not self.node:
                continue
            if throw.error is not None:
                self._add("throw", throw.node, throw=self._throw(throw.error, throw.node, grouped=throw.grouped))
            elif throw.made is not None and self._elsewhere(throw.node, throw.made):
                continue
            elif throw.made is not None and (parameter := self._parameter_raised(throw.made)) is not None:
                self._add("parameter", throw.node, parameter=parameter, use="raises")
                self._raised.add(throw.made)
            elif throw.call is not None:
                targets, _ = self._targets(throw.call)
                if targets:
                    self._add("result", throw.node, targets=tuple(targets))
                else:
                    self._blind(throw.call, throw.node, "the error that it raises is made elsewhere")
            elif not throw.reraise or (throw.node.exc is None and throw.catch is None):
                self._blind_raise(throw.node)
        for check in self.builder.asserts:
            if check not in self.builder.function_of:
                self._add("throw", check, throw=self._failing(check))
        nested, errors = self.builder.function_of, self._error_at
        for call in self.builder.calls:
            if call not in nested and call not in errors and call not in self._raised:
                self._call(call)
        for error in self.model.errors:
            if error.function is self.node and error.form in _WITH_CONSTRUCTORS and isinstance(error.node, ast.expr):
                self._made_with(error.node)
        for block in self.builder.withs:
            if block not in nested:
                self._with(block)
        parents = self.parents
        for attribute in self.builder.attributes:
            if attribute not in nested:
                parent = parents.get(attribute)
                if not (type(parent) is ast.Call and parent.func is attribute) and (keys := self.accessed(attribute)):
                    self._keys(attribute, keys)
        for call, name in self._of_builtins:
            if keys := self.of_builtin(call, name):
                self._keys(call, keys)
        for node, keys in self.implicit():
            self._keys(node, keys)
        for statement in self.builder.returns:
            if statement not in nested and statement.value is not None and not self._is_idle(statement):
                self._return(statement.value, facts)
        if isinstance(self.node, ast.Lambda):
            self._return(self.node.body, facts)
        if self._prints:
            self._writes(facts)
        return facts

    def _writes(self, facts: Facts) -> None:
        """What writes to standard output here, as it is when the function begins."""
        facts.redirects = replaces_stdout(self.builder.attributes)
        if facts.redirects:
            return
        nested = self.builder.function_of
        for call in self.builder.calls:
            if call in nested:
                continue
            written = written_by(call, self._targets(call)[1], self.scope)
            if written is None or self._is_idle(call) or redirected(self.guards(call)):
                continue
            label, kind = written
            function, span = facts.key.name, self.module.source.span(call)
            facts.writes.append(Write(label, kind, function, self.module.path, span))

    def _keys(self, node: ast.AST, keys: list[Key]) -> None:
        if keys:
            self._add("call", node, targets=tuple(unique(keys)))

    def _parameter_raised(self, made: ast.expr) -> Parameter | None:
        """The parameter that is raised, or that makes what is raised."""
        name = made.func if isinstance(made, ast.Call) else made
        return self._parameter(name, raised=True)

    def _failing(self, node: ast.Assert) -> Throw:
        span = self.module.source.span(node)
        return Throw("builtins.AssertionError", "builtin", (), (), self.module.path, span)

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
        bindings: Bindings = (),
        parameter: Parameter | None = None,
        use: ParameterUse = "calls",
        at: ast.AST | None = None,
    ) -> None:
        if self._idle and self._is_idle(node):
            return
        span = throw.span if throw is not None else self.module.source.span(node)
        guards = self.guards(node if at is None else at)
        if gathered := self._gathered(node, targets):
            guards = (*gathered, *guards)
        self.events.append(Event(kind, span, guards, throw, blind, targets, bindings, parameter, use))

    def _is_idle(self, node: ast.AST) -> bool:
        current: ast.AST | None = node if self._idle else None
        while current is not None and current not in self._idle:
            current = self.parents.get(current)
        return current is not None

    def _blind(self, call: ast.Call, at: ast.AST, why: str, *, project: bool = True) -> None:
        name = spelled(call.func)
        takes = self._takes_context(call)
        blind = Blind(name, self.module.path, self.module.source.span(at), takes, project, why)
        self._add("blind", at, blind=blind)

    def _blind_raise(self, node: ast.Raise) -> None:
        name = f"raise {spelled(node.exc)}" if node.exc is not None else "raise"
        blind = Blind(
            name,
            self.module.path,
            self.module.source.span(node),
            takes_context=False,
            project=True,
            why="the error is made elsewhere",
        )
        self._add("blind", node, blind=blind)

    def _is_context(self, node: ast.expr) -> bool:
        return type(node) is ast.Name and self.builder._is_context(node, self.scope)  # noqa: SLF001

    def _takes_context(self, call: ast.Call) -> bool:
        for each in call.args:
            given = each.value if type(each) is ast.Starred else each
            if type(given) is ast.Name and self._is_context(given):
                return True
        for keyword in call.keywords:  # noqa: SIM110 - written out, since every call comes by here
            if type(keyword.value) is ast.Name and self._is_context(keyword.value):
                return True
        return False

    # -- calls ---------------------------------------------------------------------------------------------------

    def _call(self, node: ast.Call) -> None:
        func = node.func
        if type(func) is ast.Name and func.id in self.builtins:
            if node.args and func.id in BUILTINS:
                self._of_builtins.append((node, func.id))
            if func.id in _QUIET:
                return
        if self._asks_recovery and self.builder._is_context_call(node, "recovery_for"):  # noqa: SLF001
            return
        if type(func) is ast.Attribute and self._is_context(func.value):
            if func.attr == "guard":
                self._kept(node)
            return
        if guards := self._put_round(func):
            self._named(func, (*guards, *self.guards(node)))
        if self._makes_tasks and self._dropped_task(node):
            return
        if type(func) is ast.Name and (parameter := self._parameter(func)) is not None:
            self._add("parameter", node, parameter=parameter)
            return
        targets, outside = self._targets(node)
        if targets or "builtins.object" in outside:
            self.followed.add(node)
        if targets:
            bindings = self._bindings(node, targets)
            for place in self._run_at(node, targets):
                self._started(place, tuple(targets), bindings)
        if "mcpcore.Context.fail" in outside or "mcpcore.Context.guard" in outside:
            self._kept(node)
        for name in outside:
            for fact in self._known(name):
                raised, _, condition = fact.partition(" ")
                if not condition or holds(condition, node):
                    self._knowledge(node, name, raised)
        if outside and self.graph.thorough:
            self._told_of_nowhere(node, outside)
        if not targets:
            self._callbacks(node)
            if isinstance(func, ast.Attribute):
                if func.attr in _ENTERS and node.args:
                    self._entered(node.args[0])
                    if guards := self.converting(node.args[0]):
                        self._named(node.args[0], (*guards, *self.guards(node)))
                elif not outside:
                    self._keys(func, self.accessed(func))
            takes = self._takes_context(node)
            if not outside or takes:
                why = "the context is handed over" if outside else "it is not known what is called"
                self._blind(node, node, why, project=not outside and self._could_be_project(func))

    def _kept(self, node: ast.Call) -> None:
        """The errors of a call of `ctx.fail` or `ctx.guard`, where it is not seen whether they are raised."""
        if self._is_idle(node) or type(self.parents.get(node)) is ast.withitem:
            return
        if guards := self.converting(node):
            # Where it is seen to be in force, its data is looked at, too.
            throws = [each.throw._replace(data_keys=None) for guard in guards for each in guard.becomes]
        else:
            throws = [self._throw(self.builder.made_by_context(node), node)._replace(is_named_only=True)]
        self.events += [Event("guard", throw.span, (), throw) for throw in throws]

    def _put_round(self, func: ast.expr) -> list[Guard]:
        """The guards that a call puts round a function: `guard(...)(load)`, or a name of what that makes."""
        if type(func) is ast.Call:
            return self.converting(func)
        found = self.scope.lookup(func.id) if type(func) is ast.Name else None
        made = found[1][0].value if found is not None and len(found[1]) == 1 else None
        if found is None or type(made) is not ast.Call or type(made.func) is not ast.Call:
            return []
        return guards_made(made.func, found[0], func)

    def _told_of_nowhere(self, node: ast.Call, outside: list[str]) -> None:
        """Functions of other packages of which it is not known what they raise."""
        for name in dict.fromkeys(outside):
            package = name.partition(".")[0]
            plain = package in sys.stdlib_module_names or package in FRAMEWORKS or package in _HARMLESS
            if plain or package == "builtins" or "." not in name or name in self.graph.raises:
                continue
            if KNOWLEDGE.known(name) is None:
                span = self.module.source.span(node)
                why = "it is not known what it raises"
                self._add("blind", node, blind=Blind(name, self.module.path, span, False, False, why))  # noqa: FBT003

    def _could_be_project(self, func: ast.expr) -> bool:
        if isinstance(func, ast.Attribute):
            return func.attr not in BUILTIN_METHODS
        return True

    def _known(self, name: str) -> tuple[str, ...]:
        given = self.graph.raises
        told = (given.get(name) or given.get(f"{name.rpartition('.')[0]}.*")) if given else None
        return told or KNOWLEDGE.raises(name)

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
        if name not in TASKS:
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
        use: ParameterUse = "calls" if name in _RUNNERS else "hands on"
        if name in _RUN:
            self._run_elsewhere(node, name)
        given = node.args
        if node.keywords:
            given = [*given, *(each.value for each in node.keywords if each.arg is not None)]
        for argument in given:
            functions = self._functions_in(argument)
            if functions and self._is_class(func):
                return  # it is kept there, and run by whoever asks the object for it
            for each in functions:
                if isinstance(each, Key):
                    if name in FUTURES:
                        self._comes_out(node, (each,))
                    else:
                        self._add("call", node, targets=(each,))
                else:
                    self._add("parameter", node, parameter=each, use=use)

    def _is_class(self, func: ast.expr) -> bool:
        """Whether a callee is a class of the project, which is made without running anything of its own."""
        value = self.builder.callee(func, self.scope) if isinstance(func, (ast.Name, ast.Attribute)) else None
        found = [class_info(each) for each in options(value) if isinstance(each, Symbol)] if value is not None else []
        return bool(found) and None not in found

    def _run_elsewhere(self, node: ast.Call, name: str) -> None:
        """A function of nobody knows what that is handed to code outside the project to be run."""
        place = _RUN[name]
        if place >= len(node.args):
            return
        function = node.args[place]
        if not isinstance(function, (ast.Attribute, ast.Name)) or self._functions_in(function):
            return
        targets, outside = self._callable(function)
        if not targets and not outside and self._could_be_project(function):
            blind = Blind(
                spelled(function),
                self.module.path,
                self.module.source.span(function),
                takes_context=False,
                project=True,
                why="it is not known what is called",
            )
            self._add("blind", node, blind=blind)

    def _started(self, node: ast.AST, targets: tuple[Key, ...], bindings: Bindings) -> None:
        """A call, or the use of what was kept of it, which may make a task."""
        beside = self._runs_beside and isinstance(node, ast.expr) and type(self.parents.get(node)) is not ast.Await
        if beside and all(self._is_coroutine(each) for each in targets):
            self._comes_out(node, targets, bindings)
        else:
            self._add("call", node, targets=targets, bindings=bindings)

    def _comes_out(self, node: ast.AST, targets: tuple[Key, ...], bindings: Bindings = ()) -> None:
        """What comes out of a task, behind what stands round where it is waited for."""
        from mcpcore_lint.flow.facts.tasks import Outcomes

        assert isinstance(node, ast.expr)
        places = Outcomes(self.builder, self.scope).of(node)
        if places is None:
            why = "it is not known where it is waited for"
            span = self.module.source.span(node)
            blind = Blind(targets[0].name, self.module.path, span, takes_context=False, project=True, why=why)
            self._add("blind", node, blind=blind)
        several = {self.guards(place): place for place in reversed(places or ())}
        for place in several.values():
            self._add("call", node, targets=targets, bindings=bindings, at=place)

    def _is_coroutine(self, key: Key) -> bool:
        located = self.graph._find(key)  # noqa: SLF001
        return located is not None and isinstance(located[0], ast.AsyncFunctionDef)

    def _run_at(self, node: ast.Call, targets: list[Key]) -> list[ast.AST]:
        """Where what a call leads to runs: at the uses of its name, for a generator or a coroutine that is kept."""
        parent = self.parents.get(node)
        if type(parent) is not ast.Assign or len(parent.targets) != 1 or type(parent.targets[0]) is not ast.Name:
            return [node]
        if not all(self._runs_later(each) for each in targets):
            return [node]
        name = parent.targets[0].id
        nested = self.builder.function_of
        return [
            each
            for each in self.parents
            if type(each) is ast.Name
            and each.id == name
            and type(each.ctx) is ast.Load
            and each not in nested
            and not self._only_asked(each)
        ]

    def _only_asked(self, node: ast.Name) -> bool:
        """Whether a name is only asked whether it is something: `if made is None`, `not made`."""
        parent = self.parents.get(node)
        if isinstance(parent, ast.Compare):
            return all(isinstance(each, (ast.Is, ast.IsNot)) for each in parent.ops)
        if isinstance(parent, ast.UnaryOp):
            return isinstance(parent.op, ast.Not)
        return isinstance(parent, (ast.If, ast.While, ast.IfExp, ast.Assert)) and parent.test is node

    def _runs_later(self, key: Key) -> bool:
        """Whether calling a function only makes something that runs once it is waited for or looped over."""
        located = self.graph._find(key)  # noqa: SLF001
        if located is None or isinstance(located[0], ast.Lambda):
            return False
        function = located[0]
        if function.decorator_list:
            return False
        if isinstance(function, ast.AsyncFunctionDef):
            return True
        return any(type(each) in {ast.Yield, ast.YieldFrom} for each in own_nodes(function))

    # -- with ----------------------------------------------------------------------------------------------------

    def _with(self, node: ast.With | ast.AsyncWith) -> None:
        inside: tuple[Guard, ...] | None = None
        for item in node.items:
            self._entered(item.context_expr)
            if any(each.becomes for each in self.converting(item.context_expr)):
                inside = self.guards(node.body[0]) if inside is None else inside
                self._named(item.context_expr, inside)

    def _named(self, node: ast.expr, guards: tuple[Guard, ...]) -> None:
        """The errors that a guard in force names, whether or not something inside is seen to raise what becomes them.

        Args:
            node: What is entered.
            guards: All guards round the block, this one included.
        """
        if self._is_idle(node):
            return
        place = self.module.source.span(node)
        for at, guard in enumerate(guards):
            for each in guard.becomes:
                if each.throw.path == self.module.path and place.holds(each.throw.span):
                    self.events.append(Event("guard", each.throw.span, guards[at + 1 :], each.throw))

    def _entered(self, node: ast.expr) -> None:
        """The methods that run where a context manager is entered and left."""
        held = evaluate(node.func, self.scope) if isinstance(node, ast.Call) and node.args else None
        if isinstance(held, Symbol) and held.name in _CLOSES and isinstance(node, ast.Call):
            for kind in self.kinds(node.args[0]):
                if isinstance(kind, Instance):
                    self._keys(node, self.methods(kind, _CLOSES[held.name]) or [])
            return
        for kind in self.kinds(node):
            if isinstance(kind, Instance):
                for name in ("__aenter__", "__enter__", "__aexit__", "__exit__"):
                    self._keys(node, self.methods(kind, name) or [])

    def _return(self, node: ast.expr, facts: Facts) -> None:
        for leaf in self.builder.leaves(node, self.scope):
            error = self._error_at.get(leaf)
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
