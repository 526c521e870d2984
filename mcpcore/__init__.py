"""MCP tools whose failures are declared, typed, checked and read.

This module is the table of contents; each name is loaded on first use, so that importing the package costs next to
nothing and a program pays for the SDK only when it makes a tool or a server.
"""

from __future__ import annotations

# Importing these modules costs more than all the rest of this one; type checkers still see the names.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mcpcore.classification import classify, explain
    from mcpcore.codes import CustomCode, ErrorCode
    from mcpcore.contract import Contract, ContractError, FailureMode
    from mcpcore.declare.context import Context
    from mcpcore.declare.prompt import prompt
    from mcpcore.declare.resource import resource
    from mcpcore.declare.tool import Tool, tool
    from mcpcore.envelope import Envelope
    from mcpcore.errors import (
        CodedError,
        configuration_error,
        conflict,
        database_error,
        forbidden,
        internal_error,
        invalid_params,
        invalid_request,
        not_found,
        rate_limited,
        request_cancelled,
        serialization_error,
        service_unavailable,
        timeout,
        unauthorized,
        validation_error,
    )
    from mcpcore.limits import Limits
    from mcpcore.retry import Retry
    from mcpcore.sdk.server import Server
    from mcpcore.services import from_http_response, guard
    from mcpcore.services.retrying import retrying

__version__ = "0.1.0"

_HOMES = {
    "classification": ("classify", "explain"),
    "codes": ("CustomCode", "ErrorCode"),
    "contract": ("Contract", "ContractError", "FailureMode"),
    "envelope": ("Envelope",),
    "errors": (
        "CodedError",
        "configuration_error",
        "conflict",
        "database_error",
        "forbidden",
        "internal_error",
        "invalid_params",
        "invalid_request",
        "not_found",
        "rate_limited",
        "request_cancelled",
        "serialization_error",
        "service_unavailable",
        "timeout",
        "unauthorized",
        "validation_error",
    ),
    "declare.context": ("Context",),
    "declare.prompt": ("prompt",),
    "declare.resource": ("resource",),
    "declare.tool": ("Tool", "tool"),
    "limits": ("Limits",),
    "retry": ("Retry",),
    "sdk.server": ("Server",),
    "services": ("from_http_response", "guard"),
    "services.retrying": ("retrying",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

# A module imports nothing from a higher layer. The functions of higher layers that lower ones call are listed here and
# loaded by name on first use.
_FROM_ABOVE = {
    "describe": "sdk.definition",
    "explain": "classification",
    "mounted": "integrations.fastmcp.finding",
    "otel_sinks": "integrations.otel",
    "parse_uri_template": "sdk.definition",
    "read_result": "dialects",
    "registration_of": "integrations.fastmcp",
    "signature_of": "integrations.fastmcp",
}

__all__ = [
    "CodedError",
    "Context",
    "Contract",
    "ContractError",
    "CustomCode",
    "Envelope",
    "ErrorCode",
    "FailureMode",
    "Limits",
    "Retry",
    "Server",
    "Tool",
    "classify",
    "configuration_error",
    "conflict",
    "database_error",
    "explain",
    "forbidden",
    "from_http_response",
    "guard",
    "internal_error",
    "invalid_params",
    "invalid_request",
    "not_found",
    "prompt",
    "rate_limited",
    "request_cancelled",
    "resource",
    "retrying",
    "serialization_error",
    "service_unavailable",
    "timeout",
    "tool",
    "unauthorized",
    "validation_error",
]


def provided(name: str) -> Any:
    """A function of a higher layer, for a module below it."""
    return _load(_FROM_ABOVE[name], name)


def _load(home: str, name: str) -> Any:
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{home}"), name)


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = _load(home, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
