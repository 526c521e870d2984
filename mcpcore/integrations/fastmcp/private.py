"""Every private part of FastMCP that mcpcore uses; see `mcpcore.sdk.private` for how the list is tested."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from mcpcore.sdk.private import PrivateUse

if TYPE_CHECKING:
    from fastmcp import Context
    from fastmcp.server.providers.fastmcp_provider import FastMCPProviderTool

_PROVIDERS: Final = "fastmcp.server.providers"

PRIVATE_USES: Final = tuple(
    PrivateUse(owner, attribute, used_in, "4.1.2", reason)
    for owner, attribute, used_in, reason in (
        (f"{_PROVIDERS}.fastmcp_provider:FastMCPProviderTool", "_server", "integrations.fastmcp.private",
         "the mounted server that has a tool, to find the contract tool behind it"),
        (f"{_PROVIDERS}.fastmcp_provider:FastMCPProviderTool", "_original_name", "integrations.fastmcp.private",
         "the name of the tool on that server"),
        (f"{_PROVIDERS}.wrapped_provider:_WrappedProvider", "_inner", "integrations.fastmcp.private",
         "the provider of a mounted server, which FastMCP wraps to add a namespace"),
        ("fastmcp:FastMCP", "_run_middleware", "integrations.fastmcp.private",
         "the function around each middleware, whose defaults are that middleware and the next function of the chain"),
        ("fastmcp.server.dependencies:FastMCPRequestContext", "_srctx", "integrations.fastmcp.private",
         "the SDK's own request, for `ctx.sdk`"),
        ("fastmcp:FastMCP", "_mcp_server", "integrations.fastmcp.private",
         "the SDK's server within it, which the SDK's client connects to; FastMCP's own client does the same"),
        ("fastmcp.tools.function_tool:_ToolBodyError", "", "integrations.fastmcp.errors",
         "the class that wraps a pydantic error from the body of a tool, from FastMCP 4.1 on; it is known by its name"),
    )
)  # fmt: skip
"""The uses, each with the version of FastMCP in which it was read."""


def lowlevel_of(server: object) -> Any:
    """The SDK's server within a FastMCP server; None for any other object."""
    return getattr(server, "_mcp_server", None)


def mounted_tool(tool: FastMCPProviderTool) -> tuple[Any, Any]:
    """The mounted server that has `tool`, and the name of the tool there."""
    return tool._server, tool._original_name  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]


def inner_provider(provider: object) -> Any:
    """The provider that `provider` wraps; None if it wraps none."""
    return getattr(provider, "_inner", None)


def wire_request(context: Context) -> Any:
    """The SDK's own request; None for a call by code on the server."""
    request = context.request_context
    return None if request is None else request._srctx  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]


def link_of_chain(call_next: Any) -> tuple[Any, Any] | None:
    """The middleware that `call_next` calls, and what that calls next; None behind the last middleware."""
    if getattr(call_next, "__qualname__", None) != "FastMCP._run_middleware.<locals>.wrapped":
        return None
    other, following = call_next.__defaults__
    return other, following
