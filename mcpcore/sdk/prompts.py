"""Prompts with contracts among those of the SDK."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from mcp.server.mcpserver.prompts import Prompt
from mcp.server.mcpserver.prompts.base import Message, PromptArgument

from mcpcore.contract.failure_modes import ContractError
from mcpcore.sdk.handlers import OfDeclared, answer, require_served_by_sdk
from mcpcore.sdk.returned import watched_prompt

if TYPE_CHECKING:
    from mcp.server.mcpserver.prompts.manager import PromptManager
    from mcp_types import InputRequiredResult

    from mcpcore.declare.prompt import DeclaredPrompt


class ContractPrompt(OfDeclared, Prompt):
    """A prompt of mcpcore."""

    @classmethod
    def of(cls, declared: DeclaredPrompt[..., Any]) -> Self:
        """The SDK's kind of prompt for `declared`."""
        options, sdk = declared.declaration.options, declared.definition.sdk
        required = sdk.parameters.get("required", ())
        made = cls.model_construct(
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
        made._declared = declared  # noqa: SLF001 - its own
        return made

    async def render(self, arguments: dict[str, Any] | None, context: Any) -> list[Message] | InputRequiredResult:
        """Run the handler, and make messages of its value as the SDK does."""
        return await messages_of(await answer(self._declared, arguments or {}, context), self.name)


async def messages_of(returned: Any, name: str) -> list[Message] | InputRequiredResult:
    """What the handler of the prompt `name` returned, as messages of the SDK.

    Raises:
        ValueError: If it cannot be a message, as the SDK has it; the cause says why.
    """

    async def give() -> Any:
        return returned

    # A prompt without a context needs none for its own function.
    context: Any = None
    return await watched_prompt(Prompt.model_construct(name=name, fn=give)).render(None, context)


def register(manager: PromptManager, declared: DeclaredPrompt[..., Any]) -> None:
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
