"""Errors on the SDK: how the boundary reads those of the SDK, and those that every kind of server answers with.

The checks of the options that a `Server` and the middleware of FastMCP share are here too.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from types import ModuleType
from typing import Any, Final, Literal, cast

from mcp.server.mcpserver.exceptions import (
    ResourceError,
    ResourceNotFoundError,
    ToolError,
    UnexpectedResourceError,
    UnexpectedToolError,
)
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    URL_ELICITATION_REQUIRED,
    ErrorData,
)
from pydantic import ValidationError

from mcpcore.boundary.mapper import FailureMapper
from mcpcore.boundary.outcome import FailedCall
from mcpcore.boundary.request import Request, require_scopes
from mcpcore.boundary.upstream import UpstreamError
from mcpcore.contract.advice import advice_phrase
from mcpcore.contract.codes import PROTOCOL_CODES, PROTOCOL_INVALID_PARAMS, Code, ErrorCode, Retry, stated_advice
from mcpcore.contract.effects import PHRASES, as_effects
from mcpcore.contract.errors import PLAIN_ERRORS, FrameworkError
from mcpcore.contract.limits import Limits
from mcpcore.values.jsonable import fit, safe_str, shown_name, to_json
from mcpcore.values.request_var import current
from mcpcore.values.untrusted import quietly
from mcpcore.values.unwrapping import (
    FrameworkErrors,
    cause_of,
    is_a,
    leaves_of,
    register_framework,
    returned_failure,
    unwrapped,
)
from mcpcore.wire.arguments import INVALID_ARGUMENTS, Places
from mcpcore.wire.envelope import UNKNOWN_DIALECT, Envelope
from mcpcore.wire.envelope_text import indented


class ToolFailure(ToolError):  # noqa: N818 - the word of the docs
    """`server.call_tool(...)` raises it if a tool fails: an error of the SDK's kind, with the envelope."""

    def __init__(self, envelope: Envelope) -> None:
        """Carry `envelope`."""
        super().__init__(envelope.message)
        self.envelope = envelope

    # Pickle calls the class of an exception with its `args`, which are the text here, and not the envelope.
    def __reduce__(self) -> tuple[type[ToolFailure], tuple[Envelope], dict[str, Any]]:
        return type(self), (self.envelope,), self.__dict__.copy()


@contextmanager
def exposed_texts(mapper: FailureMapper, tool: str) -> Iterator[None]:
    """Give an error for code on the server the text of an unexpected exception, if clients of the server read it.

    So a test reads what version 1 of the SDK raised. In a request, `mapper` reads the exception itself later.
    """
    try:
        yield
    except (UnexpectedToolError, ToolFailure) as exc:
        masked = not isinstance(exc, ToolFailure) or exc.envelope.data is None
        if masked and current.get() is None and mapper.expose and exc.__cause__ is not None:
            shown = mapper.outcome(exc.__cause__, FailedCall(name=tool)).envelope.message
            exc.args = (f"Error executing tool {tool}: {shown}",)
        raise


class UnansweredError(MCPError):
    """The failure of a resource or a prompt on its way through the SDK, which would log its text with all secrets."""

    def __init__(self, failure: BaseException) -> None:
        """Carry `failure`."""
        super().__init__(code=INTERNAL_ERROR, message="the request cannot be answered")
        self.failure = failure

    def __reduce__(self) -> tuple[type[UnansweredError], tuple[BaseException]]:
        return type(self), (self.failure,)


def _wrapped_by(exc: BaseException) -> BaseException | None:
    """The exception of a tool or a resource that the SDK wrapped in `exc`; None if `exc` is not a wrapper."""
    cause = cause_of(exc)
    if cause is None or not (is_a(exc, (UnexpectedToolError, UnexpectedResourceError)) or _repeats(exc, cause)):
        return None
    # If a handler calls a tool with bad arguments, that is the handler's own mistake, not its caller's.
    return cause_of(cause) or cause if is_a(cause, FrameworkError) else cause


def sdk_error(exc: BaseException) -> tuple[Code, str, Any] | None:
    """The code, text and data of an error of the SDK's own kinds; None for any other exception."""
    if is_a(exc, ResourceNotFoundError):
        return ErrorCode.NOT_FOUND, safe_str(exc), None
    if is_a(exc, (ToolError, ResourceError)):
        return ErrorCode.INTERNAL_ERROR, safe_str(exc), None
    if is_a(exc, MCPError):
        error = cast("MCPError", exc)
        return PROTOCOL_CODES.get(error.code, ErrorCode.INTERNAL_ERROR), safe_str(error.message), error.data
    return None


def _repeats(exc: BaseException, cause: BaseException) -> bool:
    """Whether `exc` merely repeats its cause: the SDK puts "Error executing tool NAME: " before it, authors do not."""
    if type(exc) is not ToolError:
        return is_a(exc, ToolFailure)
    text = safe_str(exc)
    return text.startswith("Error executing tool ") and text.endswith(f": {safe_str(cause)}")


_NUMBERS: Final = frozenset({-32602, -32603})
"""The numbers of the protocol's errors that carry an envelope."""


def failure_carried_by(error: Any) -> UpstreamError | None:
    """The failure whose envelope is the data of `error`, an `MCPError` of another server; None if it has none."""
    return quietly(lambda: _failure_carried_by(error), None) if is_a(error, MCPError) else None


def _failure_carried_by(error: Any) -> UpstreamError | None:
    data = error.error.data
    if error.error.code not in _NUMBERS or type(data) is not dict:
        return None
    # The data of a failed resource has the URI next to the envelope.
    envelope = {key: value for key, value in data.items() if key != "uri"}
    sent = Envelope.from_result({"structuredContent": envelope})
    return None if sent is None or sent.dialect == UNKNOWN_DIALECT else UpstreamError(sent)


register_framework(FrameworkErrors(_wrapped_by, sdk_error, failure_carried_by))


def as_raised(exc: BaseException, name: str) -> BaseException:
    """The failure behind `exc`, with which the SDK ended reading the resource or getting the prompt `name`."""
    if isinstance(exc, UnansweredError):
        failure = unwrapped(exc.failure)
        # The SDK repeats the URI of the caller.
        if type(failure) is ResourceNotFoundError and failure.args == (f"Unknown resource: {name}",):
            return ResourceNotFoundError(f"Unknown resource: {shown_name(name)}")
        return failure
    inner = exc.__cause__
    # The SDK raises a ValueError for all that goes wrong with a prompt; only its texts tell the cases apart.
    if type(exc) is not ValueError or inner is None or safe_str(exc) != safe_str(inner):
        return exc
    # Not `safe_str(inner)`, which escapes and cuts what the caller sent.
    if inner.args == (f"Unknown prompt: {name}",):
        return unknown_prompt_error(name)
    text = safe_str(inner)
    if type(inner) is not ValueError:
        return inner
    if inner.__cause__ is not None:
        return returned_failure(inner.__cause__) if text.startswith("Error rendering prompt ") else inner
    if text.startswith("Missing required arguments: "):
        return missing_prompt_arguments_error(text)
    return inner


def unknown_prompt_error(name: str) -> FrameworkError:
    """The failure of getting the prompt `name`, which does not exist."""
    hint = "List the prompts to see what there is."
    message = f"Unknown prompt: {shown_name(name)}"
    return FrameworkError(ErrorCode.NOT_FOUND, message, reason="unknown_prompt", recovery=hint)


def missing_prompt_arguments_error(message: str) -> FrameworkError:
    """The failure of getting a prompt without all of its arguments."""
    hint = "Add the arguments that are missing, as the list of prompts describes them."
    return FrameworkError(ErrorCode.INVALID_PARAMS, message, reason=INVALID_ARGUMENTS, recovery=hint)


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


def check_names(owner: type, options: Collection[str]) -> None:
    """Check that `owner` or a class that it extends takes these options; Python 3.13 alone names the nearest option.

    Raises:
        TypeError: If none of them takes an option; the message has the nearest name.
    """
    import difflib
    from inspect import signature

    makers = [vars(cls)["__init__"] for cls in owner.__mro__ if "__init__" in vars(cls)]
    # To read the signatures takes half of the time in which a server is made, and most servers have no such option.
    known = {name for maker in makers for name in signature(maker).parameters} if options else set()
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
    if (
        len(leaves) != 1
        or not is_a(leaves[0], MCPError)
        or not isinstance(getattr(leaves[0], "error", None), ErrorData)
    ):
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
