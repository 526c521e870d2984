"""The options, texts and protocol errors that every kind of server shares, whichever framework runs it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    URL_ELICITATION_REQUIRED,
    ErrorData,
)

from mcpcore.contract.advice import advice_phrase
from mcpcore.contract.codes import PROTOCOL_INVALID_PARAMS, ErrorCode
from mcpcore.contract.effects import PHRASES, as_effects
from mcpcore.contract.errors import PLAIN_ERRORS, FrameworkError
from mcpcore.contract.limits import Limits
from mcpcore.contract.retry import Retry, stated_advice
from mcpcore.values.jsonable import fit, shown_name, to_json
from mcpcore.values.unwrapping import is_a, leaves_of, returned_failure
from mcpcore.wire.envelope_text import indented

if TYPE_CHECKING:
    from types import ModuleType

    from pydantic import ValidationError

    from mcpcore.boundary.request import Request
    from mcpcore.wire.arguments import Places
    from mcpcore.wire.envelope import Envelope

EXPOSE_VARIABLE: Final = "MCPCORE_EXPOSE_INTERNAL_ERRORS"

PROTOCOL_NEEDS: Final = frozenset({MISSING_REQUIRED_CLIENT_CAPABILITY, URL_ELICITATION_REQUIRED})
"""Errors of the SDK that are steps of the protocol, not failures of the tool: the client answers them by itself."""

UnknownTool = Literal["protocol", "result"]

# The options with few values.
_CHOICES: Final = {"unknown_tool": ("protocol", "result"), "expose_internal_errors": (False, True, "message")}


def check_options(owner: str, *, limits: object, **choices: object) -> None:
    """Check the options that `owner`, the class that takes them, shares with the other servers.

    Raises:
        ValueError: If one of the `choices` has a value that it cannot have.
        TypeError: If `limits` is not a `Limits`.
    """
    for name, value in choices.items():
        if value not in _CHOICES[name]:
            raise ValueError(f"{owner}({name}=...) must be {' or '.join(map(repr, _CHOICES[name]))}, not {value!r}")
    if not isinstance(limits, Limits):
        raise TypeError(f"{owner}(limits=...) must be Limits(...), not {type(limits).__name__}")


def check_names(owner: type, options: Iterable[str]) -> None:
    """Check that `owner` or a class that it extends takes these options; Python 3.13 alone names the nearest option.

    Raises:
        TypeError: If none of them takes an option; the message has the nearest name.
    """
    import difflib
    from inspect import signature

    makers = [vars(cls)["__init__"] for cls in owner.__mro__ if "__init__" in vars(cls)]
    known = {name for maker in makers for name in signature(maker).parameters}
    for option in options:
        if option not in known:
            near = difflib.get_close_matches(option, known, n=1)
            meant = f"; did you mean {near[0]!r}?" if near else ""
            raise TypeError(f"{owner.__name__} has no option {option!r}{meant}")


def exposes_internal_errors(
    option: bool | Literal["message"] = False,  # noqa: FBT001, FBT002 - the option of that name
) -> bool | Literal["message"]:
    """What clients see of undeclared exceptions: by the environment variable or by the option, whichever shows more."""
    word = os.environ.get(EXPOSE_VARIABLE, "").lower()
    return word in ("1", "true", "yes") or option or (word == "message" and "message")


def unknown_tool_error(name: str, known: Iterable[str]) -> FrameworkError:
    """The failure of calling `name`, which is not one of the `known` tools; it names the nearest of them."""
    import difflib

    shown = shown_name(name)
    near = difflib.get_close_matches(shown, list(known), n=3, cutoff=0.6)
    meant = f" Did you mean {' or '.join(near)}?" if near else ""
    hint = (
        f"Call {near[0]} instead, or list the tools to see what there is."
        if near
        else "List the tools to see what there is."
    )
    recovery: dict[str, Any] = {"hint": hint, "strategy": "try_alternative"}
    if near:
        recovery["fallbackTool"] = near[0]
    return FrameworkError(
        ErrorCode.NOT_FOUND,
        f"Unknown tool: {shown}.{meant}",
        {"tool": shown, "near": near},
        reason="unknown_tool",
        recovery=recovery,
        effects="none",
    )


def invalid_arguments_error(
    error: ValidationError, schema: Mapping[str, Any] | Places, name: str, arguments: Mapping[str, Any]
) -> FrameworkError:
    """The failure of calling the tool `name` with arguments that do not fit; `schema` is its input schema."""
    words = _words()
    message, issues, hint, written = words.misfit(error, schema, name, arguments)
    failure = FrameworkError(
        ErrorCode.INVALID_PARAMS,
        message,
        {"issues": issues},
        reason=words.INVALID_ARGUMENTS,
        recovery=hint,
        effects="none",
    )
    if written is not None:
        failure.data_text, failure.kept = written
        failure.clean_for = None if failure.kept is None else name
    return failure


@cache
def _words() -> ModuleType:
    # Loaded with the first arguments that do not fit, and once: an import within a function takes its time.
    from mcpcore.wire import arguments

    return arguments


def with_failures(description: str, published: Sequence[Mapping[str, Any]]) -> str:
    """A tool's description that ends with its failures, of the contract as `tools/list` carries it.

    The contract of a proxied server may hold anything; entries without the usual texts are left out.
    """
    lines = [
        f"- {entry['reason']} ({entry['name']}): {entry['when']}{_recovery(entry)}{_in_brackets(entry)}"
        for entry in published
        if isinstance(entry, dict) and all(isinstance(entry.get(key), str) for key in _DESCRIBED)
    ]
    return "\n".join([description.rstrip(), "", "Fails with:", *lines]).lstrip() if lines else description


_DESCRIBED: Final = ("reason", "name", "when")
"""The keys of an entry that a description repeats."""


def _recovery(entry: Mapping[str, Any]) -> str:
    recovery = entry.get("recovery")
    return f" {recovery}" if isinstance(recovery, str) else ""


def _in_brackets(entry: Mapping[str, Any]) -> str:
    effects, retry = as_effects(entry.get("effects")), entry.get("retry")
    if effects is None:
        return ""
    advice = stated_advice(retry) if isinstance(retry, dict) else Retry.never()
    if advice is None:
        return f" ({PHRASES[effects]})"
    # Most failures are not retryable, and a list of them is part of each conversation.
    return f" ({advice_phrase(advice.kind, advice.after_ms, effects).removeprefix('not retryable · ')})"


def protocol_error(envelope: Envelope, written: dict[str, Any] | None = None) -> MCPError:
    """The envelope where the protocol itself carries the error, as `written` in a dialect or in the canonical form.

    Source of the numbers: the MCP specification of 2026-07-28 leaves -32602 and -32603 for them.
    """
    number = INVALID_PARAMS if envelope.error_code in PROTOCOL_INVALID_PARAMS else INTERNAL_ERROR
    data = {"error": envelope.to_json()} if written is None else written
    # Some hosts show the message to the model as it is.
    return MCPError(code=number, message=indented(envelope.message), data=data)


def protocols_own(exc: BaseException, *, every_code: bool = False) -> MCPError | None:
    """The error in `exc`, also within a group, that the protocol itself needs; with `every_code`, any `MCPError`."""
    if type(exc) in PLAIN_ERRORS:
        return None
    leaves = list(leaves_of(returned_failure(exc)))
    if len(leaves) != 1 or not is_a(leaves[0], MCPError):
        return None
    if not isinstance(getattr(leaves[0], "error", None), ErrorData):
        return None
    error = cast("MCPError", leaves[0])
    return error if every_code or error.code in PROTOCOL_NEEDS else None


_ASKED_BY_MOUNT: Final = frozenset({"required_extensions", "_mask_error_details", "_lifespan_manager"})
"""Attributes of FastMCP's servers that `mcp.mount(server)` or a mounted server reads first."""


def missing_attribute(server: object, name: str) -> Exception:
    """The error for a missing attribute of `server`; for an attribute that FastMCP reads, it says how to mount it."""
    if name in _ASKED_BY_MOUNT:
        return TypeError(not_mountable(server))
    return AttributeError(f"{type(server).__name__!r} object has no attribute {name!r}")


def not_mountable(server: object) -> str:
    """Why FastMCP cannot mount `server`, and what to do instead."""
    kind = f"{type(server).__module__.partition('.')[0]}.{type(server).__name__}"
    return (
        f"mcp.mount(...) takes FastMCP servers, not a {kind}; mount a proxy of it: mcp.mount(create_proxy(server)), "
        "with `from fastmcp.server import create_proxy`"
    )


def chosen_error(error: MCPError, message: str, limits: Limits) -> MCPError:
    """An error whose code its author chose, with `message`, the text of its envelope, and its data within `limits`.

    Its author may have put the words of a caller or of an upstream into both.
    """
    data: Any = error.error.data
    if data is not None:
        data = to_json(data, depth=limits.depth, room=limits.data)
        if limits.redact_secrets:
            from mcpcore.wire.redaction.wire import redact_value

            data = redact_value(data, limits.data)
        data = fit(data, limits.data)
    return MCPError(code=error.code, message=indented(message), data=data)


def trace_id(meta: object, headers: Mapping[str, str] | None) -> str | None:
    """The trace of the caller: W3C Trace Context, in the request's `_meta` or in the HTTP header."""
    parent = meta.get("traceparent") if isinstance(meta, Mapping) else None
    if not isinstance(parent, str):
        parent = headers.get("traceparent") if headers is not None else None
    match = _TRACEPARENT.match(parent.strip()) if isinstance(parent, str) else None
    return None if match is None else match[1].lower()


_TRACEPARENT: Final = re.compile(r"(?!ff)[^-]{2}-(?!0{32})([0-9a-f]{32})-[^-]*-", re.IGNORECASE)


def require_granted(required: Sequence[str], request: Request) -> None:
    """Check that the caller of `request` has been granted the `required` scopes.

    Access tokens belong to HTTP. Over stdio and in memory, whoever calls a tool also runs the server, and may call all.

    Raises:
        CodedError: UNAUTHORIZED or FORBIDDEN.
    """
    from mcp.server.auth.middleware.auth_context import get_access_token
    from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser

    from mcpcore.boundary.scopes import require_scopes

    http = _http_request(request)
    user = None if http is None else http.scope.get("user")
    # The context variable may hold the token with which a session began; a token is refreshed in between.
    token = user.access_token if isinstance(user, AuthenticatedUser) else get_access_token()
    if http is None and token is None:
        return
    require_scopes(required, None if token is None else token.scopes, request.contract)


def _http_request(request: Request) -> Any:
    try:
        return request.sdk.request_context.request
    except (AttributeError, ValueError):  # code on the server calls the tool
        return None
