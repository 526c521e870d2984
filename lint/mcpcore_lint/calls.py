"""What a handler can throw through the functions that it calls: summaries of functions, computed on demand.

A function's facts are the errors that it raises, the functions that it calls, and for each the `except` clauses round
it. Its summary is what leaves it: its own errors, and those of the functions that it calls, minus what the clauses
catch. Functions that call each other in a circle are computed together, until nothing changes. Calls that cannot be
resolved are kept as such: what they raise is unknown, and never guessed.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from mcpcore_lint.build import HandlerBuilder
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
from mcpcore_lint.light import light
from mcpcore_lint.model import (
    CallValue,
    CodeValue,
    Const,
    ErrorForm,
    ErrorSite,
    FunctionNode,
    Items,
    Missing,
    Reach,
    ReachedThrow,
    Site,
    Symbol,
    Unknown,
    UnresolvedCall,
    options,
)
from mcpcore_lint.names import BUILTIN_EXCEPTIONS, FACTORIES
from mcpcore_lint.resolve import PLAIN_BUILTINS, class_info, evaluate
from mcpcore_lint.syntax import all_parameters, own_nodes, walk_shallow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from mcpcore_lint.build import Builder
    from mcpcore_lint.diagnostics import Span
    from mcpcore_lint.hierarchy import Hierarchy
    from mcpcore_lint.model import Handler
    from mcpcore_lint.project import Binding, ClassInfo, Module, Project, Scope


class Key(NamedTuple):
    """A function of the project, as called on an instance of one class."""

    path: str
    line: int
    column: int
    name: str
    receiver: str = ""
    raw: bool = False
    """The function itself, without what its decorators make of it."""


class Throw(NamedTuple):
    """An error that leaves a function, by the place where it is raised."""

    type_name: str
    form: ErrorForm
    codes: tuple[str, ...] | None
    reasons: tuple[str, ...] | None
    path: str
    span: Span
    known_by: str = ""
    """The third-party function that raises it; empty where the project raises it."""
    grouped: bool = False
    """Whether it is inside an exception group."""


class Blind(NamedTuple):
    """A call that cannot be resolved, by the place where it is made."""

    name: str
    path: str
    span: Span
    takes_context: bool
    project: bool
    why: str


class Clause(NamedTuple):
    """An `except` clause: what it catches, and by which `raise` statements it passes it on."""

    types: tuple[str | None, ...]
    passes: tuple[tuple[Guard, ...], ...]
    """For each `raise` that raises the caught exception again, the guards round it inside the clause."""
    star: bool = False


class Guard(NamedTuple):
    """The clauses of one `try`, or what else stands between an error and the end of its function."""

    clauses: tuple[Clause, ...] = ()
    group: bool = False
    """A task group: what leaves it is wrapped in an exception group."""
    converts: bool = False
    """`mcpcore.guard`: what is not coded comes out coded."""


class Parameter(NamedTuple):
    """A parameter that is called: its function's place and its name."""

    path: str
    line: int
    column: int
    name: str


class ParameterCall(NamedTuple):
    """A call of a parameter, with the guards round it."""

    parameter: Parameter
    guards: tuple[Guard, ...]


EventKind = Literal["throw", "call", "parameter", "result", "blind"]


@light
class Event:
    """One thing that a function does."""

    kind: EventKind
    span: Span
    guards: tuple[Guard, ...]
    throw: Throw | None = None
    blind: Blind | None = None
    targets: tuple[Key, ...] = ()
    bindings: tuple[tuple[Parameter, Key | Parameter], ...] = ()
    parameter: Parameter | None = None


class Facts:
    """What a function does, without its callees."""

    __slots__ = ("events", "key", "returned", "returned_from", "wrapped")

    def __init__(self, key: Key, events: list[Event] | None = None, wrapped: str = "") -> None:
        self.key = key
        self.events: list[Event] = events if events is not None else []
        self.returned: list[Throw] = []
        """Errors that it makes and returns."""
        self.returned_from: list[Key] = []
        """Functions whose results it returns."""
        self.wrapped = wrapped
        """The function's own name, where these are the facts of what its decorators make of it."""


class Summary:
    """What leaves a function; each with the names of the functions on the way, the function itself first."""

    __slots__ = ("blinds", "parameters", "returned", "throws")

    def __init__(self) -> None:
        self.throws: dict[Throw, tuple[str, ...]] = {}
        self.blinds: dict[Blind, tuple[str, ...]] = {}
        self.parameters: dict[ParameterCall, None] = {}
        self.returned: dict[Throw, tuple[str, ...]] = {}


NEVER_NOW: Final = frozenset(
    {
        "register", "add_done_callback", "Thread", "Process", "signal", "call_later", "call_soon", "call_at",
        "call_soon_threadsafe", "subscribe", "add_listener", "connect", "add_event_handler", "setattr", "add_signal_handler",
        "add_tool", "add_route", "include_router", "partial", "wraps", "update_wrapper", "isinstance", "issubclass",
        "add_middleware", "Depends", "Timer", "finalize", "add_task", "setdefault", "append", "add", "type", "hasattr",
        "getattr", "callable", "cast", "print", "repr", "str", "id", "len", "format", "debug", "info", "warning", "error",
        "exception", "log", "critical", "Field", "field", "TypeVar", "NewType", "dataclass",
    }
)  # fmt: skip
"""Calls that take a function and do not run it now, or whose failure does not come back to the caller."""

_TASK_GROUPS: Final = frozenset(
    {"asyncio.TaskGroup", "anyio.create_task_group", "trio.open_nursery", "anyio.abc.TaskGroup"}
)
_GROUP_TYPES: Final = frozenset({"builtins.ExceptionGroup", "builtins.BaseExceptionGroup"})
_BROAD: Final = frozenset({"builtins.Exception", "builtins.BaseException"})
MAX_SUMMARY: Final = 2_000
"""More errors than this out of one function are no longer told apart."""


class CallGraph:
    """Summaries for one project, each computed once."""

    def __init__(self, project: Project, hierarchy: Hierarchy, raises: Mapping[str, tuple[str, ...]]) -> None:
        self.project = project
        self.hierarchy = hierarchy
        self.raises = raises
        self._facts: dict[Key, Facts | None] = {}
        self._summaries: dict[Key, Summary] = {}
        self._extractors: dict[FunctionNode, _Extractor] = {}

    def forget_syntax(self) -> None:
        """Let go of syntax trees; facts and summaries hold none."""
        self._extractors.clear()

    # -- what is asked -------------------------------------------------------------------------------------------

    def reach(self, handler: Handler, skip: ast.AST | None = None) -> Reach:
        """What leaves a handler through the functions that it calls.

        Args:
            handler: The handler.
            skip: The decorator that makes it a tool, which is not followed.
        """
        del skip
        receiver = handler.module.classes.get(handler.owner) if handler.owner is not None else None
        key = key_of(handler.node, handler.module, receiver, raw=True)
        facts = self.facts(key)
        if facts is None:
            return Reach()
        outer = self._around(handler, key)
        collector = _Collector(self, handler, outer)
        collector.events(facts, (), key, set())
        return collector.result()

    def _around(self, handler: Handler, key: Key) -> list[tuple[tuple[Guard, ...], ...]]:
        """For each decorator of the handler that is the project's own, the guards at its calls of the handler."""
        found: list[tuple[tuple[Guard, ...], ...]] = []
        if isinstance(handler.node, ast.Lambda):
            return found
        for wrapper, parameter in self._wrappers(handler.node, handler.module):
            summary = self.summary(wrapper)
            chains = tuple(each.guards for each in summary.parameters if each.parameter == parameter)
            found.append(chains or ((),))
        del key
        return found

    def wrapper_summaries(self, handler: Handler) -> list[Summary]:
        """The summaries of the functions that the handler's decorators put round it."""
        if isinstance(handler.node, ast.Lambda):
            return []
        return [self.summary(wrapper) for wrapper, _ in self._wrappers(handler.node, handler.module)]

    def passes(self, throw: Throw, guards: Iterable[Guard]) -> Throw | None:
        """An error after the guards round it, innermost first; None where they catch it for certain."""
        current = throw
        for guard in guards:
            if guard.group:
                current = current._replace(grouped=True)
                continue
            if guard.converts:
                if self.hierarchy.is_kind_of(current.type_name, "mcpcore.CodedError") is not True:
                    current = current._replace(
                        type_name="mcpcore.CodedError", form="other", codes=None, reasons=(), grouped=False
                    )
                continue
            for clause in guard.clauses:
                if not self._catches(clause, current):
                    continue
                onward = next(
                    (p for p in (self.passes(current, inner) for inner in clause.passes) if p is not None), None
                )
                if onward is None:
                    return None
                current = onward
                break
        return current

    def _catches(self, clause: Clause, throw: Throw) -> bool:
        for each in clause.types:
            if each is None:
                continue
            if throw.grouped and not clause.star:
                if each in _GROUP_TYPES or each in _BROAD:
                    return True
                continue
            if self.hierarchy.is_kind_of(throw.type_name, each):
                return True
        return False

    # -- facts ---------------------------------------------------------------------------------------------------

    def facts(self, key: Key) -> Facts | None:
        """What a function does; None where it cannot be found any more."""
        if key in self._facts:
            return self._facts[key]
        self._facts[key] = None
        found = self._find(key)
        if found is not None:
            node, module = found
            if key.raw or not (wrapped := self._decorated(node, module, key)):
                self._facts[key] = self._extract(node, module, key)
            else:
                self._facts[key] = wrapped
        return self._facts[key]

    def _find(self, key: Key) -> tuple[FunctionNode, Module] | None:
        module = self.project.module_at(key.path)
        if module is None:
            return None
        node = module.function_at(key.line, key.column)
        return (node, module) if node is not None else None

    def _extract(self, node: FunctionNode, module: Module, key: Key) -> Facts:
        receiver = self.project.class_at(key.receiver) if key.receiver else None
        return _Extractor(self, node, module, receiver).extract(key)

    def _decorated(self, node: FunctionNode, module: Module, key: Key) -> Facts | None:
        """The facts of calling a function that the project's own decorators wrap."""
        if isinstance(node, ast.Lambda) or not node.decorator_list:
            return None
        wrappers = self._wrappers(node, module)
        if not wrappers:
            return None
        span = module.source.span(node)
        inner = key._replace(raw=True)
        facts = Facts(key, wrapped=key.name)
        raw = self._extract(node, module, inner)
        facts.returned, facts.returned_from = raw.returned, raw.returned_from
        # The nearest decorator is the last one written; each further one wraps what came before.
        current: Key = inner
        for number, (wrapper, parameter) in enumerate(reversed(wrappers)):
            event = Event("call", span, (), targets=(wrapper,), bindings=((parameter, current),))
            if number == len(wrappers) - 1:
                facts.events.append(event)
                break
            step = key._replace(name=f"{key.name}@{number}", raw=True)
            self._facts[step] = Facts(step, [event], wrapped=key.name)
            current = step
        return facts

    def _wrappers(self, node: ast.FunctionDef | ast.AsyncFunctionDef, module: Module) -> list[tuple[Key, Parameter]]:
        """For each decorator of the project's own: the function that takes the place, and the parameter it calls."""
        found: list[tuple[Key, Parameter]] = []
        scope = module.scope_of(node)
        outside = scope.parent or module.scope
        for decorator in node.decorator_list:
            target = decorator.func if isinstance(decorator, ast.Call) else decorator
            value = evaluate(target, outside)
            if not isinstance(value, Symbol) or not isinstance(value.definition, ast.FunctionDef):
                continue
            owner = self.project.module_defining(value.definition)
            if owner is None:
                continue
            maker: ast.FunctionDef = value.definition
            if isinstance(decorator, ast.Call):
                inner = _returned_function(maker)
                # `def retry(fn=None, *, times=3)` used both ways has its wrapper at the first level.
                maker = inner if isinstance(inner, ast.FunctionDef) and _returned_function(inner) is not None else maker
            wrapper = _returned_function(maker)
            parameters = all_parameters(maker.args)
            if wrapper is None or not parameters:
                continue
            first = parameters[0].arg
            found.append(
                (
                    key_of(wrapper, owner, None),
                    Parameter(owner.path, maker.lineno, maker.col_offset, first),
                )
            )
        return found

    # -- summaries -----------------------------------------------------------------------------------------------

    def summary(self, key: Key) -> Summary:
        """What leaves a function."""
        found = self._summaries.get(key)
        if found is None:
            self._compute(key)
            found = self._summaries[key]
        return found

    def _successors(self, key: Key) -> list[Key]:
        facts = self.facts(key)
        if facts is None:
            return []
        found: dict[Key, None] = {}
        for event in facts.events:
            found.update(dict.fromkeys(event.targets))
            for _, bound in event.bindings:
                if isinstance(bound, Key):
                    found[bound] = None
        found.update(dict.fromkeys(facts.returned_from))
        return list(found)

    def _compute(self, root: Key) -> None:
        """Tarjan's strongly connected components, without recursion; each is solved when it is complete."""
        index: dict[Key, int] = {}
        low: dict[Key, int] = {}
        on_stack: set[Key] = set()
        stack: list[Key] = []
        work: list[tuple[Key, Iterator[Key]]] = []

        def open_(key: Key) -> None:
            index[key] = low[key] = len(index)
            stack.append(key)
            on_stack.add(key)
            work.append((key, iter(self._successors(key))))

        open_(root)
        while work:
            key, successors = work[-1]
            for each in successors:
                if each in self._summaries:
                    continue
                if each not in index:
                    open_(each)
                    break
                if each in on_stack:
                    low[key] = min(low[key], index[each])
            else:
                work.pop()
                if work:
                    parent = work[-1][0]
                    low[parent] = min(low[parent], low[key])
                if low[key] == index[key]:
                    component: list[Key] = []
                    while True:
                        each = stack.pop()
                        on_stack.discard(each)
                        component.append(each)
                        if each == key:
                            break
                    self._solve(component)

    def _solve(self, component: list[Key]) -> None:
        for key in component:
            self._summaries[key] = Summary()
        single = len(component) == 1 and component[0] not in self._successors(component[0])
        for _ in range(len(component) * 4 + 60):
            changed = False
            for key in component:
                changed = self._update(key) or changed
            if not changed or single:
                break

    def _update(self, key: Key) -> bool:
        summary = self._summaries[key]
        facts = self._facts.get(key)
        if facts is None:
            return False
        changed = False

        def way(path: tuple[str, ...]) -> tuple[str, ...]:
            # What a decorator's wrapper passes on is shown without the wrapper: a > b, not a > wrapper > a > b.
            if facts.wrapped and facts.wrapped in path[:2]:
                return path[path.index(facts.wrapped) :]
            return (facts.wrapped or key.name, *path)

        for event in facts.events:
            for throw, path in self.contribution(event):
                onward = self.passes(throw, event.guards)
                if onward is not None:
                    changed = _keep(summary.throws, onward, way(path)) or changed
            for blind, path in self.blinds(event):
                changed = _keep(summary.blinds, blind, way(path)) or changed
            for each in self.parameter_calls(event):
                if each not in summary.parameters:
                    summary.parameters[each] = None
                    changed = True
        for throw in facts.returned:
            changed = _keep(summary.returned, throw, (key.name,)) or changed
        for each_key in facts.returned_from:
            inner = self._summaries.get(each_key)
            if inner is not None:
                for throw, path in list(inner.returned.items()):
                    changed = _keep(summary.returned, throw, (key.name, *path)) or changed
        return changed

    def contribution(self, event: Event) -> Iterator[tuple[Throw, tuple[str, ...]]]:
        """The errors that an event brings, before the guards round it, with the functions on the way."""
        if event.throw is not None:
            yield event.throw, ((event.throw.known_by,) if event.throw.known_by else ())
        for target in event.targets:
            summary = self._summaries.get(target) or (self.summary(target) if target not in self._facts else Summary())
            if event.kind == "result":
                yield from list(summary.returned.items())
                continue
            yield from list(summary.throws.items())
            for call in list(summary.parameters):
                for bound in _bound(event.bindings, call.parameter):
                    if isinstance(bound, Key):
                        inner = self._summaries.get(bound)
                        for throw, path in list(inner.throws.items()) if inner is not None else ():
                            onward = self.passes(throw, call.guards)
                            if onward is not None:
                                yield onward, (_shown(target), *path)
        if event.kind == "parameter" or event.kind == "blind":
            return

    def blinds(self, event: Event) -> Iterator[tuple[Blind, tuple[str, ...]]]:
        """The calls that cannot be resolved, behind an event."""
        if event.blind is not None:
            yield event.blind, ()
        for target in event.targets:
            summary = self._summaries.get(target)
            if summary is None:
                continue
            yield from list(summary.blinds.items())
            for call in list(summary.parameters):
                for bound in _bound(event.bindings, call.parameter):
                    if isinstance(bound, Key):
                        inner = self._summaries.get(bound)
                        for blind, path in list(inner.blinds.items()) if inner is not None else ():
                            yield blind, (_shown(target), *path)
                if not _bound(event.bindings, call.parameter) and call.parameter[:3] == target[:3]:
                    blind = Blind(
                        call.parameter.name,
                        call.parameter.path,
                        event.span,
                        False,
                        True,
                        "a function that is handed over",
                    )
                    yield blind, ()

    def parameter_calls(self, event: Event) -> Iterator[ParameterCall]:
        """The calls of parameters that an event leads to."""
        if event.kind == "parameter" and event.parameter is not None:
            yield ParameterCall(event.parameter, event.guards[:8])
        for target in event.targets:
            summary = self._summaries.get(target)
            if summary is None or event.kind == "result":
                continue
            for call in list(summary.parameters):
                bound = _bound(event.bindings, call.parameter)
                for each in bound:
                    if isinstance(each, Parameter):
                        yield ParameterCall(each, (*call.guards, *event.guards)[:8])
                if not bound and call.parameter[:3] != target[:3]:
                    yield ParameterCall(call.parameter, (*call.guards, *event.guards)[:8])


def _keep(found: dict, item: object, path: tuple[str, ...]) -> bool:  # type: ignore[type-arg]
    known = found.get(item)
    if known is None:
        if len(found) >= MAX_SUMMARY:
            return False
        found[item] = path
        return True
    if len(path) < len(known):
        found[item] = path
        return True
    return False


def _bound(bindings: tuple[tuple[Parameter, Key | Parameter], ...], parameter: Parameter) -> list[Key | Parameter]:
    return [value for name, value in bindings if name == parameter]


def _shown(key: Key) -> str:
    return key.name


def _returned_function(node: ast.FunctionDef) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The nested function that a decorator returns."""
    nested = {each.name: each for each in own_nodes(node) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)}
    for each in own_nodes(node):
        if isinstance(each, ast.Return) and isinstance(each.value, ast.Name) and each.value.id in nested:
            return nested[each.value.id]
    return None


def key_of(node: FunctionNode, module: Module, receiver: ClassInfo | None, *, raw: bool = False) -> Key:
    """The key of a function, as called on an instance of `receiver`."""
    scope = module.functions.get(node)
    name = scope.qualname if scope is not None else getattr(node, "name", "<lambda>")
    place = f"{receiver.module.path}:{receiver.node.lineno}:{receiver.node.col_offset}" if receiver is not None else ""
    return Key(module.path, node.lineno, node.col_offset, name, place, raw)


class _Collector:
    """Gathers what leaves a handler, by the call in the handler that leads there."""

    def __init__(self, graph: CallGraph, handler: Handler, outer: list[tuple[tuple[Guard, ...], ...]]) -> None:
        self.graph = graph
        self.handler = handler
        self.outer = outer
        self.own: dict[tuple[object, ...], ReachedThrow] = {}
        self.throws: dict[tuple[object, ...], ReachedThrow] = {}
        self.unresolved: dict[Blind, UnresolvedCall] = {}
        start, end = handler.node.lineno, handler.node.end_lineno or handler.node.lineno
        self.lines = range(start, end + 1)

    def events(self, facts: Facts, guards: tuple[Guard, ...], key: Key, seen: set[Key]) -> None:
        """Take the events of the handler, and those of the functions nested in it where they are called."""
        seen = {*seen, key}
        name = self.handler.qualname
        trail = (name,) if key.name == name else (name, key.name)
        for event in facts.events:
            nested = [each for each in event.targets if self._inside(each)]
            others = tuple(each for each in event.targets if each not in nested)
            for each in nested:
                for target in self._with_bindings(each, event):
                    inner = self.graph.facts(target)
                    self.graph.summary(target)
                    if inner is not None and target not in seen:
                        self.events(inner, (*event.guards, *guards), target, seen)
            if event.targets and not others:
                continue
            partial = (
                event
                if not nested
                else Event(
                    event.kind,
                    event.span,
                    event.guards,
                    event.throw,
                    event.blind,
                    others,
                    event.bindings,
                    event.parameter,
                )
            )
            for target in others:
                self.graph.summary(target)
            for _, bound in partial.bindings:
                if isinstance(bound, Key):
                    self.graph.summary(bound)
            for throw, path in self.graph.contribution(partial):
                self._throw(throw, (*trail, *path), partial, guards)
            for blind, path in self.graph.blinds(partial):
                if blind not in self.unresolved:
                    self.unresolved[blind] = UnresolvedCall(
                        blind.name, (*trail, *path), partial.span, Site(blind.path, blind.span), blind.takes_context,
                        blind.project, blind.why,
                    )  # fmt: skip

    def _with_bindings(self, key: Key, event: Event) -> list[Key]:
        found = [key]
        summary = self.graph.summary(key)
        for call in summary.parameters:
            found.extend(
                each for each in _bound(event.bindings, call.parameter) if isinstance(each, Key) and self._inside(each)
            )
        return found

    def _inside(self, key: Key) -> bool:
        return key.path == self.handler.module.path and key.line in self.lines and key.name != self.handler.qualname

    def _throw(self, throw: Throw, path: tuple[str, ...], event: Event, guards: tuple[Guard, ...]) -> None:
        onward = self.graph.passes(throw, (*event.guards, *guards))
        for chains in reversed(self.outer):
            if onward is None:
                return
            onward = next((p for p in (self.graph.passes(onward, chain) for chain in chains) if p is not None), None)
        if onward is None:
            return
        own = event.throw is not None and not event.throw.known_by
        reached = ReachedThrow(
            onward.type_name, onward.form, onward.codes, onward.reasons, path, event.span,
            Site(throw.path, throw.span), "knowledge" if throw.known_by else "project",
        )  # fmt: skip
        identity = (onward.type_name, onward.codes, onward.reasons, throw.path, throw.span, event.span)
        table = self.own if own else self.throws
        known = table.get(identity)
        if known is None or len(path) < len(known.path):
            table[identity] = reached

    def result(self) -> Reach:
        """All of it, in the order of the calls in the handler."""

        def order(each: ReachedThrow) -> tuple[Span, tuple[str, ...], str, Span]:
            return (each.call, each.path, each.site.path, each.site.span)

        for summary in self.graph.wrapper_summaries(self.handler):
            for throw, path in summary.throws.items():
                span = self.handler.span
                reached = ReachedThrow(
                    throw.type_name, throw.form, throw.codes, throw.reasons, (self.handler.qualname, *path), span,
                    Site(throw.path, throw.span), "knowledge" if throw.known_by else "project",
                )  # fmt: skip
                self.throws.setdefault((throw, span), reached)
        return Reach(
            tuple(sorted(self.throws.values(), key=order)),
            tuple(sorted(self.unresolved.values(), key=lambda each: (each.call, each.path))),
            tuple(sorted(self.own.values(), key=order)),
        )


class _Extractor:
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
            if call not in nested and call not in self._errors:
                self._call(call)
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
        self.events.append(Event(kind, span, self.guards(node), throw, blind, targets, bindings, parameter))

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
        name = _spelled(call.func)
        takes = any(self._is_context(each) for each in _arguments(call))
        blind = Blind(name, self.module.path, self.module.source.span(at), takes, project, why)
        self._add("blind", at, blind=blind)

    def _blind_raise(self, node: ast.Raise) -> None:
        name = _spelled(node.exc) if node.exc is not None else "raise"
        blind = Blind(
            f"raise {name}", self.module.path, self.module.source.span(node), False, True, "the error is made elsewhere"
        )
        self._add("blind", node, blind=blind)

    def _is_context(self, node: ast.expr) -> bool:
        return self.builder._is_context(node, self.scope)  # noqa: SLF001

    # -- calls ---------------------------------------------------------------------------------------------------

    def _call(self, node: ast.Call) -> None:
        func = node.func
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
        elif isinstance(func, ast.Subscript):
            value = evaluate(func, self.scope)
            for each in options(value):
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
        if isinstance(definition, ast.FunctionDef | ast.AsyncFunctionDef):
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
        if type(node.ctx) is not ast.Load or type(node.value) not in {ast.Name, ast.Attribute}:
            return
        for kind in self.inference.of(node.value, self.scope):
            if isinstance(kind, Instance):
                found = method_of(kind.info, node.attr)
                if found is not None and is_property(found[0]) and not _abstract(*found):
                    self._add("call", node, targets=(key_of(found[0], found[1].module, kind.info),))

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
                    found.append(Guard((Clause(("builtins.BaseException",), (), star=True),)))
            elif isinstance(parent, ast.With | ast.AsyncWith) and current in parent.body:
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
                passes: list[tuple[Guard, ...]] = []
                for each in _own_statements(handler.body):
                    if isinstance(each, ast.Raise) and self._raises_caught(each, handler):
                        passes.append(self._guards(each, stop=handler))
                clauses.append(Clause(types, tuple(passes), isinstance(node, ast.TryStar)))
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
        del statement
        return found

    def _generator_guards(self, symbol: Symbol) -> list[Guard]:
        assert isinstance(symbol.definition, ast.FunctionDef | ast.AsyncFunctionDef)
        owner = self.module.project.module_defining(symbol.definition)
        return self._yield_guards(symbol.definition, owner) if owner is not None else []

    def _yield_guards(self, node: FunctionNode, module: Module) -> list[Guard]:
        """The guards round the `yield` of a generator that is a context manager: they hold for the `with` body."""
        if isinstance(node, ast.Lambda) or not any("contextmanager" in _spelled(each) for each in node.decorator_list):
            return []
        if node is self.node:
            return []
        extractor = _Extractor(self.graph, node, module, None)
        extractor.events = []
        for each in own_nodes(node):
            if isinstance(each, ast.Yield):
                return list(extractor.guards(each))
        return []


def _swallows(body: list[ast.stmt]) -> bool:
    """Whether a `finally` ends the function or the loop, so that no exception leaves it."""
    return any(isinstance(each, ast.Return) for each in _own_statements(body))


def _own_statements(body: list[ast.stmt]) -> list[ast.AST]:
    return walk_shallow([*body])


def _arguments(node: ast.Call) -> list[ast.expr]:
    found = [each.value if isinstance(each, ast.Starred) else each for each in node.args]
    found.extend(each.value for each in node.keywords)
    return found


def _spelled(node: ast.expr | None) -> str:
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
        if "abstract" in _spelled(each):
            return True
    body = [each for each in node.body if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))]
    if not body or (
        len(body) == 1 and isinstance(body[0], ast.Raise) and "NotImplementedError" in _spelled(body[0].exc)
    ):
        if not body:
            return any("Protocol" in _spelled(base) or "ABC" in _spelled(base) for base in owner.node.bases)
        return True
    return False


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


def _unique(items: list) -> list:  # type: ignore[type-arg]
    return list(dict.fromkeys(items))


def explain(reach: Reach, name: str, *, unknown: bool = True) -> str:
    """What a tool can throw, for people: each error with the way to it, and what could not be seen."""
    lines = [f"{name} can throw:"]
    for each in (*reach.own, *reach.throws):
        label = ", ".join(each.codes) if each.codes else each.type_name.removeprefix("builtins.")
        if each.codes is None:
            label = f"{each.type_name.removeprefix('mcpcore.')} with a code that is not known"
        reason = ""
        if each.reasons is None:
            reason = " (a reason that is not known)"
        elif each.reasons:
            reason = f" ({', '.join(each.reasons)})"
        way = " > ".join(each.path)
        at = f"{each.site.path}:{each.site.span.line}:{each.site.span.column}"
        lines.append(f"  {label}{reason}\n      {way}\n      at {at}")
    if len(lines) == 1:
        lines.append("  nothing that can be seen")
    if unknown:
        blind = [each for each in reach.unresolved if each.project or each.takes_context]
        if blind:
            lines.append("Not seen, since it cannot be told what is called:")
            for each_call in blind:
                at = f"{each_call.site.path}:{each_call.site.span.line}:{each_call.site.span.column}"
                lines.append(f"  {each_call.name} at {at}: {each_call.why}\n      {' > '.join(each_call.path)}")
    return "\n".join(lines)


__all__ = ["CallGraph", "explain"]
