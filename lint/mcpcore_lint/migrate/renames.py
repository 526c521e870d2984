"""The names that version 2 of the SDK changed, and the classes that mcpcore's `Server` replaces."""

import ast
import re
from collections.abc import Collection
from typing import Final, NamedTuple

from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.parse import walk
from mcpcore_lint.records import in_test_file

SERVER: Final = ("mcpcore", "Server")
OLD_PACKAGE: Final = "mcp.server.fastmcp"
NEW_PACKAGE: Final = "mcp.server.mcpserver"

SERVER_CLASSES: Final = frozenset({"mcp.FastMCP", "mcp.MCPServer", "mcpcore.Server"})
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
    "taskSupport": "task_support",
    "elicitationId": "elicitation_id",
    "includeContext": "include_context",
    "stopSequences": "stop_sequences",
    "toolChoice": "tool_choice",
    "toolUseId": "tool_use_id",
    "costPriority": "cost_priority",
    "speedPriority": "speed_priority",
    "intelligencePriority": "intelligence_priority",
    "_mcp_server": "_lowlevel_server",
}
"""Fields of the SDK's types. Version 2 reads them by their Python names only."""

_FASTMCP: Final = re.compile(r"^[ \t]*(?:import|from) fastmcp\b", re.MULTILINE)

_SAME: Final = """
    action annotations argument arguments audience blob cache_scope call cancel capabilities code completion
    completions content contents context create create_message created_at cursor data description elicitation
    elicitations error execution experimental extensions form has_more hints icons id input input_requests
    input_responses instructions jsonrpc last_modified last_updated_at level list logger logging message
    messages meta metadata method mode model name notifications params poll_interval priority progress prompts
    prompts_list_changed reason ref request_id request_state requested requests required required_capabilities
    resource resource_subscriptions resources resources_list_changed result result_type role roots sampling size
    sizes src status status_message subscribe supported supported_versions task task_id tasks temperature text
    theme title tools tools_list_changed total ttl ttl_ms type uri url value values version
"""
FIELDS: Final = frozenset({*ATTRIBUTES, *ATTRIBUTES.values(), *_SAME.split()})
"""The fields of all types of the protocol, in either version."""

UNIONS: Final = frozenset({
    "ClientNotification", "ClientRequest", "ClientResult", "JSONRPCMessage", "ServerNotification", "ServerRequest",
    "ServerResult",
})  # fmt: skip
"""Types of the protocol that were classes around one of several types, and are those types in version 2."""

# SubscriptionFilter is the one type that takes other fields too.
OF_PROTOCOL: Final = re.compile(
    r"mcp\.(?:Tool|CallToolResult|TextContent)|mcp[._]types\.(?!SubscriptionFilter$)[A-Z]\w*"
)
"""The objects of the protocol that have nothing but their fields."""

POSITIONAL: Final = ("name", "instructions", "website_url", "icons", "auth_server_provider", "token_verifier")
"""The positional parameters of FastMCP in version 1, of which version 2 has only the first at its place."""

SDK_2: Final = "SDK 2.0"
FASTMCP_3: Final = "FastMCP 3.0"
FASTMCP_4: Final = "FastMCP 4.0"


class Moved(NamedTuple):
    """Where a release put a name."""

    package: str
    release: str
    name: str = ""
    """The new name; empty if it stays."""


def _moved(old: str, new: str, names: str, release: str = FASTMCP_4) -> dict[tuple[str, str], Moved]:
    return {(old, name): Moved(new, release) for name in names.split()}


MOVED: Final = {
    **_moved("fastmcp.tools.tool", "fastmcp.tools", "Tool ToolResult"),
    **_moved("fastmcp.tools.tool", "fastmcp.tools.function_tool", "FunctionTool ParsedFunction tool"),
    **_moved("fastmcp.tools.tool", "mcp.types", "TextContent ToolAnnotations"),
    **_moved("fastmcp.resources.resource", "fastmcp.resources", "Resource ResourceContent ResourceResult"),
    **_moved("fastmcp.resources.resource", "fastmcp.resources.function_resource", "FunctionResource resource"),
    **_moved("fastmcp.prompts.prompt", "fastmcp.prompts", "Prompt Message PromptArgument PromptResult"),
    **_moved("fastmcp.prompts.prompt", "mcp.types", "PromptMessage TextContent"),
    **_moved("fastmcp.prompts.prompt", "fastmcp.prompts.function_prompt", "FunctionPrompt prompt"),
    **_moved("fastmcp.server.proxy", "fastmcp.server.providers.proxy",
             "FastMCPProxy ProxyClient ProxyPrompt ProxyResource ProxyTemplate ProxyTool StatefulProxyClient"),
    **_moved("fastmcp.server.openapi", "fastmcp.server.providers.openapi",
             "RouteMap MCPType ComponentFn RouteMapFn OpenAPIResource OpenAPIResourceTemplate OpenAPITool"),
    **_moved("fastmcp.server.openapi", "fastmcp.utilities.openapi", "HTTPRoute"),
    **_moved("fastmcp.server.openapi.routing", "fastmcp.server.providers.openapi", "RouteMap MCPType"),
    **_moved("fastmcp.experimental.server.openapi", "fastmcp.server.providers.openapi",
             "RouteMap MCPType ComponentFn RouteMapFn"),
    **_moved("fastmcp.experimental.utilities.openapi", "fastmcp.utilities.openapi", "parse_openapi_to_http_routes"),
    **_moved("fastmcp.server.apps", "fastmcp.apps", "AppConfig ResourceCSP ResourcePermissions"),
    **_moved("fastmcp.server.auth.authorization", "fastmcp.server.auth",
             "AuthCheck AuthContext require_scopes restrict_tag run_auth_checks"),
    **_moved("fastmcp.server.auth.providers.bearer", "fastmcp.server.auth.providers.jwt", "RSAKeyPair"),
    **_moved("fastmcp.server.tasks", "fastmcp.utilities.tasks", "TaskConfig TaskMeta"),
    **_moved("fastmcp.server.tasks.config", "fastmcp.utilities.tasks", "TaskConfig TaskMeta"),
    **_moved("fastmcp.utilities.mcp_config", "fastmcp.mcp_config", "MCPConfig", "FastMCP 2.10"),
    ("fastmcp.server.providers.skills", "SkillsProvider"): Moved(
        "fastmcp.server.providers.skills", FASTMCP_4, "SkillsDirectoryProvider"
    ),
    ("mcp.shared.context", "RequestContext"): Moved("mcp.server.context", SDK_2, "ServerRequestContext"),
    **_moved("mcp.types", "pydantic", "AnyUrl FileUrl", SDK_2),
    ("mcp.types", "Content"): Moved("mcp.types", SDK_2, "ContentBlock"),
    ("mcp.types", "ResourceReference"): Moved("mcp.types", SDK_2, "ResourceTemplateReference"),
}  # fmt: skip
"""Names that a release moved or renamed, besides those of `mcp.server.fastmcp`."""
MODULES: Final = frozenset(
    old for (old, _), moved in MOVED.items() if old.startswith("fastmcp.") and moved.package != old
)
"""The modules of FastMCP that version 4 does not have."""

EITHER: Final = "the server of either version"
LOCAL_HOSTS: Final = frozenset({"127.0.0.1", "localhost", "::1"})
"""The hosts for which servers of the SDK check the headers of requests by default (`TransportSecuritySettings`)."""
HOST_CHECK: Final = (
    "settings.host is set, but version 1 went on to refuse a Host header that is not local",
    "version 2 does not for another host: pass transport_security=TransportSecuritySettings(...)",
)
"""What changes where a server gets another host after it was made, and the next step."""
UNCHECKED: Final = "TransportSecuritySettings(enable_dns_rebinding_protection=False)"
RUN: Final = "give it where the server is run"
UNUSED: Final = "no call that runs the server needs it"
GONE: Final = {
    "mcpcore.Server": {
        **dict.fromkeys(
            ("host", "port", "mount_path", "sse_path", "message_path", "streamable_http_path", "json_response",
             "stateless_http", "transport_security", "event_store", "retry_interval"), (SDK_2, RUN)),
    },
    "fastmcp.FastMCP": {
        **dict.fromkeys(
            ("host", "port", "log_level", "sse_path", "streamable_http_path", "json_response", "stateless_http"),
            (FASTMCP_3, RUN)),
        "debug": (FASTMCP_3, "set FASTMCP_DEBUG"),
        "message_path": (FASTMCP_3, "set FASTMCP_MESSAGE_PATH"),
        **dict.fromkeys(
            ("on_duplicate_tools", "on_duplicate_resources", "on_duplicate_prompts"),
            (FASTMCP_3, "write on_duplicate=, which is for all of them")),
        "tool_serializer": (FASTMCP_3, "return a ToolResult from the tools"),
        "include_tags": (FASTMCP_3, "call enable(tags=..., only=True) of the server"),
        "exclude_tags": (FASTMCP_3, "call disable(tags=...) of the server"),
        "tool_transformations": (FASTMCP_3, "call add_transform(ToolTransform(...)) of the server"),
        "include_fastmcp_meta": (FASTMCP_3, "the metadata is always there"),
        "dependencies": (FASTMCP_3, "list them in fastmcp.json"),
        "sampling_handler": (FASTMCP_4, "call a model from the server itself"),
        "sampling_handler_behavior": (FASTMCP_4, "call a model from the server itself"),
    },
}  # fmt: skip
"""Options of a server that a release removed, each with the release and what to write instead."""
PATHS: Final = frozenset({"sse_path", "streamable_http_path"})
"""Options that FastMCP calls `path` where the server is run."""
WHERE_RUN: Final = {
    "mount_path": (SDK_2, "leave it out, since the messages follow the path at which Starlette mounts the application"),
    "stateless": (SDK_2, "leave it out, and give stateless=True to the StreamableHTTPSessionManager"),
}
"""Options that the methods which run a server of the SDK took in version 1."""
DECORATED: Final = {
    "serializer": (FASTMCP_4, "return a ToolResult from the tool"),
    "exclude_args": (FASTMCP_4, "give the parameter a Depends(...) from fastmcp.dependencies as its default"),
    "enabled": (FASTMCP_3, "call disable(names={...}) of the server"),
}
"""Options of FastMCP's decorators that a release removed."""
TASKS: Final = "call add_extension(TasksExtension()) of the server, from fastmcp_tasks, which fastmcp[tasks] brings"
"""What a server of FastMCP 4 needs for tools that run as tasks, without which it does not start."""
METHODS: Final = {
    "import_server": (
        FASTMCP_4,
        "call mount(), which is live and runs the lifespan and the middleware of the other server",
    ),
    "as_proxy": (FASTMCP_4, "call create_proxy() from fastmcp.server"),
    "add_tool_transformation": (FASTMCP_4, "call add_transform(ToolTransform({name: config}))"),
    "remove_tool": (FASTMCP_4, "call local_provider.remove_tool(), which raises KeyError"),
    **{
        f"get_{kind}": (FASTMCP_3, f"call list_{kind}(), which returns a list")
        for kind in ("tools", "resources", "prompts", "resource_templates")
    },
}
"""Methods of FastMCP servers that a release removed."""
MANAGERS: Final = frozenset({"_tool_manager", "_prompt_manager", "_resource_manager"})
"""Private attributes of FastMCP servers that tests read, and that release 3.0 removed."""
CONTEXT: Final = {
    "get_state": (FASTMCP_3, "await it, and store values that are JSON"),
    "set_state": (FASTMCP_3, "await it, and store values that are JSON"),
    "sample": (FASTMCP_4, "call a model from the server itself"),
    "sample_step": (FASTMCP_4, "call a model from the server itself"),
    "list_roots": (
        FASTMCP_4,
        "write (await ctx.session.list_roots()).roots for clients before protocol 2026-07-28, and take others' paths",
    ),
}
"""Methods of FastMCP's context that a release removed or made async."""
REMOVED: Final = {
    ("mcp.shared.memory", "create_connected_server_and_client_session"): "connect with mcp.Client(server) instead",
    (
        "mcp.client.streamable_http",
        "streamablehttp_client",
    ): "SDK 2.0 has streamable_http_client, which takes http_client=",
    ("mcp.shared.progress", "progress"): "SDK 2.0 has no progress(); report progress through the context",
    ("mcp.types", "Cursor"): "SDK 2.0 has plain strings instead",
    ("mcp.types", "AnyFunction"): "SDK 2.0 has none; write Callable[..., Any]",
    ("fastmcp.server.openapi", "FastMCPOpenAPI"): "FastMCP 4.0 has FastMCP(providers=[OpenAPIProvider(...)]) instead",
    (
        "fastmcp.server.auth",
        "BearerAuthProvider",
    ): "FastMCP 2.11 has JWTVerifier of fastmcp.server.auth.providers.jwt instead",
    ("fastmcp.server.auth.providers.bearer", "BearerAuthProvider"): (
        "FastMCP 2.11 has JWTVerifier of fastmcp.server.auth.providers.jwt instead"
    ),
    **{
        ("fastmcp.server.middleware.tool_injection", f"{kind}ToolMiddleware"): (
            f"FastMCP 3.0 has server.add_transform({kind}sAsTools(server)) of fastmcp.server.transforms instead"
        )
        for kind in ("Prompt", "Resource")
    },
    ("fastmcp.client.transports", "WSTransport"): "FastMCP 3.0 has StreamableHttpTransport instead",
}
"""Names that a release removed, each with what to do."""


LISTING: Final = frozenset({"list_tools", "list_prompts", "list_resources", "list_resource_templates"})
"""Methods of a client that take a page."""
REQUESTS: Final = "SDK 2.0 has add_request_handler(method, params, function), and tests connect with mcp.Client(server)"
"""What to write instead of the handlers by the class of their requests."""


def renamed(package: str, name: str) -> tuple[str, str] | None:
    """The package and the name that an import gets; None if it stays."""
    if (package, name) in _SERVERS:
        return SERVER
    if name == "McpError" and package in {"mcp", "mcp.shared", "mcp.shared.exceptions"}:
        return package, "MCPError"
    if package == OLD_PACKAGE or package.startswith(f"{OLD_PACKAGE}."):
        return NEW_PACKAGE + package.removeprefix(OLD_PACKAGE), name
    moved = MOVED.get((package, name))
    return (moved.package, moved.name or name) if moved is not None else None


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


def servers_in(node: ast.AST | None) -> list[ast.ImportFrom]:
    """The imports of the server in a `try`, from either version."""
    parts = [part for part in walk([node]) if isinstance(part, ast.ImportFrom)] if isinstance(node, ast.Try) else []
    return [part for part in parts if any(renamed(part.module or "", name.name) == SERVER for name in part.names)]


def serves_either(module: Module) -> bool:
    """Whether a file imports the server from version 2, or else from version 1, which has no contracts."""
    return any(len(servers_in(part)) > 1 for part in module.tree.body)


def members_renamed(modules: Collection[Module], *, version_1: bool) -> tuple[frozenset[str], frozenset[str]]:
    """The fields of the SDK to rename and the private attributes of FastMCP 2 to list, without those of own classes."""
    infos = [info for module in modules for info in module.classes.values()]
    owned = {name for info in infos for name in (*info.attributes, *info.instance_attributes, *info.methods)}
    fields = frozenset(ATTRIBUTES) - owned if version_1 else frozenset()
    if not any(_FASTMCP.search(module.source.text) for module in modules):
        return fields, frozenset()
    naming = [module for module in modules if module.source.has("from mcp.server")]
    sdk = any(not in_test_file(module.path, module.source.text, scripts=False) for module in naming)
    # FastMCP has this attribute, too, and keeps it.
    return fields - {"_mcp_server"}, frozenset() if sdk else MANAGERS - owned
