"""Every private part of the SDK that mcpcore uses.

Nothing else in the package touches one. `tests/runtime/test_private_uses.py` looks for each entry in the SDK that is
installed, so that a release which moves one fails with a sentence that says what to change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer
    from mcp.server.mcpserver.resources import Resource, ResourceManager, ResourceTemplate
    from mcp.server.mcpserver.tools import Tool, ToolManager
    from mcp.server.mcpserver.utilities.func_metadata import FuncMetadata
    from pydantic import TypeAdapter


class PrivateUse(NamedTuple):
    """A private attribute of a library, and the reason to use it."""

    owner: str
    """The class that has the attribute, as `module:Class`."""

    attribute: str
    used_in: str
    """The modules of mcpcore that use it."""

    version: str
    """The version of the library in which it was read."""

    reason: str


_SERVER: Final = "mcp.server.mcpserver:MCPServer"

PRIVATE_USES: Final = (
    PrivateUse(
        _SERVER, "_handle_call_tool", "sdk.server", "2.3.0",
        "the handler of tools/call: a Server answers it, since the SDK makes texts of all exceptions",
    ),
    PrivateUse(
        _SERVER, "_handle_read_resource", "sdk.server", "2.3.0", "the handler of resources/read, likewise",
    ),
    PrivateUse(
        _SERVER, "_handle_get_prompt", "sdk.server", "2.3.0", "the handler of prompts/get, likewise",
    ),
    PrivateUse(
        _SERVER, "_tool_manager", "sdk.server", "2.3.0", "the registered tools, which have no public list",
    ),
    PrivateUse(
        _SERVER, "_resource_manager", "sdk.server", "2.3.0",
        "the registered resources; a Server replaces it to notice exceptions that a resource returns",
    ),
    PrivateUse(
        _SERVER, "_prompt_manager", "sdk.server", "2.3.0", "the registered prompts, which have no public list",
    ),
    PrivateUse(
        _SERVER, "_resource_security", "sdk.server", "2.3.0", "the policy for variables in URIs, for new templates",
    ),
    PrivateUse(
        _SERVER, "_subscriptions", "sdk.private", "2.3.0", "the bus that the context of a request needs",
    ),
    PrivateUse(
        _SERVER, "_lowlevel_server", "sdk.private", "2.3.0",
        "the server below, which has the handlers and runs on the streams of `mcpcore run`",
    ),
    PrivateUse(
        "mcp.server.mcpserver.tools:ToolManager", "_tools", "sdk.private", "2.3.0",
        "the tools by name: the public method takes functions, and a contract tool is not one",
    ),
    PrivateUse(
        "mcp.server.mcpserver.resources:ResourceManager", "_resources", "sdk.private", "2.3.0",
        "the resources by URI, to refuse a URI that is taken",
    ),
    PrivateUse(
        "mcp.server.mcpserver.resources:ResourceManager", "_templates", "sdk.private", "2.3.0",
        "the templates by URI: the public method takes functions, and a contract resource is not one",
    ),
    PrivateUse(
        "mcp.server.mcpserver.utilities.func_metadata:FuncMetadata", "_output_adapter", "sdk.private", "2.3.0",
        "the validator of results, which the SDK keeps; a second one would cost as much again",
    ),
)  # fmt: skip
"""The uses, each with the version of the SDK in which it was read."""


def lowlevel_of(server: MCPServer[Any]) -> Any:
    """The server of the SDK's lower level that runs `server`."""
    return server._lowlevel_server  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]


def subscriptions_of(server: MCPServer[Any]) -> Any:
    """The bus of `server` for subscriptions to its lists and resources."""
    return server._subscriptions  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]


def set_tool(manager: ToolManager, tool: Tool) -> None:
    """Register a tool that is made already."""
    manager._tools[tool.name] = tool  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]


def has_uri(manager: ResourceManager, uri: str) -> bool:
    """Whether a resource or a template has this URI already."""
    resources: dict[str, Resource] = manager._resources  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
    return uri in resources or uri in manager._templates  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]


def set_template(manager: ResourceManager, template: ResourceTemplate) -> None:
    """Register a template that is made already."""
    manager._templates[template.uri_template] = template  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]


def output_adapter(metadata: FuncMetadata, model: Any) -> TypeAdapter[Any]:
    """The validator and serializer of `model`, the output model of a tool."""
    return metadata._output_adapter(model)  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
