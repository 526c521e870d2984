"""Facts about functions: the errors that they raise, the functions that they call, and the guards around both."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Final, Literal, NamedTuple, TypeAlias

from mcpcore_lint.dataclasses import light
from mcpcore_lint.diagnostics import Span
from mcpcore_lint.engine.semantics.hierarchy import Hierarchy
from mcpcore_lint.engine.syntax.module import ClassInfo, Module
from mcpcore_lint.engine.syntax.project import Project
from mcpcore_lint.model import ErrorForm, FunctionNode

BROAD: Final = frozenset({"builtins.Exception", "builtins.BaseException"})
"""Classes whose `except` clause catches nearly everything."""


CODED: Final = frozenset({"fail", "factory", "coded", "guard"})
"""Forms of errors that have a code."""


class Parameter(NamedTuple):
    """A parameter, identified by its name and the position of its function."""

    path: str
    line: int
    column: int
    name: str


class Key(NamedTuple):
    """A function of the project, called on an instance of one class and with some arguments."""

    path: str
    line: int
    column: int
    name: str
    receiver: str = ""
    raw: bool = False
    """Whether this is the function without its decorators."""
    bound: Bindings = ()
    """The functions that are passed to it and to those around it."""


Bound: TypeAlias = "Key | Parameter"
"""The value of a parameter: a function that it may be, or a parameter of the caller that is passed on."""
# No dict, as a key has to be hashable.
Bindings: TypeAlias = "tuple[tuple[Parameter, Bound], ...]"


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
    reason_from: Parameter | None = None
    """The parameter whose value is the reason; callers replace it by their argument."""
    code_from: Parameter | None = None
    """Likewise for the code."""
    context_from: Parameter | None = None
    """The parameter that must be a context: `c.fail(...)` where `c` has no annotation."""


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


Effect: TypeAlias = "Throw | Blind | Write"


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
    codes: frozenset[str] = frozenset()
    """The codes of errors without a reason that it replaces."""


class Guard(NamedTuple):
    """The clauses of one `try`, a context manager or a decorator: anything that may stop or change an effect."""

    clauses: tuple[Clause, ...] = ()
    group: bool = False
    """Whether this is a task group, which wraps errors in an exception group."""
    converts: bool = False
    """Whether this is `mcpcore.guard`, which turns every error into a `CodedError`."""
    keeps: bool = False
    """Whether errors that it does not name stay what they are, as under a contract that maps errors."""
    becomes: tuple[Becomes, ...] = ()
    """The errors that its arguments name, each with the classes that it replaces."""
    doubt: bool = False
    """Whether a condition that cannot be read decides if an error passes."""
    redirects: bool = False
    """Whether it redirects standard output; errors pass unchanged."""


NOTHING: Final = Guard((Clause(("builtins.BaseException",), (), star=True),))
"""A guard that stops every error."""


@light
class Event:
    """One entry in the facts of a function: an effect, or a call."""

    span: Span
    guards: tuple[Guard, ...]
    effect: Effect | None = None
    targets: tuple[Key, ...] = ()
    """The functions that it calls."""
    parameter: Parameter | None = None
    """The parameter that it calls or passes to outside code. If a call binds no function to it, `effect` applies."""
    results: bool = False
    """Whether the errors that the functions return are raised, rather than those that they raise."""


@light
class Facts:
    """The facts of one function, without those of the functions that it calls."""

    name: str
    """The name of the function in call paths."""
    events: list[Event]
    returned: list[Effect]
    """Errors that it creates and returns; an unresolved call if it may return another one."""
    returned_from: list[Key]
    """Functions whose results it returns."""
    decorated: bool = False
    """Whether these are the facts of a function with its decorators."""


class Summary:
    """Everything that leaves a function, each with the path of functions to it, the function itself first."""

    __slots__ = ("effects", "returned")

    def __init__(self) -> None:
        self.effects: dict[Effect, tuple[str, ...]] = {}
        self.returned: dict[Effect, tuple[str, ...]] = {}


def key_of(node: FunctionNode, module: Module, receiver: ClassInfo | None, *, raw: bool = False) -> Key:
    """Return the key of a function that is called on an instance of `receiver`."""
    scope = module.functions.get(node)
    if scope is None and type(node) is ast.Lambda:
        scope = module.scope_of(node)  # its name comes from the enclosing function, whichever caller asks first
    name = scope.qualname if scope is not None else getattr(node, "name", "<lambda>")
    place = f"{receiver.module.path}:{receiver.node.lineno}:{receiver.node.col_offset}" if receiver is not None else ""
    return Key(module.path, node.lineno, node.col_offset, name, place, raw)


def parameter_of(node: FunctionNode, module: Module, name: str) -> Parameter:
    """Return a parameter by its function and name."""
    return Parameter(module.path, node.lineno, node.col_offset, name)


def swallowed(guards: tuple[Guard, ...]) -> bool:
    """Whether no exception passes some guards, so that unresolved calls behind them do not matter."""
    for guard in guards:
        for clause in guard.clauses:
            # It catches before the clauses below it do, and raises some of that again.
            if clause.passes:
                break
            if not BROAD.isdisjoint(clause.types):
                return True
    return False


@light
class Program:
    """The project, with the settings that concern errors."""

    project: Project
    hierarchy: Hierarchy
    raises: Mapping[str, tuple[str, ...]]
    """Functions of other packages with the errors that they raise, from the configuration."""
    thorough: bool = False
    """Whether calls into unknown packages are reported too, as `--explain-calls` does."""

    def find(self, key: Key | Parameter) -> tuple[FunctionNode, Module] | None:
        """Return the function of a key or a parameter, with its file."""
        module = self.project.module_at(key.path)
        node = module.function_at(key.line, key.column) if module is not None else None
        return (node, module) if node is not None and module is not None else None
