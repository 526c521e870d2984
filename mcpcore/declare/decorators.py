"""`@tool`, `@resource` and `@prompt`: a handler and its contract, tied together; a test calls it like the handler."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from inspect import Parameter
from typing import TYPE_CHECKING, Any, ClassVar, Concatenate, Final, Generic, ParamSpec, TypeVar, cast, overload

from mcpcore import provided
from mcpcore.contract.failure_modes import ContractError, FailureMode
from mcpcore.declare.declaration import (
    Declaration,
    Declared,
    DeclaredMethod,
    P,
    R,
    S,
    S_contra,
    T,
    T_co,
    ToolOptions,
    as_declared,
    declare,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mcp.server.mcpserver.resources.templates import ResourceSecurity
    from mcp.shared.uri_template import UriTemplate
    from mcp_types import Annotations, Icon
    from typing_extensions import Unpack

    from mcpcore._shapes import SeenTool  # pyright: ignore[reportMissingModuleSource]
    from mcpcore.declare.context import Context
    from mcpcore.declare.keywords import PromptKeywords, ResourceKeywords, ToolKeywords
    from mcpcore.declare.signature import ContextNamesAnUndeclaredReason, NoType, Signature

_OPTIONS: Final = tuple(field.name for field in fields(ToolOptions))

MYPY: Final = False
"""True to mypy, which knows the name; see `_shapes.pyi`."""

Q = ParamSpec("Q")
U = TypeVar("U")


class Tool(Declared[P, T_co]):
    """A tool: in a unit test, call it like its handler and leave out `ctx`.

    ```python
    @tool
    def double(number: int) -> int:
        '''Double a number.'''
        return 2 * number

    assert double(number=4) == 8
    assert double.handler(4) == 8
    ```
    """

    def with_options(self, **options: Any) -> Tool[P, T_co]:
        """The same tool with other options."""
        declared = self.declaration
        return Tool(
            Declaration(declared.handler, replace(declared.options, **options), method=declared.method),
            bound=self._bound,
        )

    if TYPE_CHECKING and not MYPY:
        # A handler in a class is a MethodTool; a checker that sees no context cannot tell, and asks here.
        @overload
        def __get__(self, instance: None, owner: type[Any]) -> Tool[P, T_co]: ...
        @overload
        def __get__(self: Tool[Concatenate[S, Q], U], instance: S, owner: type[Any] | None = None) -> Tool[Q, U]: ...
        @overload
        def __get__(self, instance: object, owner: type[Any] | None = None) -> Tool[..., T_co]: ...
        def __get__(self, instance: object, owner: type[Any] | None = None) -> Any: ...


class MethodTool(DeclaredMethod[S_contra, P, T_co]):
    """A tool that is a method: reached through an instance, it is a `Tool` of that instance."""

    kind = Tool

    @overload
    def __get__(self, instance: None, owner: type[Any]) -> MethodTool[S_contra, P, T_co]: ...
    @overload
    def __get__(self, instance: S_contra, owner: type[Any] | None = None) -> Tool[P, T_co]: ...
    def __get__(
        self, instance: S_contra | None, owner: type[Any] | None = None
    ) -> MethodTool[S_contra, P, T_co] | Tool[P, T_co]:
        """The tool of `instance`; on the class, the declaration itself."""
        return self if instance is None else self.bind(instance)

    def bind(self, instance: S_contra) -> Tool[P, T_co]:
        """The tool of `instance`."""
        return cast("Tool[P, T_co]", self.bound_to(instance))


class ToolDecorator(Generic[R]):
    """What `@tool(...)` returns: it ties a handler to the contract."""

    def __init__(self, options: ToolOptions) -> None:
        """Use `tool(...)` instead."""
        self._options = options

    # Only mypy reads a block that never runs; it gets its types from `_shapes.pyi`.
    if False:  # pragma: no cover - it never runs
        if MYPY:

            def __call__(self, fn: Callable[P, T], /) -> SeenTool[P, T]:
                """Make `fn` a tool."""

    # Checkers take the first overload that fits. The first two are for a first parameter without a type, which may be a
    # context; the next two for a context that names declared reasons only; then come those for a context that names
    # others, and for a handler without a context. mypy gives up on overloads if an argument has an Any in its type.
    if not MYPY:

        @overload
        def __call__(self, fn: Callable[Concatenate[NoType, P], T], /) -> Tool[..., T]: ...
        @overload
        def __call__(self, fn: Callable[Concatenate[S, NoType, P], T], /) -> Tool[..., T]: ...
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
            return make_tool(fn, self._options)


if False:  # as above
    if MYPY:
        from mcpcore._shapes import tool as tool  # noqa: PLC0414 - mypy asks for it of a name that others import
if not MYPY:

    @overload
    def tool(fn: Callable[Concatenate[NoType, P], T], /) -> Tool[..., T]: ...
    @overload
    def tool(fn: Callable[Concatenate[S, NoType, P], T], /) -> Tool[..., T]: ...
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
        **options: Unpack[ToolKeywords],
    ) -> ToolDecorator[R]: ...
    @overload
    def tool(
        **options: Unpack[ToolKeywords],
    ) -> ToolDecorator[Any]: ...
    def tool(fn: Callable[..., Any] | None = None, /, **options: Any) -> Any:
        """Make a function a tool of an MCP server: `@tool`, `@tool()` or `@tool(errors=[FailureMode(...), ...])`.

        The handler may be sync (it runs in a worker thread) or async; its first parameter may be a `Context`.

        ```python
        @tool(
            errors=[
                FailureMode("no_order", ErrorCode.NOT_FOUND, when="There is no order.", recovery="Call list_orders.")
            ],
            timeout=5,
        )
        def get_order(ctx: Context[Literal["no_order"]], order_id: int) -> str:
            '''Get an order by its number.'''
            raise ctx.fail("no_order", data={"order_id": order_id})
        ```

        Args:
            fn: The handler, where the decorator is used without parentheses.
            **options: `errors`, the contract; `name`, the function's own where left out; `title`, `description` (the
                docstring where left out), `annotations`, `icons`, `meta` and `structured_output`, as the SDK takes
                them; `timeout`, the seconds that a call may take; `max_concurrency`, the calls that may run
                concurrently; `auth`, the scopes that the access token of the caller needs; `read_only`, `idempotent`
                and `destructive`, the hints of these names in the annotations. From them follows the advice of a
                failure that declares neither `retry` nor `effects`: a call of a read-only tool changed nothing, and
                one of an idempotent tool can be repeated. A timeout or a crash of any other tool may have changed
                something, so the caller is not advised to repeat it.

        Raises:
            ContractError: At import, if the contract or the handler cannot stand.
            TypeError: If an option is unknown.
        """
        _check_names(options)
        return _applied(ToolDecorator(ToolOptions(**options)), fn, "tool")


def _applied(decorator: Callable[[Any], Any], fn: Any, noun: str) -> Any:
    """What the decorator makes of `fn`, where it is used without parentheses; else the decorator itself."""
    if fn is None:
        return decorator
    if not callable(fn) and not isinstance(fn, staticmethod | classmethod):
        raise ContractError(
            f"{noun}({fn!r}): a handler is a function; give everything else by keyword, such as {noun}(name={fn!r})"
        )
    return decorator(fn)


def _check_names(options: Mapping[str, object]) -> None:
    for name in options:
        if name not in _OPTIONS:
            raise TypeError(
                f"@tool has no option {name!r}; its options are {', '.join(_OPTIONS)}. "
                "An option of FastMCP, such as tags, belongs to @mcp.tool above it"
            )


def make_tool(fn: Callable[..., Any], options: ToolOptions) -> Tool[..., Any] | MethodTool[Any, ..., Any]:
    """Tie a handler to its options, as a tool or as a tool that is a method."""
    return cast("Tool[..., Any]", declare(fn, partial(Declaration, options=options), MethodTool))


def as_tool(item: object) -> Tool[..., Any] | None:
    """The mcpcore tool that `item` is, bound if it is a method; None if it is not one."""
    return cast("Tool[..., Any] | None", as_declared(item, MethodTool))


# Internal, so not frozen: freezing slows the import.
@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class ResourceOptions:
    """The arguments of the decorator: those of the SDK's own registration, and the contract.

    Attributes:
        uri: The URI, or a template of URIs (RFC 6570) whose variables are the parameters of the handler.
        name: The name of the resource; by default, the name of the function.
        title: A name for people.
        description: The content of the resource in a sentence; by default, the docstring of the function.
        mime_type: The MIME type of the content; by default, `text/plain`.
        icons: Pictures for the user interface of a host.
        annotations: The SDK's hints for hosts, such as the audience and the priority.
        meta: The `_meta` of the resource in its listing; the contract is added under `dev.mcpcore/errors`.
        security: The SDK's checks of the variables of a template; by default, those of the server.
        errors: The contract: a `FailureMode` for each way in which the resource fails that its author knows.
    """

    uri: str
    name: str | None = None
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    icons: list[Icon] | None = None
    annotations: Annotations | None = None
    meta: dict[str, Any] | None = None
    security: ResourceSecurity | None = None
    errors: Sequence[FailureMode[Any]] = ()


class ResourceDeclaration(Declaration):
    """A resource's handler, its options and its contract."""

    noun: ClassVar[str] = "resource"

    @cached_property
    def template(self) -> UriTemplate:
        """The parsed URI; a static resource has no variables in it."""
        uri = self.options.uri
        if not isinstance(uri, str):
            raise ContractError(f"{self.where}: the URI must be a string; write @resource('data://{self.name}')")
        try:
            template: UriTemplate = provided("UriTemplate").parse(uri)
        except ValueError as exc:
            raise ContractError(f"{self.where}: the URI {uri!r} is not a template: {exc}") from exc
        return template

    def _read(self) -> Signature:
        signature = super()._read()
        variables = set(self.template.variable_names)
        parameters = {parameter.name: parameter for parameter in signature.parameters}
        uri = self.options.uri
        for name in sorted(variables - parameters.keys()):
            raise ContractError(
                f"{self.where}: the URI {uri!r} has {{{name}}}; add a parameter {name!r} to the handler"
            )
        for name in sorted(parameters.keys() - variables):
            raise ContractError(
                f"{self.where}: the parameter {name!r} is not in the URI {uri!r}; add {{{name}}} to the URI, or remove "
                "the parameter"
            )
        for name in self.template.query_variable_names:
            if parameters[name].default is Parameter.empty:
                raise ContractError(
                    f"{self.where}: a client may leave the query variable {name!r} out of {uri!r}; give the parameter "
                    "a default"
                )
        return signature


class DeclaredResource(Declared[P, T_co]):
    """A resource: in a unit test, call it like its handler and leave out `ctx`."""

    noun = "resource"

    @property
    def uri(self) -> str:
        """The URI, or the template of the URIs, that clients read."""
        return str(self.declaration.options.uri)


class MethodResource(DeclaredMethod[S_contra, P, T_co]):
    """A resource that is a method: reached through an instance, it is a `DeclaredResource` of that instance."""

    kind = DeclaredResource

    @overload
    def __get__(self, instance: None, owner: type[Any]) -> MethodResource[S_contra, P, T_co]: ...
    @overload
    def __get__(self, instance: S_contra, owner: type[Any] | None = None) -> DeclaredResource[P, T_co]: ...
    def __get__(
        self, instance: S_contra | None, owner: type[Any] | None = None
    ) -> MethodResource[S_contra, P, T_co] | DeclaredResource[P, T_co]:
        """The resource of `instance`; on the class, the declaration itself."""
        return self if instance is None else cast("DeclaredResource[P, T_co]", self.bound_to(instance))


class ResourceDecorator(Generic[R]):
    """The decorator that `resource(...)` returns: it ties a handler to the contract."""

    def __init__(self, options: ResourceOptions) -> None:
        """Use `resource(...)` instead."""
        self._options = options

    # The order is that of `ToolDecorator`, for the same reasons.
    @overload
    def __call__(self, fn: Callable[Concatenate[NoType, P], T], /) -> DeclaredResource[..., T]: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, fn: Callable[Concatenate[S, NoType, P], T], /) -> DeclaredResource[..., T]: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, fn: Callable[Concatenate[Context[R, Any], P], T], /) -> DeclaredResource[P, T]: ...  # type: ignore[overload-overlap]  # pyright: ignore[reportOverlappingOverload]
    @overload
    def __call__(self, fn: Callable[Concatenate[S, Context[R, Any], P], T], /) -> MethodResource[S, P, T]: ...  # type: ignore[overload-overlap]  # pyright: ignore[reportOverlappingOverload]
    @overload
    def __call__(self, fn: Callable[Concatenate[Context[str, Any], P], T], /) -> ContextNamesAnUndeclaredReason: ...
    @overload
    def __call__(self, fn: Callable[Concatenate[S, Context[str, Any], P], T], /) -> ContextNamesAnUndeclaredReason: ...
    @overload
    def __call__(self, fn: Callable[P, T], /) -> DeclaredResource[P, T]: ...
    def __call__(self, fn: Callable[..., Any], /) -> Any:
        """Make `fn` a resource.

        Raises:
            ContractError: If the contract or the handler cannot be served; the message names the file, the resource
                and the problem.
        """
        return declare(fn, partial(ResourceDeclaration, options=self._options), MethodResource)


@overload
def resource(
    uri: str,
    *,
    errors: Sequence[FailureMode[R]],
    **options: Unpack[ResourceKeywords],
) -> ResourceDecorator[R]: ...
@overload
def resource(
    uri: str,
    **options: Unpack[ResourceKeywords],
) -> ResourceDecorator[Any]: ...
def resource(uri: str, **options: Any) -> Any:
    """Make a function a resource of an MCP server: `@resource("articles://{pmid}", errors=[FailureMode(...), ...])`.

    The handler may be sync (it runs in a worker thread) or async; its first parameter may be a `Context`, also where
    the URI has no variables. Its other parameters are the variables of the URI.

    ```python
    @resource(
        "articles://{pmid}",
        errors=[
            FailureMode("no_article", ErrorCode.NOT_FOUND, when="There is no article.", recovery="Search for an id.")
        ],
    )
    def article(ctx: Context[Literal["no_article"]], pmid: str) -> str:
        '''An article by its id.'''
        raise ctx.fail("no_article", data={"pmid": pmid})
    ```

    Args:
        uri: The URI, or a template of URIs (RFC 6570).
        **options: `errors`, the contract; `name`, the function's own if left out; `title`, `description` (the
            docstring if left out), `mime_type`, `icons`, `annotations`, `meta` and `security`, as the SDK takes them.

    Raises:
        ContractError: At import, if the URI, the contract or the handler cannot be served.
    """
    if callable(uri):
        raise ContractError("@resource needs the URI: write @resource('data://name') above the function")
    return ResourceDecorator(ResourceOptions(uri=uri, **options))


def as_resource(item: object) -> DeclaredResource[..., Any] | None:
    """The resource of mcpcore that `item` is, bound if it is a method; None if it is not one."""
    return cast("DeclaredResource[..., Any] | None", as_declared(item, MethodResource))


# In the order in which the SDK takes them by position. Internal, so not frozen: freezing slows the import.
@dataclass(slots=True, eq=False, repr=False)
class PromptOptions:
    """The arguments of the decorator: those of the SDK's own registration, and the contract.

    Attributes:
        name: The name of the prompt; by default, the name of the function.
        title: A name for people.
        description: The purpose of the prompt; by default, the docstring of the function.
        icons: Pictures for the user interface of a host.
        errors: The contract: a `FailureMode` for each way in which the prompt fails that its author knows.
    """

    name: str | None = None
    title: str | None = None
    description: str | None = None
    icons: list[Icon] | None = None
    errors: Sequence[FailureMode[Any]] = ()


class PromptDeclaration(Declaration):
    """A prompt's handler, its options and its contract."""

    noun: ClassVar[str] = "prompt"


class DeclaredPrompt(Declared[P, T_co]):
    """A prompt: in a unit test, call it like its handler and leave out `ctx`."""

    noun = "prompt"


class MethodPrompt(DeclaredMethod[S_contra, P, T_co]):
    """A prompt that is a method: reached through an instance, it is a `DeclaredPrompt` of that instance."""

    kind = DeclaredPrompt

    @overload
    def __get__(self, instance: None, owner: type[Any]) -> MethodPrompt[S_contra, P, T_co]: ...
    @overload
    def __get__(self, instance: S_contra, owner: type[Any] | None = None) -> DeclaredPrompt[P, T_co]: ...
    def __get__(
        self, instance: S_contra | None, owner: type[Any] | None = None
    ) -> MethodPrompt[S_contra, P, T_co] | DeclaredPrompt[P, T_co]:
        """The prompt of `instance`; on the class, the declaration itself."""
        return self if instance is None else cast("DeclaredPrompt[P, T_co]", self.bound_to(instance))


class PromptDecorator(Generic[R]):
    """The decorator that `prompt(...)` returns: it ties a handler to the contract."""

    def __init__(self, options: PromptOptions) -> None:
        """Use `prompt(...)` instead."""
        self._options = options

    # The order is that of `ToolDecorator`, for the same reasons.
    @overload
    def __call__(self, fn: Callable[Concatenate[NoType, P], T], /) -> DeclaredPrompt[..., T]: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, fn: Callable[Concatenate[S, NoType, P], T], /) -> DeclaredPrompt[..., T]: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, fn: Callable[Concatenate[Context[R, Any], P], T], /) -> DeclaredPrompt[P, T]: ...  # type: ignore[overload-overlap]  # pyright: ignore[reportOverlappingOverload]
    @overload
    def __call__(self, fn: Callable[Concatenate[S, Context[R, Any], P], T], /) -> MethodPrompt[S, P, T]: ...  # type: ignore[overload-overlap]  # pyright: ignore[reportOverlappingOverload]
    @overload
    def __call__(self, fn: Callable[Concatenate[Context[str, Any], P], T], /) -> ContextNamesAnUndeclaredReason: ...
    @overload
    def __call__(self, fn: Callable[Concatenate[S, Context[str, Any], P], T], /) -> ContextNamesAnUndeclaredReason: ...
    @overload
    def __call__(self, fn: Callable[P, T], /) -> DeclaredPrompt[P, T]: ...
    def __call__(self, fn: Callable[..., Any], /) -> Any:
        """Make `fn` a prompt.

        Raises:
            ContractError: If the contract or the handler cannot be served; the message names the file, the prompt
                and the problem.
        """
        return declare(fn, partial(PromptDeclaration, options=self._options), MethodPrompt)


@overload
def prompt(fn: Callable[Concatenate[NoType, P], T], /) -> DeclaredPrompt[..., T]: ...  # type: ignore[overload-overlap]
@overload
def prompt(fn: Callable[Concatenate[S, NoType, P], T], /) -> DeclaredPrompt[..., T]: ...
@overload
def prompt(fn: Callable[Concatenate[Context[Any, Any], P], T], /) -> DeclaredPrompt[P, T]: ...  # type: ignore[overload-overlap]  # pyright: ignore[reportOverlappingOverload]
@overload
def prompt(fn: Callable[Concatenate[S, Context[Any, Any], P], T], /) -> MethodPrompt[S, P, T]: ...  # pyright: ignore[reportOverlappingOverload]
@overload
def prompt(fn: Callable[P, T], /) -> DeclaredPrompt[P, T]: ...
@overload
def prompt(
    *,
    errors: Sequence[FailureMode[R]],
    **options: Unpack[PromptKeywords],
) -> PromptDecorator[R]: ...
@overload
def prompt(
    **options: Unpack[PromptKeywords],
) -> PromptDecorator[Any]: ...
def prompt(fn: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Make a function a prompt of an MCP server: `@prompt`, `@prompt()` or `@prompt(errors=[FailureMode(...), ...])`.

    The handler may be sync (it runs in a worker thread) or async; its first parameter may be a `Context`. It returns
    what a prompt of the SDK returns: a text, a message, a content block, or a list of these.

    ```python
    @prompt(
        errors=[
            FailureMode("no_style", ErrorCode.NOT_FOUND, when="The style is unknown.", recovery="Call list_styles.")
        ]
    )
    def review(ctx: Context[Literal["no_style"]], style: str) -> str:
        '''Ask for a review in a style.'''
        if style not in ("short", "long"):
            raise ctx.fail("no_style")
        return f"Write a {style} review."
    ```

    Args:
        fn: The handler, if the decorator is used without parentheses.
        **options: `errors`, the contract; `name`, the function's own if left out; `title`, `description` (the
            docstring if left out) and `icons`, as the SDK takes them.

    Raises:
        ContractError: At import, if the contract or the handler cannot be served.
    """
    return _applied(PromptDecorator(PromptOptions(**options)), fn, "prompt")


def as_prompt(item: object) -> DeclaredPrompt[..., Any] | None:
    """The prompt of mcpcore that `item` is, bound if it is a method; None if it is not one."""
    return cast("DeclaredPrompt[..., Any] | None", as_declared(item, MethodPrompt))
