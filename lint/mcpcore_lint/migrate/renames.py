"""The names that version 2 of the SDK changed, and the classes that mcpcore's `Server` replaces."""

from __future__ import annotations

from typing import Final

SERVER: Final = ("mcpcore", "Server")
OLD_PACKAGE: Final = "mcp.server.fastmcp"
NEW_PACKAGE: Final = "mcp.server.mcpserver"

_SERVERS: Final = {
    (OLD_PACKAGE, "FastMCP"),
    (f"{OLD_PACKAGE}.server", "FastMCP"),
    ("mcp.server", "FastMCP"),
    (NEW_PACKAGE, "MCPServer"),
    (f"{NEW_PACKAGE}.server", "MCPServer"),
    ("mcp.server", "MCPServer"),
}

ATTRIBUTES: Final = {
    "isError": "is_error",
    "inputSchema": "input_schema",
    "outputSchema": "output_schema",
    "structuredContent": "structured_content",
    "readOnlyHint": "read_only_hint",
    "destructiveHint": "destructive_hint",
    "idempotentHint": "idempotent_hint",
    "openWorldHint": "open_world_hint",
    "mimeType": "mime_type",
    "uriTemplate": "uri_template",
    "resourceTemplates": "resource_templates",
    "serverInfo": "server_info",
    "clientInfo": "client_info",
    "protocolVersion": "protocol_version",
    "nextCursor": "next_cursor",
    "listChanged": "list_changed",
    "progressToken": "progress_token",
    "requestedSchema": "requested_schema",
    "stopReason": "stop_reason",
    "maxTokens": "max_tokens",
    "systemPrompt": "system_prompt",
    "modelPreferences": "model_preferences",
    "websiteUrl": "website_url",
}
"""Fields of the SDK's types. Version 2 reads them by their Python names only."""

POSITIONAL: Final = ("name", "instructions", "website_url", "icons", "auth_server_provider", "token_verifier")
"""The positional parameters of FastMCP in version 1, of which version 2 has only the first at its place."""

GONE: Final = frozenset(
    {"host", "port", "mount_path", "sse_path", "message_path", "streamable_http_path", "json_response",
     "stateless_http", "transport_security", "event_store", "retry_interval"}
)  # fmt: skip
"""Options of FastMCP in version 1 that version 2 takes where the server is run."""
REMOVED: Final = {
    ("mcp.shared.memory", "create_connected_server_and_client_session"): "connect with mcp.Client(server) instead",
    ("mcp.shared.context", "RequestContext"): "version 2 has mcp.server.context.ServerRequestContext instead",
}
"""Names that version 2 does not have, each with what to do."""


def renamed(package: str, name: str) -> tuple[str, str] | None:
    """The package and the name that an import gets; None if it stays."""
    if (package, name) in _SERVERS:
        return SERVER
    if name == "McpError" and package in {"mcp", "mcp.shared", "mcp.shared.exceptions"}:
        return package, "MCPError"
    if package == OLD_PACKAGE or package.startswith(f"{OLD_PACKAGE}."):
        return NEW_PACKAGE + package.removeprefix(OLD_PACKAGE), name
    return None


def renamed_path(path: str) -> str | None:
    """The new spelling of a dotted path in a string, as for `patch(...)`; None if it stays."""
    for package, name in _SERVERS:
        server = f"{package}.{name}"
        if name == "FastMCP" and (path == server or path.startswith(f"{server}.")):
            return ".".join(SERVER) + path.removeprefix(server)
    if path == OLD_PACKAGE or path.startswith(f"{OLD_PACKAGE}."):
        return NEW_PACKAGE + path.removeprefix(OLD_PACKAGE)
    if path in {"mcp.McpError", "mcp.shared.exceptions.McpError"}:
        return path.replace("McpError", "MCPError")
    return None
