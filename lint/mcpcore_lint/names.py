"""The names of mcpcore, the SDK and FastMCP, and one canonical spelling for each of them."""

from __future__ import annotations

import builtins
from functools import cache
from typing import Final

FACTORIES: Final[dict[str, str]] = {
    name: name.upper()
    for name in (
        *(
            "invalid_params",
            "invalid_request",
            "not_found",
            "forbidden",
            "unauthorized",
            "validation_error",
            "conflict",
        ),
        *("rate_limited", "timeout", "service_unavailable", "configuration_error", "internal_error"),
        *("serialization_error", "database_error", "request_cancelled"),
    )
}
"""Factory to the code of its errors."""

FACTORY_OF_CODE: Final[dict[str, str]] = {code: factory for factory, code in FACTORIES.items()}

CONSTRUCTORS: Final[dict[str, tuple[str, ...]]] = {
    "mcpcore.CodedError.tool_failure": ("code", "message", "data"),
    "mcpcore.CodedError.startup_failure": ("code", "message", "data"),
    "mcpcore.CodedError.from_unknown": ("",),
    "mcpcore.CodedError.invariant_violation": ("", "message", "data"),
}
"""Class methods that make a coded error, each with its arguments by position."""

ENTRY_POSITIONAL: Final = ("reason", "code")
ENTRY_ARGUMENTS: Final = (
    *("reason", "code", "when", "recovery", "retry", "fallback_tool", "fallback_arguments", "strategy", "actions"),
    *("corrective_params", "user_message", "data", "example", "effects"),
)

FRAMEWORKS: Final = frozenset({"mcpcore", "mcp", "fastmcp", "mcp_types"})
"""Packages whose names are never looked up in the project: a folder `mcp/` of the project is not the SDK."""

SERVERS: Final[dict[str, str]] = {
    "mcpcore.Server": "mcpcore",
    "mcp.MCPServer": "sdk",
    "mcp.FastMCP": "sdk",
    "mcp.Apps": "sdk",
    "mcp.ToolManager": "sdk",
    "mcp.ResourceManager": "sdk",
    "mcp.PromptManager": "sdk",
    "mcp.LowLevelServer": "lowlevel",
    "fastmcp.FastMCP": "fastmcp",
    "fastmcp.FastMCPApp": "fastmcp",
    "fastmcp.FastMCPProxy": "fastmcp",
    "fastmcp.LocalProvider": "fastmcp",
    "fastmcp.FastMCP.as_proxy": "fastmcp",
    "fastmcp.FastMCP.from_client": "fastmcp",
    "fastmcp.FastMCP.from_fastapi": "fastmcp",
    "fastmcp.FastMCP.from_openapi": "fastmcp",
    "fastmcp.create_proxy": "fastmcp",
}
"""The flavour of what makes servers: classes, also of objects that collect tools for a server, and functions."""

PROTOCOL_ERRORS: Final = frozenset({"mcp.MCPError", "mcp.UrlElicitationRequiredError", "mcp.NoBackChannelError"})
FRAMEWORK_ERRORS: Final = frozenset(
    {
        "mcp.ToolError",
        "mcp.ResourceError",
        "mcp.ResourceNotFoundError",
        "fastmcp.ToolError",
        "fastmcp.ResourceError",
        "fastmcp.PromptError",
        "fastmcp.ValidationError",
        "fastmcp.NotFoundError",
    }
)

_PUBLIC: Final[dict[str, frozenset[str]]] = {
    "mcp": frozenset(
        {"MCPServer", "FastMCP", "Apps", "ToolManager", "ResourceManager", "PromptManager", "Context", "CallToolResult"}
        | {"MCPError", "UrlElicitationRequiredError", "NoBackChannelError", "ToolError", "ResourceError"}
        | {"ResourceNotFoundError", "ErrorData", "TextContent"}
    ),
    "fastmcp": frozenset(
        {"FastMCP", "FastMCPApp", "FastMCPProxy", "LocalProvider", "create_proxy", "Context", "ToolResult"}
        | {"ToolError", "ResourceError", "PromptError", "ValidationError", "NotFoundError"}
    ),
}
"""Names that are the same whichever module of the package they are imported from."""

_MODULES: Final = frozenset({"audit", "testing", "client", "catalog", "dialects", "integrations", "cli"})
"""Modules of mcpcore whose names keep their module."""

_SUBMODULES: Final = frozenset(
    {"classification", "codes", "contract", "declare", "context", "decorators", "envelope", "errors", "failure_modes"}
    | {"limits", "wire", "sdk", "server", "services", "retrying", "guarding", "responses"}
)
"""Modules that public names live in."""


@cache
def canonical(name: str) -> str:
    """The canonical spelling of a qualified name of a framework; any other name unchanged."""
    package, _, rest = name.partition(".")
    last = name.rpartition(".")[2]
    if package == "mcpcore" and rest:
        parts = rest.split(".")
        if parts[0] in _MODULES:
            return name
        # The modules of a path are lower case, but so are functions: mcpcore.contract.errors.not_found is
        # mcpcore.not_found, mcpcore.ErrorCode.NOT_FOUND keeps its member, and mcpcore.declare.decorators.tool is
        # mcpcore.tool.
        while len(parts) > 1 and parts[0] in _SUBMODULES:
            del parts[0]
        return "mcpcore." + ".".join(parts)
    if package in {"mcp", "mcp_types"} and last == "Server" and ("server" in rest or rest == "Server"):
        return "mcp.LowLevelServer"
    if package in {"mcp", "mcp_types", "fastmcp"} and rest:
        if last in {"McpError", "MCPError"}:
            return "mcp.MCPError"
        package = package.removesuffix("_types")
        return f"{package}.{last}" if last in _PUBLIC[package] else name
    if name.startswith("typing_extensions."):
        return "typing." + name.removeprefix("typing_extensions.")
    if name.startswith("concurrent.futures.") and last == "TimeoutError":
        return "builtins.TimeoutError"
    return _STDLIB_ALIASES.get(name, name)


_STDLIB_ALIASES: Final[dict[str, str]] = {
    "asyncio.TimeoutError": "builtins.TimeoutError",
    "asyncio.exceptions.TimeoutError": "builtins.TimeoutError",
    "asyncio.exceptions.CancelledError": "asyncio.CancelledError",
    "socket.timeout": "builtins.TimeoutError",
    "socket.error": "builtins.OSError",
    "select.error": "builtins.OSError",
    "json.decoder.JSONDecodeError": "json.JSONDecodeError",
    "builtins.IOError": "builtins.OSError",
    "builtins.EnvironmentError": "builtins.OSError",
}

BUILTIN_EXCEPTIONS: Final[frozenset[str]] = frozenset(
    name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, BaseException)
)
BUILTIN_NAMES: Final[frozenset[str]] = frozenset(vars(builtins))
PLAIN_BUILTINS: Final = BUILTIN_NAMES - BUILTIN_EXCEPTIONS
