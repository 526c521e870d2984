"""MCP tools whose failures are declared, typed, checked and read.

This module is the table of contents; each name is loaded on first use, so that importing the package costs next to
nothing and a program pays for the SDK only when it makes a tool or a server.
"""

from __future__ import annotations

import sys

# What these modules take to load is more than all else here; type checkers know the names.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from mcpcore.classify import classify, explain
    from mcpcore.codes import CustomCode, ErrorCode
    from mcpcore.context import Context
    from mcpcore.contract import Contract, ContractError, FailureMode
    from mcpcore.declare.prompt import prompt
    from mcpcore.declare.resource import resource
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
    from mcpcore.retry import Retry, retrying
    from mcpcore.server import Server
    from mcpcore.services import from_http_response, guard
    from mcpcore.tool import Tool, tool
else:
    ModuleType = type(sys)

__version__ = "0.1.0"

_HOMES = {
    "classify": ("classify", "explain"),
    "codes": ("CustomCode", "ErrorCode"),
    "context": ("Context",),
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
    "declare.prompt": ("prompt",),
    "declare.resource": ("resource",),
    "limits": ("Limits",),
    "retry": ("Retry", "retrying"),
    "server": ("Server",),
    "services": ("from_http_response", "guard"),
    "tool": ("Tool", "tool"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

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


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """Where a public name and a module share a word (`tool`, `classify`), the word stands for the public name.

    Importing a submodule binds it in its package; without this, what `mcpcore.tool` is would depend on who was first.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if isinstance(value, ModuleType) and name in _HOME_OF:
            value = getattr(value, name)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
