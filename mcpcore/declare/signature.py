"""The signature of a handler: its annotations resolved, its context, and the parameters that FastMCP fills in."""

from __future__ import annotations

import enum
import functools
import inspect
import re
import sys
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal, final

from mcpcore.contract.failure_modes import Contract, ContractError
from mcpcore.declare.context import Context
from mcpcore.values.source_location import caller, where_function


@dataclass(slots=True, eq=False, repr=False)
class Signature:
    """A handler's parameters as a caller sees them, its annotations resolved."""

    parameters: tuple[inspect.Parameter, ...]
    returns: Any
    context: inspect.Parameter | None
    """The parameter that takes the context: always the first, and not among `parameters`."""

    reasons: frozenset[str] | None
    """The reasons that `Context[Literal[...]]` names; None where the annotation names none."""

    injected: tuple[inspect.Parameter, ...] = ()
    """Parameters that FastMCP fills in, such as `Depends(...)` defaults; they are not among `parameters`."""


class ContextNamesAnUndeclaredReason:
    """What a type checker sees where `Context[Literal[...]]` names a reason that `errors` does not declare."""


@final
class NoType:
    """No parameter is of this type: what takes it takes anything, and says nothing about a context."""


def takes_context(fn: Callable[..., Any], *, name: str | None = None) -> bool:
    """Whether mcpcore's own context is among the handler's parameters, in its right place or not.

    Raises:
        ContractError: If an annotation can never be read, whose message names the tool `name`.
    """
    try:
        parsed = inspect.signature(fn)
        plain = inspect.unwrap(plain_function(fn))
        where = where_function(plain, name or str(getattr(plain, "__name__", type(fn).__name__)))
        hints = _hints(fn, where)
    except ContractError:
        raise
    except Exception:  # noqa: BLE001 - the SDK reports it, as for its own tools
        return False
    return any(
        _is_context(parameter.replace(annotation=hints.get(parameter.name, parameter.annotation)), first=index == 0)
        for index, parameter in enumerate(parsed.parameters.values())
    )


_SHOWN: Final = 120
"""How much of an annotation, and of what evaluating it raised, a message shows."""

_KINDS: Final = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def read_signature(fn: Callable[..., Any], where: str, contract: Contract[Any], *, method: bool) -> Signature:
    """The signature of a handler; of a `method`, without its instance.

    Raises:
        NameError: If an annotation names something that is not defined yet.
        ContractError: If the signature cannot be read, cannot be described, or does not agree with `contract`.
    """
    try:
        parsed = inspect.signature(fn)
    except NameError:
        raise
    except Exception as exc:  # from Python 3.14 on, annotations are first evaluated here
        raise ContractError(
            f"{where}: the handler has no signature that can be read: {_described(exc)}; correct its annotations, or "
            "wrap it in a function"
        ) from exc
    hints = _hints(fn, where)
    parameters = [
        parameter.replace(annotation=hints.get(parameter.name, parameter.annotation))
        for parameter in list(parsed.parameters.values())[int(method) :]
    ]
    context: inspect.Parameter | None = None
    reasons: frozenset[str] | None = None
    for index, parameter in enumerate(parameters):
        if not _is_context(parameter, first=index == 0):
            continue
        if index:
            raise ContractError(
                f"{where}: the context must be the first parameter{' after self' if method else ''}, "
                f"not parameter {index + 1} ({parameter.name!r})"
            )
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            raise ContractError(
                f"{where}: the context is given by its position, and {parameter.name!r} is keyword-only; "
                "take the `*` in front of it away"
            )
        context, reasons = parameter, _reasons(parameter.annotation)
    if context is None and len(contract) and parameters and (owner := _foreign_context(parameters[0])) is not None:
        name = parameters[0].name
        inside = "ctx.fastmcp" if owner == "FastMCP" else "ctx.sdk"
        raise ContractError(
            f"{where}: {name!r} takes {owner}'s Context, which cannot fail with a declared reason; import Context from "
            f"mcpcore and write `{name}: Context` (in a request, `{inside}` is {owner}'s own)"
        )
    rest = tuple(parameters[1:] if context is not None else parameters)
    injected = tuple(parameter for parameter in rest if is_injected(parameter))
    rest = tuple(parameter for parameter in rest if parameter not in injected) if injected else rest
    for parameter in rest:
        if parameter.kind in _KINDS:
            raise ContractError(
                f"{where}: the parameter {parameter} cannot be described to a client; name each argument, or take "
                "a dict. A decorator between the function and mcpcore's must use functools.wraps"
            )
    for reason in sorted(reasons or ()):
        if reason not in contract:
            near = contract.near(reason)
            meant = (
                f"did you mean {near!r}?"
                if near
                else f"declared are {', '.join(map(repr, contract.reasons)) or 'none'}"
            )
            raise ContractError(f"{where}: Context names the reason {reason!r}, which errors does not declare; {meant}")
    return Signature(rest, hints.get("return", parsed.return_annotation), context, reasons, injected)


def _hints(fn: Callable[..., Any], where: str) -> dict[str, Any]:
    """The annotations of `fn`, resolved; those of a nested function also by the names around its definition.

    Raises:
        NameError: If an annotation names what is not defined yet.
        ContractError: If an annotation can never be read.
    """
    target = plain_function(fn)
    names: dict[str, Any] | None = None
    try:
        try:
            return typing.get_type_hints(target, include_extras=True)
        except NameError:
            # The names last tried are those that linters move under TYPE_CHECKING.
            names = {"Context": Context, "Literal": Literal, **_names_around(target)}
            return typing.get_type_hints(target, localns=names, include_extras=True)
    except NameError:
        raise
    except Exception as exc:
        unreadable = _unreadable(target, names)
        if unreadable is None and isinstance(exc, TypeError):
            return {}  # it has no annotations, as what is written in C
        what = unreadable or "an annotation"
        raise ContractError(
            f"{where}: {what} cannot be read: {_described(exc)}; write a type there, such as list[str]"
        ) from exc


def _unreadable(target: Callable[..., Any], names: dict[str, Any] | None) -> str | None:
    """The first annotation of `target` that cannot be evaluated, and its parameter; None where each one can."""
    plain = inspect.unwrap(target)
    for name, annotation in getattr(target, "__annotations__", {}).items():
        alone = types.SimpleNamespace(
            __annotations__={name: annotation}, __type_params__=getattr(plain, "__type_params__", ())
        )
        try:
            typing.get_type_hints(alone, getattr(plain, "__globals__", {}), names, include_extras=True)
        except Exception:  # noqa: BLE001 - evaluating it raises anything; the caller tells what
            return f"{_part(name)}the annotation {_shortened(_source(annotation))!r}"
    return None


def which_parameter(target: Callable[..., Any], missing: str) -> str:
    """Which parameter's annotation has the name `missing` in it; empty where it is hidden in a type."""
    for name, annotation in getattr(target, "__annotations__", {}).items():
        if re.search(rf"\b{re.escape(missing)}\b", _source(annotation)):
            return _part(name)
    return ""


def _part(name: str) -> str:
    return "the result: " if name == "return" else f"parameter {name!r}: "


def _source(annotation: object) -> str:
    return annotation if isinstance(annotation, str) else repr(annotation)


def _described(exc: Exception) -> str:
    return f"{type(exc).__name__}: {_shortened((str(exc).splitlines() or [''])[0])}"


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _names_around(fn: Callable[..., Any]) -> dict[str, Any]:
    names: dict[str, Any] = {}
    frame = caller()
    if "<locals>" in getattr(fn, "__qualname__", ""):
        enclosing = []
        while frame is not None:
            enclosing.append(frame.f_locals)
            frame = frame.f_back
        # The nearest frame last, so that its names win. Frames further out belong to whatever imports or runs the code.
        for local in reversed(enclosing[:8]):
            names.update(local)
    elif frame is not None:  # pragma: no branch - something outside this package calls it
        names.update(frame.f_locals)  # the body of a class
    inner = inspect.unwrap(fn)
    cells = getattr(inner, "__closure__", None) or ()
    for name, cell in zip(getattr(getattr(inner, "__code__", None), "co_freevars", ()), cells, strict=False):
        try:
            names[name] = cell.cell_contents
        except ValueError:  # a cell that is not filled yet
            continue
    return names


def _is_context(parameter: inspect.Parameter, *, first: bool) -> bool:
    annotation = parameter.annotation
    if annotation is inspect.Parameter.empty:
        # Without a type, only its name and its place say what a parameter is.
        return first and parameter.name == "ctx"
    annotation = _certain(annotation)
    origin = typing.get_origin(annotation) or annotation
    return isinstance(origin, type) and issubclass(origin, Context)


def _foreign_context(parameter: inspect.Parameter) -> str | None:
    """The library whose context the parameter takes: FastMCP, or the SDK; None for any other type."""
    kind = _certain(parameter.annotation)
    kind = typing.get_origin(kind) or kind
    for owner, module in (("FastMCP", "fastmcp.server.context"), ("the SDK", "mcp.server.mcpserver")):
        theirs = getattr(sys.modules.get(module), "Context", None)
        if theirs is not None and isinstance(kind, type) and issubclass(kind, theirs):
            return owner
    return None


def is_injected(parameter: inspect.Parameter) -> bool:
    """Whether FastMCP fills a parameter in, so that no client sends it: its own context, or a dependency."""
    uncalled_for = sys.modules.get("uncalled_for")  # the library of FastMCP's `Depends`
    fastmcp = sys.modules.get("fastmcp.server.context")
    if uncalled_for is None or fastmcp is None:
        return False
    if isinstance(parameter.default, uncalled_for.Dependency):
        return True
    annotation = parameter.annotation
    if typing.get_origin(annotation) is typing.Annotated and any(
        isinstance(extra, uncalled_for.Provider) for extra in annotation.__metadata__
    ):
        return True
    kind = _certain(annotation)
    sessions = sys.modules.get("fastmcp.server.sessions")
    kinds = (fastmcp.Context, *((sessions.UserSession,) if sessions is not None else ()))
    return isinstance(kind, type) and issubclass(kind, kinds)


def _certain(annotation: Any) -> Any:
    """Without what may be added to a type: `Annotated`, and `| None` where the context is given all the same."""
    if typing.get_origin(annotation) is typing.Annotated:
        annotation = typing.get_args(annotation)[0]
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        members = [member for member in typing.get_args(annotation) if member is not types.NoneType]
        if len(members) == 1:
            return _certain(members[0])
    return annotation


def _reasons(annotation: Any) -> frozenset[str] | None:
    args = typing.get_args(_certain(annotation))
    return _literals(args[0]) if args else None


def _literals(annotation: Any) -> frozenset[str] | None:
    annotation = getattr(annotation, "__value__", annotation)  # type X = Literal[...]
    origin = typing.get_origin(annotation)
    if origin is Literal:
        return frozenset(str(getattr(arg, "value", arg)) for arg in typing.get_args(annotation))
    if origin in (typing.Union, types.UnionType):
        members = [_literals(arg) for arg in typing.get_args(annotation)]
        return None if any(m is None for m in members) else frozenset().union(*(m for m in members if m is not None))
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return frozenset(str(member.value) for member in annotation)
    return None


def plain_function(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The function whose annotations are those of `fn`: within a partial, or behind an object's `__call__`."""
    while isinstance(fn, functools.partial):
        fn = fn.func
    if inspect.isroutine(fn):
        return fn
    call = type(fn).__call__
    return call if inspect.isfunction(call) else fn


def name_of(fn: Callable[..., Any]) -> str:
    """The name of a function, of the function in a partial, or of a callable object's class."""
    plain = fn
    while isinstance(plain, functools.partial):
        plain = plain.func
    name = getattr(plain, "__name__", None) or type(plain).__name__
    if name == "<lambda>":
        raise ContractError(f"{where_function(plain, name)}: a lambda has no name; pass name='…'")
    return str(name)


def is_method(fn: Callable[..., Any]) -> bool:
    """Whether `fn` is defined in the body of a class and takes an instance first."""
    if not inspect.isfunction(fn):
        return False
    around, _, _ = fn.__qualname__.rpartition(".")
    if not around or around.endswith("<locals>"):
        return False
    first = next(iter(inspect.signature(fn).parameters.values()), None)
    if first is None or first.kind in _KINDS:
        return False
    # An instance may have any name; `ctx` without a type is a context.
    return first.name in ("self", "cls") or (first.annotation is inspect.Parameter.empty and first.name != "ctx")
