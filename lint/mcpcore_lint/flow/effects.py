"""What functions do, as plain facts: errors raised, functions called, and what stands round them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from mcpcore_lint.dataclasses import light

if TYPE_CHECKING:
    from mcpcore_lint.diagnostics import Span
    from mcpcore_lint.model import ErrorForm, FunctionNode
    from mcpcore_lint.syntax.module import ClassInfo, Module


BROAD: Final = frozenset({"builtins.Exception", "builtins.BaseException"})
"""What catches nearly everything."""


CODED: Final = frozenset({"fail", "factory", "coded", "guard"})
"""Forms of errors that have a code."""


class Key(NamedTuple):
    """A function of the project, as called on an instance of one class and with what one call passes to it."""

    path: str
    line: int
    column: int
    name: str
    receiver: str = ""
    raw: bool = False
    """Whether this is the function itself, without its decorators."""
    passed: tuple[Passed, ...] = ()
    """What its parameters without annotations are, and its flags."""


class Parameter(NamedTuple):
    """A parameter: its function's place and its name."""

    path: str
    line: int
    column: int
    name: str


class Passed(NamedTuple):
    """One thing that a call passes to a parameter, in a form that outlives the syntax."""

    parameter: Parameter
    sort: Literal["instance", "class", "function", "outside", "flag"]
    """A `flag` is None, True or False; `outside` is an object of a class outside the project."""
    place: str = ""
    """Of a class, where it is; of an outside object, its class; of a flag, the flag as written."""
    key: Key | None = None
    """Of a function."""


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
    sure: bool = True
    """Whether it comes out for certain, as far as what it meets on the way can be read."""
    is_named_only: bool = False
    """Whether a guard names it, and nothing inside is seen to raise an exception that becomes it."""
    data_keys: tuple[str, ...] | None = None
    """Of what a guard makes: all keys of its data; None where they are not known."""


class Blind(NamedTuple):
    """A call that cannot be resolved, by the place where it is made."""

    name: str
    path: str
    span: Span
    takes_context: bool
    project: bool
    why: str


WriteKind = Literal["print", "child", "input"]
"""The process prints it, a child process may, or it is the prompt of `input()`."""


class Write(NamedTuple):
    """Something that writes to standard output, by its place."""

    label: str
    kind: WriteKind
    function: str
    """The function that does it."""
    path: str
    span: Span


class Clause(NamedTuple):
    """An `except` clause: what it catches, and by which `raise` statements it passes it on."""

    types: tuple[str | None, ...]
    passes: tuple[tuple[Guard, ...], ...]
    """For each `raise` that raises the caught exception again, the guards round it inside the clause."""
    star: bool = False


class Becomes(NamedTuple):
    """What a guard makes of errors of some classes."""

    types: tuple[str | None, ...]
    throw: Throw
    """Its place is where the guard names it; the codes and reasons are None where they are not known."""


class Guard(NamedTuple):
    """The clauses of one `try`, or what else stands between an error and the end of its function."""

    clauses: tuple[Clause, ...] = ()
    group: bool = False
    """A task group: what leaves it is wrapped in an exception group."""
    converts: bool = False
    """`mcpcore.guard`: what is not coded comes out coded."""
    becomes: tuple[Becomes, ...] = ()
    """What it makes of which errors, as far as that is written down."""
    doubt: bool = False
    """A condition on the error that cannot be read: it is not certain that anything comes through."""
    redirects: bool = False
    """Prints inside do not reach standard output; errors pass."""


NOTHING: Final = Guard((Clause(("builtins.BaseException",), (), star=True),))
"""What no error passes."""


class ParameterCall(NamedTuple):
    """What a function does with a parameter, with the guards round it."""

    parameter: Parameter
    guards: tuple[Guard, ...]
    use: ParameterUse = "calls"


ParameterUse = Literal["calls", "raises", "hands on"]
"""It is called, it is raised (or what it makes is), or it goes to code outside the project, which may call it."""
Bindings = tuple[tuple[Parameter, "Key | Parameter | Throw"], ...]
"""For parameters of what is called: the function, the error or the parameter of the caller that each is given."""
EventKind = Literal["throw", "call", "parameter", "result", "blind", "guard"]


@light
class Event:
    """One thing that a function does."""

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
    """What a function does, without its callees."""

    __slots__ = ("events", "key", "redirects", "returned", "returned_from", "wrapped", "writes")

    def __init__(self, key: Key, events: list[Event] | None = None, wrapped: str = "") -> None:
        self.key = key
        self.events: list[Event] = events if events is not None else []
        self.returned: list[Throw] = []
        """Errors that it makes and returns."""
        self.returned_from: list[Key] = []
        """Functions whose results it returns."""
        self.wrapped = wrapped
        """The function's own name, where these are the facts of what its decorators make of it."""
        self.writes: list[Write] = []
        self.redirects = False
        """Whether it replaces `sys.stdout`."""


class Summary:
    """What leaves a function; each with the names of the functions on the way, the function itself first."""

    __slots__ = ("blinds", "parameters", "returned", "throws", "writes")

    def __init__(self) -> None:
        self.throws: dict[Throw, tuple[str, ...]] = {}
        self.blinds: dict[Blind, tuple[str, ...]] = {}
        self.parameters: dict[ParameterCall, None] = {}
        self.returned: dict[Throw, tuple[str, ...]] = {}
        self.writes: dict[Write, tuple[str, ...]] = {}


def key_of(
    node: FunctionNode,
    module: Module,
    receiver: ClassInfo | None,
    *,
    raw: bool = False,
    passed: tuple[Passed, ...] = (),
) -> Key:
    """The key of a function, as called on an instance of `receiver`."""
    scope = module.functions.get(node)
    if scope is None and type(node) is ast.Lambda:
        scope = module.scope_of(node)  # it is named after the function round it, whoever asks first
    name = scope.qualname if scope is not None else getattr(node, "name", "<lambda>")
    place = place_of(receiver) if receiver is not None else ""
    return Key(module.path, node.lineno, node.col_offset, name, place, raw, passed)


def place_of(info: ClassInfo) -> str:
    """Where a class of the project stands: it is found again by that."""
    return f"{info.module.path}:{info.node.lineno}:{info.node.col_offset}"


def swallowed(guards: tuple[Guard, ...]) -> bool:
    """Whether no exception at all passes some guards, so that it makes no difference what is raised behind them."""
    for guard in guards:
        for clause in guard.clauses:
            if clause.passes:
                break
            if not BROAD.isdisjoint(clause.types):
                return True
    return False


def redirected(guards: tuple[Guard, ...]) -> bool:
    """Whether what is printed behind some guards does not reach standard output."""
    return any(guard.redirects for guard in guards)


def bound_to(bindings: Bindings, parameter: Parameter) -> list[Key | Parameter | Throw]:
    """What a call gives to a parameter."""
    return [value for name, value in bindings if name == parameter]


def handed_over(parameter: Parameter, use: ParameterUse, span: Span) -> Blind:
    """What a parameter leads to where nobody can tell what it is given."""
    name = f"raise {parameter.name}" if use == "raises" else parameter.name
    why = "a function that is handed over"
    return Blind(name, parameter.path, span, takes_context=False, project=True, why=why)
