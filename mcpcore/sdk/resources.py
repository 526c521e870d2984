"""Resources with contracts among those of the SDK."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from mcp.server.mcpserver.resources import FunctionResource, Resource, ResourceManager, ResourceTemplate
from mcp_types import InputRequiredResult

from mcpcore.contract.failure_modes import ContractError
from mcpcore.sdk.handlers import OfDeclared, answer, require_served_by_sdk
from mcpcore.sdk.returned import watched

if TYPE_CHECKING:
    from mcp.server.mcpserver.resources.templates import ResourceSecurity

    from mcpcore.declare.resource import DeclaredResource


class ContractResource(OfDeclared, Resource):
    """A resource without variables in its URI."""

    @classmethod
    def of(cls, declared: DeclaredResource[..., Any]) -> Self:
        """The SDK's kind of resource for `declared`."""
        made = cls.model_construct(uri=declared.uri, **_described(declared))
        made._declared = declared  # noqa: SLF001 - its own
        return made

    async def read(self) -> str | bytes:
        """Run the handler, and write its value as the SDK does."""
        return await content_of(await answer(self._declared, {}, None))


async def content_of(returned: Any) -> str | bytes:
    """What the handler of a resource returned, as the SDK writes it.

    Raises:
        ReturnedError: If it is an exception, or there are exceptions within it.
    """
    return await watched(FunctionResource.model_construct(fn=_giving(returned))).read()


class ContractTemplate(OfDeclared, ResourceTemplate):
    """A resource with variables in its URI."""

    @classmethod
    def of(cls, declared: DeclaredResource[..., Any], *, security: ResourceSecurity) -> Self:
        """The SDK's kind of template for `declared`; `security` is the server's own policy."""
        declaration: Any = declared.declaration
        made = cls.model_construct(
            uri_template=declared.uri,
            fn=declared.handler,
            parameters=declared.definition.sdk.parameters,
            context_kwarg=None,
            parsed_template=declaration.template,
            security=declaration.options.security or security,
            **_described(declared),
        )
        made._declared = declared  # noqa: SLF001 - its own
        return made

    async def create_resource(self, uri: str, params: dict[str, Any], context: Any) -> Resource | InputRequiredResult:
        """Run the handler for a URI that matches the template."""
        returned = await answer(self._declared, params, context)
        if isinstance(returned, InputRequiredResult):
            return returned
        described = {name: getattr(self, name) for name in _SHARED}
        return FunctionResource.model_construct(uri=uri, fn=_giving(returned), **described)


_SHARED = ("name", "title", "description", "mime_type", "icons", "annotations", "meta")
"""The fields that the SDK's resources and templates have in common."""


def _described(declared: DeclaredResource[..., Any]) -> dict[str, Any]:
    options = declared.declaration.options
    fields = {name: getattr(options, name) for name in _SHARED}
    return {
        **fields,
        "name": declared.name,
        "description": declared.definition.sdk.description,
        # The default of the SDK, which None would replace.
        "mime_type": options.mime_type or "text/plain",
    }


def _giving(value: Any) -> Any:
    async def give() -> Any:
        return value

    return give


def register(manager: ResourceManager, declared: DeclaredResource[..., Any], *, security: ResourceSecurity) -> None:
    """Add a resource of mcpcore to those of a server.

    Raises:
        ContractError: If the server has a resource of that URI already, or only FastMCP can run the handler.
    """
    require_served_by_sdk(declared)
    uri = declared.uri
    templates = manager._templates  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
    if uri in templates or uri in manager._resources:  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
        raise ContractError(
            f"{declared.declaration.where}: the server already has a resource at {uri!r}; give one of them another URI"
        )
    declaration: Any = declared.declaration
    if declaration.template.variable_names:
        templates[uri] = ContractTemplate.of(declared, security=security)
    else:
        manager.add_resource(ContractResource.of(declared))
