"""What tests take for a server: a server of mcpcore, of the SDK or of FastMCP, and the parts of it that they need."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, cast

from mcp.server import Server as LowLevelServer
from mcp.server.mcpserver import MCPServer

from mcpcore.sdk.private import lowlevel_of

if TYPE_CHECKING:
    from mcpcore.declare.declaration import Declaration


def connectable(server: object, *, taker: str = "tool_client") -> MCPServer[Any] | LowLevelServer[Any]:
    """What the client of the SDK connects to in memory.

    Raises:
        TypeError: If `server` is not a server; the message names the `taker`.
    """
    if isinstance(server, MCPServer | LowLevelServer):
        return server
    # FastMCP takes long to import, and before that, no object is one of its servers.
    if "fastmcp" in sys.modules:
        from mcpcore.integrations.fastmcp.private import lowlevel_of as lowlevel_of_fastmcp

        lowlevel = lowlevel_of_fastmcp(server)
        if isinstance(lowlevel, LowLevelServer):
            return lowlevel
    raise TypeError(
        f"{taker}(...) takes a Server, an MCPServer or a FastMCP server, not {type(server).__name__}; for a server "
        "that runs elsewhere, use mcp.Client"
    )


def lowlevel_server(server: object) -> LowLevelServer[Any]:
    """The SDK's own server within `server`, which sees every message.

    Raises:
        TypeError: If `server` is not a server.
    """
    connected = connectable(server)
    return cast("LowLevelServer[Any]", lowlevel_of(connected) if isinstance(connected, MCPServer) else connected)


async def declared_tools(server: Any) -> dict[str, Declaration]:
    """The tools of `server` that mcpcore declares, by the names that clients know; none on a low-level server."""
    if isinstance(server, LowLevelServer):
        return {}
    if isinstance(server, MCPServer):
        from mcpcore.sdk.tools import registered_on

        registered = registered_on(server)
    else:
        from mcpcore.integrations.fastmcp.components import registered_on as registered_on_fastmcp

        registered = registered_on_fastmcp(server)
    declared = {tool.name: (await registered("tool", tool.name)).declaration for tool in await server.list_tools()}
    return {name: declaration for name, declaration in declared.items() if declaration is not None}
