"""`@resource`: a handler for a resource and its contract."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from inspect import Parameter
from typing import TYPE_CHECKING, Any, ClassVar, Concatenate, Generic, cast, overload

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
    as_declared,
    declare,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mcp.server.mcpserver.resources.templates import ResourceSecurity
    from mcp.shared.uri_template import UriTemplate
    from mcp_types import Annotations, Icon
    from typing_extensions import Unpack

    from mcpcore.declare.context import Context
    from mcpcore.declare.keywords import ResourceKeywords
    from mcpcore.declare.signature import ContextNamesAnUndeclaredReason, NoType, Signature


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

    # The order is that of `mcpcore.tool.ToolDecorator`, for the same reasons.
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
