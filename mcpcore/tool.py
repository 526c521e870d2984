"""`@tool`: a handler and its contract, tied together; `Tool`, which a test calls as it would call the handler."""

from __future__ import annotations

import enum
import functools
import inspect
import re
import types
import typing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Concatenate, Final, Generic, Literal, ParamSpec, cast, final, overload

from typing_extensions import TypeVar

from mcpcore._where import caller, where_function
from mcpcore.context import Context, Request, current
from mcpcore.contract import Contract, ContractError, FailureMode
from mcpcore.errors import CodedError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from mcp_types import Icon, ToolAnnotations

    from mcpcore._shapes import SeenTool  # pyright: ignore[reportMissingModuleSource]
    from mcpcore.definition import ToolDefinition

MYPY: Final = False
"""True to mypy, which knows the name; see `_shapes.pyi`."""

P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R", bound=str)
S = TypeVar("S")
T = TypeVar("T")
U = TypeVar("U")


# Not frozen, as nothing outside gets hold of it: that is most of what importing this module would cost.
@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class ToolOptions:
    """What the decorator was given beside the handler: all that the SDK's own registration takes, and the contract."""

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
    """The parameter that takes the context; it stands first and is not among `parameters`."""

    reasons: frozenset[str] | None
    """The reasons that `Context[Literal[...]]` names; None where the annotation names none."""


class Declaration:
    """A handler, its options and its contract, checked once; shared by a method's tools of all instances."""

    def __init__(self, handler: Callable[..., Any], options: ToolOptions, *, method: bool = False) -> None:
        """Read and check what was declared.

        Raises:
            ContractError: If the contract or the handler cannot stand.
        """
        self.handler = handler
        self.options = options
        self.method = method
        self.name: str = options.name or _name_of(handler)
        self.contract: Contract[Any] = Contract(options.errors, tool=self.name)
        if not isinstance(self.name, str):
            raise ContractError(f"{where_function(handler, str(self.name))}: name must be a string")
        self.is_async = _is_async(handler)
        self._signature: Signature | None = None
        self._definition: ToolDefinition | None = None
        plain = inspect.unwrap(_plain(handler))
        self.where = where_function(plain, self.name)
        if inspect.isgeneratorfunction(plain) or inspect.isasyncgenfunction(plain):
            raise ContractError(
                f"{self.where}: the handler yields; a tool answers once: return the result, and report progress with "
                "ctx.report_progress(...)"
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
            ContractError: If an annotation names what does not exist, or the context does not stand first.
        """
        if self._signature is None:
            try:
                self._read()
            except NameError as exc:
                missing = exc.name or str(exc)
                raise ContractError(
                    f"{self.where}: {_naming(_plain(self.handler), missing)}an annotation names {missing!r}, which is "
                    "not defined; define it before the server takes the tool, or import it outside of "
                    "`if TYPE_CHECKING:`"
                ) from exc
        assert self._signature is not None
        return self._signature

    @property
    def definition(self) -> ToolDefinition:
        """What the tool is to the protocol: its schemas, and how arguments and results pass through them.

        Raises:
            ContractError: If the handler's parameters or result cannot be described.
        """
        if self._definition is None:
            from mcpcore.definition import ToolDefinition

            self._definition = ToolDefinition.of(self)
        return self._definition

    def _read(self) -> None:
        self._signature = _signature(self.handler, self.where, self.contract, method=self.method)
        self.definition  # noqa: B018 - building it checks, at import, what can be checked


class Tool(Generic[P, T]):
    """A tool: called in a unit test as its handler is, without its context.

    Inside a request the handler gets the request's own context, narrowed to this contract; outside one, a fresh one.
    A failure is raised as the `CodedError` that it is. `handler` is the function itself.
    """

    def __init__(self, declaration: Declaration, *, bound: tuple[Any, ...] = ()) -> None:
        """Use `@tool` instead."""
        functools.update_wrapper(self, declaration.handler, updated=())
        self.declaration = declaration
        self._bound = bound

    @property
    def handler(self) -> Callable[..., Any]:
        """The function itself; of a method's tool, bound to its instance."""
        function = self.declaration.handler
        return functools.partial(function, *self._bound) if self._bound else function

    @property
    def name(self) -> str:
        """The name that clients call."""
        return self.declaration.name

    @property
    def contract(self) -> Contract[Any]:
        """The failure modes."""
        return self.declaration.contract

    @property
    def definition(self) -> ToolDefinition:
        """What the tool is to the protocol."""
        return self.declaration.definition

    def changed(self, **options: Any) -> Tool[P, T]:
        """The same tool with other options."""
        declared = self.declaration
        return Tool(
            Declaration(declared.handler, replace(declared.options, **options), method=declared.method),
            bound=self._bound,
        )

    def leading(self, request: Request | None) -> tuple[Any, ...]:
        """The arguments that the handler gets before those of the caller: the instance, then the context."""
        if self.declaration.signature.context is None:
            return self._bound
        return (*self._bound, Context(self.contract, name=self.name, request=request))

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run the handler, with a context made for it.

        Raises:
            CodedError: The failure, where the tool fails.
        """
        given = self.leading(current.get())
        if self.declaration.is_async:
            return cast("T", self._awaited(self.declaration.handler(*given, *args, **kwargs)))
        try:
            return cast("T", self.declaration.handler(*given, *args, **kwargs))
        except CodedError as error:
            self._declare(error)
            raise

    async def _awaited(self, running: Awaitable[Any]) -> Any:
        try:
            return await running
        except CodedError as error:
            self._declare(error)
            raise

    if TYPE_CHECKING and not MYPY:
        # What stands in a class is a MethodTool; a checker that sees no context cannot tell, and asks here.
        @overload
        def __get__(self, instance: None, owner: type[Any]) -> Tool[P, T]: ...
        @overload
        def __get__(self: Tool[Concatenate[S, Q], U], instance: S, owner: type[Any] | None = None) -> Tool[Q, U]: ...
        @overload
        def __get__(self, instance: object, owner: type[Any] | None = None) -> Tool[..., T]: ...
        def __get__(self, instance: object, owner: type[Any] | None = None) -> Any: ...

    def _declare(self, error: CodedError) -> None:
        entry = self.contract.get(error.reason)
        if entry is not None and error.entry is None:
            error.declare(entry)

    def __repr__(self) -> str:
        return f"<Tool {self.name}>"


class MethodTool(Generic[S, P, T]):
    """A tool that is a method: reached through an instance, it is a `Tool` of that instance."""

    def __init__(self, declaration: Declaration) -> None:
        """Use `@tool` instead."""
        functools.update_wrapper(self, declaration.handler, updated=())
        self.declaration = declaration

    @property
    def handler(self) -> Callable[..., Any]:
        """The function itself."""
        return self.declaration.handler

    @property
    def name(self) -> str:
        """The name that clients call."""
        return self.declaration.name

    @property
    def contract(self) -> Contract[Any]:
        """The failure modes."""
        return self.declaration.contract

    @overload
    def __get__(self, instance: None, owner: type[Any]) -> MethodTool[S, P, T]: ...
    @overload
    def __get__(self, instance: S, owner: type[Any] | None = None) -> Tool[P, T]: ...
    def __get__(self, instance: S | None, owner: type[Any] | None = None) -> MethodTool[S, P, T] | Tool[P, T]:
        """The tool of `instance`; on the class, the declaration itself."""
        return self if instance is None else self.bind(instance)

    def bind(self, instance: S) -> Tool[P, T]:
        """The tool of `instance`."""
        return Tool(self.declaration, bound=(instance,))

    def __call__(self, instance: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run the handler on `instance`, with a context made for it."""
        return self.bind(instance)(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<MethodTool {self.name}>"


class ContextNamesAnUndeclaredReason:
    """What a type checker sees where `Context[Literal[...]]` names a reason that `errors` does not declare."""


@final
class _Nothing:
    """No parameter is of this type: what takes it takes anything, and says nothing about a context."""


class ToolDecorator(Generic[R]):
    """What `@tool(...)` returns: it ties a handler to the contract."""

    def __init__(self, options: ToolOptions) -> None:
        """Use `tool(...)` instead."""
        self._options = options

    # mypy alone looks into what never runs, and so finds shapes of its own here.
    if False:  # pragma: no cover - it never runs
        if MYPY:

            def __call__(self, fn: Callable[P, T], /) -> SeenTool[P, T]:
                """Make `fn` a tool."""

    # The order decides what a checker says: the first two hold where a parameter without a type hides whether it is the
    # context; the next two where the context names declared reasons only; then where it names others; then where there
    # is none. mypy does not get these: it gives up on overloads as soon as an argument has an Any anywhere in it.
    if not MYPY:

        @overload
        def __call__(self, fn: Callable[Concatenate[_Nothing, P], T], /) -> Tool[..., T]: ...
        @overload
        def __call__(self, fn: Callable[Concatenate[S, _Nothing, P], T], /) -> Tool[..., T]: ...
        @overload
        def __call__(self, fn: Callable[Concatenate[Context[R, Any], P], T], /) -> Tool[P, T]: ...  # pyright: ignore[reportOverlappingOverload]
        @overload
        def __call__(self, fn: Callable[Concatenate[S, Context[R, Any], P], T], /) -> MethodTool[S, P, T]: ...  # pyright: ignore[reportOverlappingOverload]
        @overload
        def __call__(self, fn: Callable[Concatenate[Context[str, Any], P], T], /) -> ContextNamesAnUndeclaredReason: ...
        @overload
        def __call__(
            self, fn: Callable[Concatenate[S, Context[str, Any], P], T], /
        ) -> ContextNamesAnUndeclaredReason: ...
        @overload
        def __call__(self, fn: Callable[P, T], /) -> Tool[P, T]: ...
        def __call__(self, fn: Callable[..., Any], /) -> Any:
            """Make `fn` a tool.

            Raises:
                ContractError: If the contract or the handler cannot stand; the message names the file, the tool and
                    what.
            """
            return self._made(make_tool(fn, self._options))

    def _made(self, made: Tool[..., Any] | MethodTool[Any, ..., Any]) -> Any:
        return made


if False:  # as above
    if MYPY:
        from mcpcore._shapes import tool as tool  # noqa: PLC0414 - mypy asks for it of a name that others import
if not MYPY:

    @overload
    def tool(fn: Callable[Concatenate[_Nothing, P], T], /) -> Tool[..., T]: ...
    @overload
    def tool(fn: Callable[Concatenate[S, _Nothing, P], T], /) -> Tool[..., T]: ...
    @overload
    def tool(fn: Callable[Concatenate[Context[Any, Any], P], T], /) -> Tool[P, T]: ...  # pyright: ignore[reportOverlappingOverload]
    @overload
    def tool(fn: Callable[Concatenate[S, Context[Any, Any], P], T], /) -> MethodTool[S, P, T]: ...  # pyright: ignore[reportOverlappingOverload]
    @overload
    def tool(fn: Callable[P, T], /) -> Tool[P, T]: ...
    @overload
    def tool(
        *,
        errors: Sequence[FailureMode[R]],
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        annotations: ToolAnnotations | None = None,
        icons: list[Icon] | None = None,
        meta: dict[str, Any] | None = None,
        structured_output: bool | None = None,
    ) -> ToolDecorator[R]: ...
    @overload
    def tool(
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        annotations: ToolAnnotations | None = None,
        icons: list[Icon] | None = None,
        meta: dict[str, Any] | None = None,
        structured_output: bool | None = None,
    ) -> ToolDecorator[Any]: ...
    def tool(fn: Callable[..., Any] | None = None, /, **options: Any) -> Any:
        """Make a function a tool of an MCP server: `@tool`, `@tool()` or `@tool(errors=[FailureMode(...), ...])`.

        The handler may be sync (it runs in a worker thread) or async; its first parameter may be a `Context`.

        Args:
            fn: The handler, where the decorator is used without parentheses.
            **options: `errors`, the contract; `name`, the function's own where left out; `title`, `description` (the
                docstring where left out), `annotations`, `icons`, `meta` and `structured_output`, as the SDK takes
                them.

        Raises:
            ContractError: At import, if the contract or the handler cannot stand.
        """
        if fn is None:
            return ToolDecorator(ToolOptions(**options))
        if not callable(fn) and not isinstance(fn, staticmethod | classmethod):
            raise ContractError(
                f"tool({fn!r}): a handler is a function; give everything else by keyword, such as tool(name={fn!r})"
            )
        return make_tool(fn, ToolOptions(**options))


def make_tool(fn: Callable[..., Any], options: ToolOptions) -> Tool[..., Any] | MethodTool[Any, ..., Any]:
    """Tie a handler to its options, as a tool or as a tool that is a method."""
    if isinstance(fn, Tool | MethodTool):
        raise ContractError(f"{where_function(fn.handler, fn.name)}: @tool stands twice; keep one of the two")
    if isinstance(fn, staticmethod):
        return Tool(Declaration(fn.__func__, options))
    if isinstance(fn, classmethod):
        raise ContractError(
            f"{where_function(fn.__func__, _name_of(fn.__func__))}: @classmethod must stand above @tool, not below it"
        )
    if _is_method(fn):
        return MethodTool(Declaration(fn, options, method=True))
    return Tool(Declaration(fn, options))


def as_tool(item: object) -> Tool[..., Any] | None:
    """The mcpcore tool that `item` is, bound where it is a method; None where it is none."""
    if isinstance(item, Tool):
        return item
    if isinstance(item, types.MethodType) and isinstance(item.__func__, MethodTool | Tool):
        inner: Any = item.__func__
        return inner.bind(item.__self__) if isinstance(inner, MethodTool) else inner
    if isinstance(item, MethodTool):
        raise ContractError(
            f"{where_function(item.handler, item.name)}: the tool is a method; give it bound to an instance, "
            f"as instance.{getattr(item.handler, '__name__', item.name)}"
        )
    return None


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
    except Exception:  # noqa: BLE001 - of what cannot be read, the SDK tells what it tells of its own tools
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
    for parameter in rest:
        if parameter.kind in _KINDS:
            raise ContractError(
                f"{where}: the parameter {parameter} cannot be described to a client; name each argument, or take "
                "a dict. A decorator between @tool and the function must use functools.wraps"
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
    return Signature(rest, returns, context, reasons)


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


def _name_of(fn: Callable[..., Any]) -> str:
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
    """Whether `fn` stands in the body of a class and takes an instance first."""
    if not inspect.isfunction(fn):
        return False
    around, _, _ = fn.__qualname__.rpartition(".")
    if not around or around.endswith("<locals>"):
        return False
    first = next(iter(inspect.signature(fn).parameters.values()), None)
    if first is None or first.kind in _KINDS:
        return False
    return first.name in ("self", "cls") or (first.annotation is inspect.Parameter.empty and first.name != "ctx")
