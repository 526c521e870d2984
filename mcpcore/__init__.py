"""MCP tools whose failures are declared, typed, checked and read.

This module is the table of contents; each name is loaded on first use, so that importing the package costs next to
nothing and a program pays for the SDK only when it makes a tool or a server.
"""

from __future__ import annotations

# Importing these modules costs more than all the rest of this one; type checkers still see the names.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from mcpcore.classification import classify as classify, explain as explain
    from mcpcore.contract.codes import CustomCode as CustomCode, ErrorCode as ErrorCode, Retry as Retry
    from mcpcore.contract.errors import (
        CodedError as CodedError,
        configuration_error as configuration_error,
        conflict as conflict,
        database_error as database_error,
        forbidden as forbidden,
        internal_error as internal_error,
        invalid_params as invalid_params,
        invalid_request as invalid_request,
        not_found as not_found,
        rate_limited as rate_limited,
        request_cancelled as request_cancelled,
        serialization_error as serialization_error,
        service_unavailable as service_unavailable,
        timeout as timeout,
        unauthorized as unauthorized,
        validation_error as validation_error,
    )
    from mcpcore.contract.failure_modes import (
        TODO as TODO,
        Contract as Contract,
        ContractError as ContractError,
        FailureMode as FailureMode,
    )
    from mcpcore.contract.limits import Limits as Limits
    from mcpcore.declare.context import Context as Context
    from mcpcore.declare.decorators import Tool as Tool, prompt as prompt, resource as resource, tool as tool
    from mcpcore.sdk.server import Server as Server
    from mcpcore.services import from_http_response as from_http_response, guard as guard
    from mcpcore.services.retrying import retrying as retrying
    from mcpcore.wire.envelope import Envelope as Envelope

__version__ = "0.1.0"

_HOMES = {
    "classification": ("classify", "explain"),
    "contract.codes": ("CustomCode", "ErrorCode", "Retry"),
    "contract.failure_modes": ("TODO", "Contract", "ContractError", "FailureMode"),
    "wire.envelope": ("Envelope",),
    "contract.errors": (
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
    "declare.decorators": ("prompt", "resource", "Tool", "tool"),
    "contract.limits": ("Limits",),
    "sdk.server": ("Server",),
    "services": ("from_http_response", "guard"),
    "services.retrying": ("retrying",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

# A module imports nothing from a higher layer. What lower layers use of higher ones is listed here, and loaded by name
# on first use.
_FROM_ABOVE = {
    "ToolDefinition": "sdk.definition",
    "UriTemplate": "sdk.definition",
    "explain": "classification",
    "mounted": "integrations.fastmcp.components",
    "otel_sinks": "integrations.otel",
    "read_result": "wire.dialects",
    "reason_recorder": "testing.reasons.recording",
    "registration_of": "integrations.fastmcp",
    "signature_of": "integrations.fastmcp",
}


def provided(name: str) -> Any:
    """A function of a higher layer, for a module below it."""
    return _load(f"{__name__}.{_FROM_ABOVE[name]}", name)


def _load(home: str, name: str) -> Any:
    from importlib import import_module

    return getattr(import_module(home), name)


def loaded_on_use(
    names: dict[str, Any], homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of the package with the globals `names`; `homes` has the module of each lazy name."""

    def load(name: str) -> Any:
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {names['__name__']!r} has no attribute {name!r}")
        value = names[name] = _load(f"{names['__name__']}.{home}", name)
        return value

    return load, lambda: sorted({*names, *homes})


if not TYPE_CHECKING:  # type checkers read the imports above, and take no misspelt name for a name that is loaded
    __all__ = list(_HOME_OF)
    __getattr__, __dir__ = loaded_on_use(globals(), _HOME_OF)
