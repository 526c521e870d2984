"""The SDK's own errors: how the boundary reads them, and the errors by which failures pass through the SDK."""

from __future__ import annotations

from typing import Any, Final, cast

from mcp.server.mcpserver.exceptions import (
    ResourceError,
    ResourceNotFoundError,
    ToolError,
    UnexpectedResourceError,
    UnexpectedToolError,
)
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR

from mcpcore.boundary.upstream import UpstreamError
from mcpcore.contract.codes import PROTOCOL_CODES, Code, ErrorCode
from mcpcore.contract.errors import FrameworkError
from mcpcore.values.jsonable import safe_str, shown_name
from mcpcore.values.untrusted import quietly
from mcpcore.values.unwrapping import FrameworkErrors, cause_of, is_a, register_framework, returned_failure, unwrapped
from mcpcore.wire.arguments import INVALID_ARGUMENTS
from mcpcore.wire.envelope import UNKNOWN_DIALECT, Envelope


class ToolFailure(ToolError):  # noqa: N818 - the word of the docs
    """`server.call_tool(...)` raises it if a tool fails: an error of the SDK's kind, with the envelope."""

    def __init__(self, envelope: Envelope) -> None:
        """Carry `envelope`."""
        super().__init__(envelope.message)
        self.envelope = envelope

    # Pickle calls the class of an exception with its `args`, which are the text here, and not the envelope.
    def __reduce__(self) -> tuple[type[ToolFailure], tuple[Envelope], dict[str, Any]]:
        return type(self), (self.envelope,), self.__dict__.copy()


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
