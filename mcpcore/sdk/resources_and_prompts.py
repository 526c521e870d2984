"""Resources and prompts with contracts among those of the SDK."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from mcp.server.mcpserver.prompts import Prompt
from mcp.server.mcpserver.prompts.base import Message, PromptArgument
from mcp.server.mcpserver.resources import FunctionResource, Resource, ResourceManager, ResourceTemplate
from mcp_types import InputRequiredResult

from mcpcore.contract.failure_modes import ContractError
from mcpcore.sdk.handlers import OfDeclared, answer, require_served_by_sdk
from mcpcore.sdk.returned import watched, watched_prompt

if TYPE_CHECKING:
    from mcp.server.mcpserver.prompts.manager import PromptManager
    from mcp.server.mcpserver.resources.templates import ResourceSecurity

    from mcpcore.declare.decorators import DeclaredPrompt, DeclaredResource


class ContractResource(OfDeclared, Resource):
    """A resource without variables in its URI."""

    @classmethod
    def of(cls, declared: DeclaredResource[..., Any]) -> Self:
        """The SDK's kind of resource for `declared`."""
        # `@resource` has checked all of it, so nothing is validated again.
        return cls.model_construct(_declared=declared, uri=declared.uri, **_described(declared))

    async def read(self) -> str | bytes:
        """Run the handler, and write its value as the SDK does."""
        return await content_of_resource(await answer(self._declared, {}, None))


async def content_of_resource(returned: Any) -> str | bytes:
    """What the handler of a resource returned, as the SDK writes it.

    Raises:
        ReturnedError: If it is an exception, or there are exceptions within it.
    """
    # The SDK's own class converts the value, so that a resource with a contract and one without send the same bytes.
    return await watched(FunctionResource.model_construct(fn=_giving(returned))).read()


class ContractTemplate(OfDeclared, ResourceTemplate):
    """A resource with variables in its URI."""

    @classmethod
    def of(cls, declared: DeclaredResource[..., Any], *, security: ResourceSecurity) -> Self:
        """The SDK's kind of template for `declared`; `security` is the server's own policy."""
        declaration: Any = declared.declaration
        return cls.model_construct(
            _declared=declared,
            uri_template=declared.uri,
            fn=declared.handler,
            parameters=declared.definition.sdk.parameters,
            context_kwarg=None,
            parsed_template=declaration.template,
            security=declaration.options.security or security,
            **_described(declared),
        )

    async def create_resource(self, uri: str, params: dict[str, Any], context: Any) -> Resource | InputRequiredResult:
        """Run the handler for a URI that matches the template."""
        returned = await answer(self._declared, params, context)
        if isinstance(returned, InputRequiredResult):
            return returned
        # The SDK reads the resource that it gets here. The handler has run already, so its value is all that is left to
        # write.
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
    # The SDK would run a sync function in a worker thread.
    async def give() -> Any:
        return value

    return give


def register_resource(
    manager: ResourceManager, declared: DeclaredResource[..., Any], *, security: ResourceSecurity
) -> None:
    """Add a resource of mcpcore to those of a server.

    Raises:
        ContractError: If the server has a resource of that URI already, or only FastMCP can run the handler.
    """
    require_served_by_sdk(declared)
    uri = declared.uri
    templates = manager._templates  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
    # The SDK would keep the first resource.
    if uri in templates or uri in manager._resources:  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
        raise ContractError(
            f"{declared.declaration.where}: the server already has a resource at {uri!r}; give one of them another URI"
        )
    declaration: Any = declared.declaration
    if declaration.template.variable_names:
        templates[uri] = ContractTemplate.of(declared, security=security)
    else:
        manager.add_resource(ContractResource.of(declared))


class ContractPrompt(OfDeclared, Prompt):
    """A prompt of mcpcore."""

    @classmethod
    def of(cls, declared: DeclaredPrompt[..., Any]) -> Self:
        """The SDK's kind of prompt for `declared`."""
        options, sdk = declared.declaration.options, declared.definition.sdk
        required = sdk.parameters.get("required", ())
        return cls.model_construct(
            _declared=declared,
            name=declared.name,
            title=options.title,
            description=sdk.description,
            icons=options.icons,
            arguments=[
                PromptArgument(name=name, description=schema.get("description"), required=name in required)
                for name, schema in sdk.parameters.get("properties", {}).items()
            ],
            fn=declared.handler,
            context_kwarg=None,
        )

    async def render(self, arguments: dict[str, Any] | None, context: Any) -> list[Message] | InputRequiredResult:
        """Run the handler, and make messages of its value as the SDK does."""
        return await messages_of_prompt(await answer(self._declared, arguments or {}, context), self.name)


async def messages_of_prompt(returned: Any, name: str) -> list[Message] | InputRequiredResult:
    """What the handler of the prompt `name` returned, as messages of the SDK.

    Raises:
        ValueError: If it cannot be a message, as the SDK has it; the cause says why.
    """
    # A prompt without a context needs none for its own function.
    context: Any = None
    return await watched_prompt(Prompt.model_construct(name=name, fn=_giving(returned))).render(None, context)


def register_prompt(manager: PromptManager, declared: DeclaredPrompt[..., Any]) -> None:
    """Add a prompt of mcpcore to those of a server.

    Raises:
        ContractError: If the server has a prompt of that name already, or only FastMCP can run the handler.
    """
    require_served_by_sdk(declared)
    if manager.get_prompt(declared.name) is not None:
        raise ContractError(
            f"{declared.declaration.where}: the server already has a prompt {declared.name!r}; give one of them "
            "another name"
        )
    manager.add_prompt(ContractPrompt.of(declared))
