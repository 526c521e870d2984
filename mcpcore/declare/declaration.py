"""What a handler declares, read and checked once: its name, its contract and its signature."""

from __future__ import annotations

import enum
import functools
import inspect
import re
import sys
import types
import typing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, Literal, ParamSpec, TypeVar, cast, final

from mcpcore._where import caller, where_function
from mcpcore.contract import Contract, ContractError, FailureMode
from mcpcore.declare.context import Context, Request, current
from mcpcore.errors import CodedError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from mcp_types import Icon, ToolAnnotations

    from mcpcore.declare.definition import ToolDefinition

P = ParamSpec("P")
S_contra = TypeVar("S_contra", contravariant=True)
T_co = TypeVar("T_co", covariant=True)


# Internal, so not frozen: freezing slows the import.
@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class ToolOptions:
    """The arguments of the decorator: those of the SDK's own registration, and the contract.

    Attributes:
        name: The name of the tool; by default, the name of the function.
        title: A name for people.
        description: The purpose of the tool, for the model; by default, the docstring of the function.
        annotations: The SDK's hints for hosts, such as `ToolAnnotations(read_only_hint=True)`.
        icons: Pictures for the user interface of a host.
        meta: The `_meta` of the tool in `tools/list`; the contract is added under `dev.mcpcore/errors`.
        structured_output: Whether the result has structured content and the tool an output schema; by default, if the
            return annotation allows it.
        errors: The contract: a `FailureMode` for each way in which the tool fails that its author knows.
    """

    name: str | None = None
    title: str | None = None
    description: str | None = None
    annotations: ToolAnnotations | None = None
    icons: list[Icon] | None = None
    meta: dict[str, Any] | None = None
    structured_output: bool | None = None
    errors: Sequence[FailureMode[Any]] = ()


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


class Declaration:
    """A handler, its options and its contract, checked once; shared by a method's tools of all instances."""

    noun: ClassVar[str] = "tool"

    def __init__(self, handler: Callable[..., Any], options: ToolOptions, *, method: bool = False) -> None:
        """Read and check the declaration.

        Raises:
            ContractError: If the contract or the handler cannot stand.
        """
        self.handler = handler
        self.options = options
        self.method = method
        self.name: str = options.name or name_of(handler)
        self.contract: Contract[Any] = Contract(options.errors, tool=self.name)
        if not isinstance(self.name, str):
            raise ContractError(f"{where_function(handler, str(self.name), self.noun)}: name must be a string")
        self.is_async = _is_async(handler)
        self._signature: Signature | None = None
        self._definition: ToolDefinition | None = None
        plain = inspect.unwrap(_plain(handler))
        self.where = where_function(plain, self.name, self.noun)
        if inspect.isgeneratorfunction(plain) or inspect.isasyncgenfunction(plain):
            raise ContractError(
                f"{self.where}: the handler yields; a {self.noun} answers once: return the result, and report progress "
                "with ctx.report_progress(...)"
            )
        try:
            self._read()
        except NameError:
            # An annotation names what is defined further down: read again when a server takes the tool.
            self._signature = None

    @property
    def signature(self) -> Signature:
        """The handler's parameters, resolved.

        Raises:
            ContractError: If an annotation names something undefined, or the context is not the first parameter.
        """
        if self._signature is None:
            try:
                self._read()
            except NameError as exc:
                missing = exc.name or str(exc)
                raise ContractError(
                    f"{self.where}: {_naming(_plain(self.handler), missing)}an annotation names {missing!r}, which is "
                    f"not defined; define it before the server takes the {self.noun}, or import it outside of "
                    "`if TYPE_CHECKING:`"
                ) from exc
        assert self._signature is not None
        return self._signature

    @property
    def definition(self) -> ToolDefinition:
        """The schemas, and the conversion of arguments and results through them.

        Raises:
            ContractError: If the handler's parameters or result cannot be described.
        """
        if self._definition is None:
            from mcpcore.declare.definition import ToolDefinition

            self._definition = ToolDefinition.of(self)
        return self._definition

    def _read(self) -> None:
        self._signature = _signature(self.handler, self.where, self.contract, method=self.method)
        self.definition  # noqa: B018 - building it checks, at import, what can be checked


class _SignatureOfDeclared:
    """The handler's parameters without its context; if FastMCP is in use, the signature that FastMCP calls."""

    # Not a property: `inspect.signature(Tool)` reads the class's own signature if the class has None here.
    def __get__(self, declared: Declared[..., Any] | None, owner: type[Any]) -> inspect.Signature | None:
        if declared is None:
            return None
        integration = _fastmcp_integration()
        if integration is not None:
            return cast("inspect.Signature", integration.signature_of(declared))
        signature = declared.declaration.signature
        return inspect.Signature([*signature.parameters, *signature.injected], return_annotation=signature.returns)


class Declared(Generic[P, T_co]):
    """A declared handler: in a unit test, call it like the function and leave out `ctx`.

    Inside a request the handler gets the request's own context, narrowed to this contract; outside one, a fresh one.
    A failure is raised as the `CodedError` that it is. `handler` is the function itself.
    """

    noun: ClassVar[str] = "tool"

    def __init__(self, declaration: Declaration, *, bound: tuple[Any, ...] = ()) -> None:
        """Use the decorator instead."""
        functools.update_wrapper(self, declaration.handler, updated=())
        self.declaration = declaration
        self._bound = bound
        self._fastmcp: Any = None

    @property
    def handler(self) -> Callable[..., Any]:
        """The function itself; for a method, bound to its instance."""
        function = self.declaration.handler
        return functools.partial(function, *self._bound) if self._bound else function

    @property
    def name(self) -> str:
        """The name that clients see."""
        return self.declaration.name

    @property
    def contract(self) -> Contract[Any]:
        """The failure modes."""
        return self.declaration.contract

    @property
    def definition(self) -> ToolDefinition:
        """The schemas of the arguments and of the result."""
        return self.declaration.definition

    def leading(self, request: Request | None) -> tuple[Any, ...]:
        """The arguments that the handler gets before the caller's: the instance, then the context."""
        if self.declaration.signature.context is None:
            return self._bound
        return (*self._bound, Context(self.contract, name=self.name, request=request))

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T_co:
        """Run the handler, with a context made for it.

        Raises:
            CodedError: The failure, if the handler fails.
        """
        if FASTMCP_CALL in kwargs:
            return cast("T_co", kwargs[FASTMCP_CALL](self, kwargs))  # type: ignore[operator]
        given = self.leading(current.get())
        if self.declaration.is_async:
            return cast("T_co", self._awaited(self.declaration.handler(*given, *args, **kwargs)))
        try:
            return cast("T_co", self.declaration.handler(*given, *args, **kwargs))
        except CodedError as error:
            self._declare(error)
            raise

    async def _awaited(self, running: Awaitable[Any]) -> Any:
        try:
            return await running
        except CodedError as error:
            self._declare(error)
            raise

    if not TYPE_CHECKING:

        def __get__(self, instance: object, owner: type[Any] | None = None) -> Any:
            """The declared handler itself. An object with this method is a routine, which FastMCP requires."""
            return self

    __signature__ = _SignatureOfDeclared()

    @property
    def __fastmcp__(self) -> Any:
        """The options that FastMCP registers this with; FastMCP's decorators read and set them."""
        integration = _fastmcp_integration()
        if integration is None:
            raise AttributeError("__fastmcp__")
        return integration.registration_of(self, self._fastmcp)

    @__fastmcp__.setter
    def __fastmcp__(self, metadata: Any) -> None:
        self._fastmcp = metadata

    def _declare(self, error: CodedError) -> None:
        entry = self.contract.get(error.reason)
        if entry is not None and error.entry is None:
            error.declare(entry)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"


class DeclaredMethod(Generic[S_contra, P, T_co]):
    """A declared handler that is a method: reached through an instance, it is bound to it."""

    kind: ClassVar[type[Declared[..., Any]]]

    def __init__(self, declaration: Declaration) -> None:
        """Use the decorator instead."""
        functools.update_wrapper(self, declaration.handler, updated=())
        self.declaration = declaration

    @property
    def handler(self) -> Callable[..., Any]:
        """The function itself."""
        return self.declaration.handler

    @property
    def name(self) -> str:
        """The name that clients see."""
        return self.declaration.name

    @property
    def contract(self) -> Contract[Any]:
        """The failure modes."""
        return self.declaration.contract

    def bound_to(self, instance: S_contra) -> Any:
        """The declared handler of `instance`."""
        bound = self.kind(self.declaration, bound=(instance,))
        if "__fastmcp__" in self.__dict__:  # FastMCP's own decorator is above ours in the class
            bound.__fastmcp__ = self.__dict__["__fastmcp__"]
        return bound

    def __call__(self, instance: S_contra, /, *args: P.args, **kwargs: P.kwargs) -> T_co:
        """Run the handler on `instance`, with a context made for it."""
        return cast("T_co", self.bound_to(instance)(*args, **kwargs))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"


FASTMCP_CALL: Final = "mcpcore_call"
"""The parameter that FastMCP fills in, by which its calls of a handler differ from calls by other code."""


def _fastmcp_integration() -> types.ModuleType | None:
    """The integration with FastMCP, or None if the program does not use FastMCP."""
    if "fastmcp.tools.function_tool" not in sys.modules:
        return None
    from mcpcore.integrations import fastmcp

    return fastmcp


def declare(
    fn: Callable[..., Any], make: Callable[..., Declaration], method: type[DeclaredMethod[Any, ..., Any]]
) -> Any:
    """Tie a handler to its options: a method becomes a `method`, anything else its `kind`."""
    kind = method.kind
    if isinstance(fn, Declared | DeclaredMethod):
        noun = fn.noun if isinstance(fn, Declared) else fn.kind.noun
        if noun == kind.noun:
            problem = f"@{noun} is applied twice; remove one"
        else:
            problem = f"@{noun} and @{kind.noun} are on one function; write a function for each"
        raise ContractError(f"{where_function(fn.handler, fn.name, noun)}: {problem}")
    if "__fastmcp__" in getattr(fn, "__dict__", ()):
        raise ContractError(
            f"{where_function(fn, name_of(fn), kind.noun)}: FastMCP's decorator is below @{kind.noun}, so that it "
            f"serves the function without its contract; put @mcp.{kind.noun} above @{kind.noun}"
        )
    if isinstance(fn, staticmethod):
        return kind(make(fn.__func__))
    if isinstance(fn, classmethod):
        raise ContractError(
            f"{where_function(fn.__func__, name_of(fn.__func__), kind.noun)}: @classmethod must be above "
            f"@{kind.noun}, not below it"
        )
    if _is_method(fn):
        return method(make(fn, method=True))
    return kind(make(fn))


def as_declared(item: object, method: type[DeclaredMethod[Any, ..., Any]]) -> Any:
    """The handler that `item` is, bound if it is a method; None if it is not of this kind.

    Raises:
        ContractError: If it is a method without an instance.
    """
    kind = method.kind
    if isinstance(item, kind):
        return item
    if isinstance(item, types.MethodType) and isinstance(item.__func__, method | kind):
        inner: Any = item.__func__
        return inner.bound_to(item.__self__) if isinstance(inner, DeclaredMethod) else inner
    if isinstance(item, method):
        raise ContractError(
            f"{where_function(item.handler, item.name, kind.noun)}: the {kind.noun} is a method; give it bound to an "
            f"instance, as instance.{getattr(item.handler, '__name__', item.name)}"
        )
    return None


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
        found = inspect.signature(fn)
        plain = inspect.unwrap(_plain(fn))
        where = where_function(plain, name or str(getattr(plain, "__name__", type(fn).__name__)))
        hints = _hints(fn, where)
    except ContractError:
        raise
    except Exception:  # noqa: BLE001 - the SDK reports it, as for its own tools
        return False
    return any(
        _is_context(parameter.replace(annotation=hints.get(parameter.name, parameter.annotation)), first=index == 0)
        for index, parameter in enumerate(found.parameters.values())
    )


_SHOWN: Final = 120
"""How much of an annotation, and of what evaluating it raised, a message shows."""

_KINDS: Final = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def _signature(fn: Callable[..., Any], where: str, contract: Contract[Any], *, method: bool) -> Signature:
    try:
        found = inspect.signature(fn)
    except NameError:
        raise
    except Exception as exc:  # from Python 3.14 on, annotations are first evaluated here
        raise ContractError(
            f"{where}: the handler has no signature that can be read: {_told(exc)}; mend its annotations, or wrap it "
            "in a function"
        ) from exc
    hints = _hints(fn, where)
    parameters = [
        parameter.replace(annotation=hints.get(parameter.name, parameter.annotation))
        for parameter in list(found.parameters.values())[int(method) :]
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
    returns = hints.get("return", found.return_annotation)
    return Signature(rest, returns, context, reasons, injected)


def _hints(fn: Callable[..., Any], where: str) -> dict[str, Any]:
    """The annotations of `fn`, resolved; those of a nested function also by the names around its definition.

    Raises:
        NameError: If an annotation names what is not defined yet.
        ContractError: If an annotation can never be read.
    """
    target = _plain(fn)
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
            f"{where}: {what} cannot be read: {_told(exc)}; write a type there, such as list[str]"
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


def _naming(target: Callable[..., Any], missing: str) -> str:
    """Which parameter's annotation has the name `missing` in it; empty where it is hidden in a type."""
    for name, annotation in getattr(target, "__annotations__", {}).items():
        if re.search(rf"\b{re.escape(missing)}\b", _source(annotation)):
            return _part(name)
    return ""


def _part(name: str) -> str:
    return "the result: " if name == "return" else f"parameter {name!r}: "


def _source(annotation: object) -> str:
    return annotation if isinstance(annotation, str) else repr(annotation)


def _told(exc: Exception) -> str:
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
        return first and parameter.name == "ctx"
    annotation = _certain(annotation)
    origin = typing.get_origin(annotation) or annotation
    return isinstance(origin, type) and issubclass(origin, Context)


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


def _plain(fn: Callable[..., Any]) -> Callable[..., Any]:
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
        raise ContractError(f"{where_function(plain, name)}: a lambda has no name of its own; give it with name='…'")
    return str(name)


def _is_async(fn: Callable[..., Any]) -> bool:
    while isinstance(fn, functools.partial):
        fn = fn.func
    return inspect.iscoroutinefunction(fn) or inspect.iscoroutinefunction(getattr(fn, "__call__", None))  # noqa: B004


def _is_method(fn: Callable[..., Any]) -> bool:
    """Whether `fn` is defined in the body of a class and takes an instance first."""
    if not inspect.isfunction(fn):
        return False
    around, _, _ = fn.__qualname__.rpartition(".")
    if not around or around.endswith("<locals>"):
        return False
    first = next(iter(inspect.signature(fn).parameters.values()), None)
    if first is None or first.kind in _KINDS:
        return False
    return first.name in ("self", "cls") or (first.annotation is inspect.Parameter.empty and first.name != "ctx")
