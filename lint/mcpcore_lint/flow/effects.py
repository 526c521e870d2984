"""Facts about functions: the errors that they raise, the functions that they call, and the guards around both."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from mcpcore_lint.dataclasses import light

if TYPE_CHECKING:
    from mcpcore_lint.diagnostics import Span
    from mcpcore_lint.model import ErrorForm, FunctionNode
    from mcpcore_lint.syntax.module import ClassInfo, Module


BROAD: Final = frozenset({"builtins.Exception", "builtins.BaseException"})
"""Classes whose `except` clause catches nearly everything."""


CODED: Final = frozenset({"fail", "factory", "coded", "guard"})
"""Forms of errors that have a code."""


class Key(NamedTuple):
    """A function of the project, called on an instance of one class."""

    path: str
    line: int
    column: int
    name: str
    receiver: str = ""
    raw: bool = False
    """Whether this is the function without its decorators."""
    flags: tuple[tuple[str, bool | None], ...] = ()
    """The flags that one call passes to it."""


class Parameter(NamedTuple):
    """A parameter, identified by its name and the position of its function."""

    path: str
    line: int
    column: int
    name: str


class Throw(NamedTuple):
    """An error that leaves a function, identified by the position of its `raise`."""

    type_name: str
    form: ErrorForm
    codes: tuple[str, ...] | None
    reasons: tuple[str, ...] | None
    path: str
    span: Span
    known_by: str = ""
    """The third-party function that raises it; empty if the project does."""
    grouped: bool = False
    """Whether it is inside an exception group."""
    sure: bool = True
    """Whether it definitely leaves: False if a clause or context manager on the way cannot be read."""
    is_named_only: bool = False
    """Whether only a guard names it: no known exception inside the guard becomes this error."""
    data_keys: tuple[str, ...] | None = None
    """All keys of the data that a guard adds; None if unknown."""


class Blind(NamedTuple):
    """A call that cannot be resolved, identified by its position."""

    name: str
    path: str
    span: Span
    takes_context: bool
    project: bool
    why: str


WriteKind = Literal["print", "child", "input"]
"""Printed by the process itself, possibly by a child process, or as the prompt of `input()`."""


class Write(NamedTuple):
    """A write to standard output, identified by its position."""

    label: str
    kind: WriteKind
    function: str
    """The function that writes."""
    path: str
    span: Span


class Clause(NamedTuple):
    """An `except` clause: the classes that it catches, and the `raise` statements that raise them again."""

    types: tuple[str | None, ...]
    passes: tuple[tuple[Guard, ...], ...]
    """For each `raise` of the caught exception, the guards around it inside the clause."""
    star: bool = False


class Becomes(NamedTuple):
    """The error that a guard raises instead of errors of some classes."""

    types: tuple[str | None, ...]
    throw: Throw
    """Its position is where the guard names it. Unknown codes and reasons are None."""


class Guard(NamedTuple):
    """The clauses of one `try`, a context manager or a decorator: anything that may stop or change an error."""

    clauses: tuple[Clause, ...] = ()
    group: bool = False
    """Whether this is a task group, which wraps errors in an exception group."""
    converts: bool = False
    """Whether this is `mcpcore.guard`, which turns every error into a `CodedError`."""
    becomes: tuple[Becomes, ...] = ()
    """The errors that its arguments name, each with the classes that it replaces."""
    doubt: bool = False
    """Whether a condition that cannot be read decides if an error passes."""
    redirects: bool = False
    """Whether it redirects standard output; errors pass unchanged."""


NOTHING: Final = Guard((Clause(("builtins.BaseException",), (), star=True),))
"""A guard that stops every error."""


class ParameterCall(NamedTuple):
    """The use of a parameter in a function, with the guards around it."""

    parameter: Parameter
    guards: tuple[Guard, ...]
    use: ParameterUse = "calls"


ParameterUse = Literal["calls", "hands on"]
"""The function calls the parameter, or passes it to outside code that may call it."""
Bindings = tuple[tuple[Parameter, "Key | Parameter"], ...]
"""Parameters of a called function, each with the function or the caller's parameter that it receives."""
EventKind = Literal["throw", "call", "parameter", "result", "blind", "guard"]


@light
class Event:
    """One entry in the facts of a function."""

    kind: EventKind
    span: Span
    guards: tuple[Guard, ...]
    throw: Throw | None = None
    blind: Blind | None = None
    targets: tuple[Key, ...] = ()
    bindings: Bindings = ()
    parameter: Parameter | None = None
    use: ParameterUse = "calls"


class Facts:
    """The facts of one function, without those of its callees."""

    __slots__ = ("events", "key", "redirects", "returned", "returned_from", "wrapped", "writes")

    def __init__(self, key: Key, events: list[Event] | None = None, wrapped: str = "") -> None:
        self.key = key
        self.events: list[Event] = events if events is not None else []
        self.returned: list[Throw] = []
        """Errors that it creates and returns."""
        self.returned_from: list[Key] = []
        """Functions whose results it returns."""
        self.wrapped = wrapped
        """The name of the function itself, if these are the facts of its decorated form."""
        self.writes: list[Write] = []
        self.redirects = False
        """Whether it replaces `sys.stdout`."""


class Summary:
    """Everything that leaves a function, each with the path of functions to it, the function itself first."""

    __slots__ = ("blinds", "parameters", "returned", "throws", "writes")

    def __init__(self) -> None:
        self.throws: dict[Throw, tuple[str, ...]] = {}
        self.blinds: dict[Blind, tuple[str, ...]] = {}
        self.parameters: dict[ParameterCall, None] = {}
        self.returned: dict[Throw, tuple[str, ...]] = {}
        self.writes: dict[Write, tuple[str, ...]] = {}


def key_of(node: FunctionNode, module: Module, receiver: ClassInfo | None, *, raw: bool = False) -> Key:
    """Return the key of a function that is called on an instance of `receiver`."""
    scope = module.functions.get(node)
    if scope is None and type(node) is ast.Lambda:
        scope = module.scope_of(node)  # its name comes from the enclosing function, whichever caller asks first
    name = scope.qualname if scope is not None else getattr(node, "name", "<lambda>")
    place = place_of(receiver) if receiver is not None else ""
    return Key(module.path, node.lineno, node.col_offset, name, place, raw)


def place_of(info: ClassInfo) -> str:
    """Return the position of a class, by which the project finds it again."""
    return f"{info.module.path}:{info.node.lineno}:{info.node.col_offset}"


def swallowed(guards: tuple[Guard, ...]) -> bool:
    """Whether no exception passes some guards, so that unresolved calls behind them do not matter."""
    for guard in guards:
        for clause in guard.clauses:
            if clause.passes:
                break
            if not BROAD.isdisjoint(clause.types):
                return True
    return False


def redirected(guards: tuple[Guard, ...]) -> bool:
    """Whether one of some guards redirects standard output."""
    return any(guard.redirects for guard in guards)


def parameter_of(node: FunctionNode, module: Module, name: str) -> Parameter:
    """Return a parameter by its function and name."""
    return Parameter(module.path, node.lineno, node.col_offset, name)


def bound_to(bindings: Bindings, parameter: Parameter) -> list[Key | Parameter]:
    """Return the values that a call binds to a parameter."""
    return [value for name, value in bindings if name == parameter]


def handed_over(parameter: Parameter, span: Span) -> Blind:
    """Return the unresolved call that a parameter with an unknown value leads to."""
    why = "its value is passed in by a caller that is not known"
    return Blind(parameter.name, parameter.path, span, takes_context=False, project=True, why=why)
