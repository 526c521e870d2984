"""Reads FastMCP's own errors: those that wrap the exception of a tool, and those of its middleware.

FastMCP wraps the exceptions that it catches. Some of its wrappers differ from the errors of a tool's author by their
wording only. The constants below hold all of FastMCP's wording that this package relies on; a test in
`tests/integrations/fastmcp` fails with a clear sentence when a release changes it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any, Final, cast

from fastmcp.exceptions import (
    AuthorizationError,
    DisabledError,
    FastMCPError,
    InsufficientScopeError,
    NotFoundError,
    PromptError,
    ResourceError,
    ToolError,
    ValidationError,
)
from fastmcp.server.dependencies import get_access_token
from fastmcp.server.middleware.rate_limiting import RateLimitError
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, METHOD_NOT_FOUND, ErrorData
from pydantic import ValidationError as PydanticError

from mcpcore.classification.status import code_for_status
from mcpcore.contract.codes import Code, ErrorCode
from mcpcore.contract.errors import FrameworkError
from mcpcore.sdk.errors import missing_prompt_arguments_error, unknown_prompt_error
from mcpcore.values.jsonable import safe_str, shown_name
from mcpcore.values.untrusted import quietly
from mcpcore.values.unwrapping import FrameworkErrors, cause_of, is_a, leaves_of, register_framework
from mcpcore.wire.arguments import INVALID_ARGUMENTS
from mcpcore.wire.envelope import Envelope

WRAPPERS: Final[Mapping[type[BaseException], re.Pattern[str]]] = {
    ToolError: re.compile(
        r"Error calling tool |Rate limited by upstream API, please retry later$"
        r"|Upstream request timed out, please retry$|Could not serialize the return value of tool "
    ),
    ResourceError: re.compile(
        r"Error reading resource |Rate limited by upstream API, please retry later$"
        r"|Upstream request timed out, please retry$"
    ),
    PromptError: re.compile(r"Error rendering prompt "),
    RuntimeError: re.compile(r"Failed to resolve dependency "),
    ValueError: re.compile(r"HTTP request timed out \(|Request error \("),
}
"""The wording of FastMCP's wrappers, by their exact type; the exception that they wrap is their cause."""

BODY_ERROR: Final = "_ToolBodyError"
"""The class that wraps a pydantic error from the body of a tool, from FastMCP 4.1 on; its name is private."""

TIMED_OUT: Final = re.compile(r"Tool .* execution timed out after ", re.DOTALL)
"""The wording of FastMCP's timeout of a tool, which is a plain `MCPError`."""

HTTP_STATUS: Final = re.compile(r"HTTP error ([3-9][0-9][0-9]): ")
"""The wording of a failed HTTP response in FastMCP 4.0; later releases raise an exception with the response."""

MISSING_ARGUMENTS: Final = "Missing required arguments: "
UNFIT_ARGUMENT: Final = re.compile(r"Could not convert argument '([^']*)' with value ")
"""The arguments of a prompt that do not fit; the second repeats the value."""


def _authored(exc: BaseException) -> tuple[Code, str, Any] | None:
    """The code, text and data of an error that FastMCP or a tool's author wants the client to read; else None."""
    if is_a(exc, MCPError):
        return _of_protocol(exc)
    if is_a(exc, AuthorizationError):
        code = ErrorCode.UNAUTHORIZED if get_access_token() is None else ErrorCode.FORBIDDEN
        scopes = getattr(exc, "required_scopes", None) if is_a(exc, InsufficientScopeError) else None
        return code, safe_str(exc), None if scopes is None else {"requiredScopes": scopes, "missingScopes": scopes}
    for kinds, code in _CODES:
        if is_a(exc, kinds):
            return code, safe_str(exc), None
    return _of_openapi(exc)


_CODES: Final = (
    ((NotFoundError, DisabledError), ErrorCode.NOT_FOUND),
    (ValidationError, ErrorCode.VALIDATION_ERROR),
    (FastMCPError, ErrorCode.INTERNAL_ERROR),
)


def _wrapped(exc: BaseException) -> BaseException | None:
    kind = type(exc)
    if issubclass(kind, ContractFailure):
        inner = cast("ContractFailure", exc)
        # If a handler calls a tool with bad arguments, that is the handler's own mistake, not its caller's.
        is_nested = inner.envelope is not None and type(inner.raised) is FrameworkError
        return cause_of(inner.raised) or inner.raised if is_nested else inner.raised
    cause = cause_of(exc)
    if cause is None:
        return None
    wording = WRAPPERS.get(kind)
    if wording is not None and wording.match(safe_str(exc)):
        return cause
    if kind is ValidationError and is_a(cause, PydanticError) and safe_str(exc) == safe_str(cause):
        return cause
    return cause if kind.__name__ == BODY_ERROR and kind.__module__.startswith("fastmcp.") else None


def raised_within(exc: BaseException) -> BaseException:
    """The exception that a tool, a resource or a prompt raised, without FastMCP's wrappers."""
    for _ in range(_MAX_WRAPPERS):
        inner = _wrapped(exc)
        if inner is None:
            break
        exc = inner
    return exc


_MAX_WRAPPERS: Final = 20

UNRESOLVED: Final = "Failed to resolve dependency "


def is_before_handler(exc: BaseException) -> bool:
    """Whether `exc` says that a dependency of a handler failed, so that the handler itself did not run."""
    inner = cause_of(exc) if type(exc) is ToolError else exc
    return type(inner) is RuntimeError and safe_str(inner).startswith(UNRESOLVED)


def _of_openapi(exc: BaseException) -> tuple[Code, str, Any] | None:
    """The code of a failed HTTP response of an OpenAPI tool; FastMCP 4.0 raises a ValueError for it."""
    status = HTTP_STATUS.match(safe_str(exc)) if type(exc) is ValueError else None
    if status is None:
        return None
    last = exc.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if last is None or not last.tb_frame.f_globals.get("__name__", "").startswith("fastmcp.server.providers.openapi"):
        return None
    code = code_for_status(int(status[1]))  # pragma: no cover - later releases raise an error of the HTTP library
    return code, code.sentence, None  # pragma: no cover - as above; the text contains the response


def _of_protocol(exc: BaseException) -> tuple[Code, str, Any] | None:
    if is_a(exc, RateLimitError):
        # FastMCP's text names the client, by whatever the server knows it.
        return ErrorCode.RATE_LIMITED, "The server's rate limit is exceeded.", None
    if TIMED_OUT.match(safe_str(exc)):
        return ErrorCode.TIMEOUT, safe_str(exc), None
    return None


TRANSFORM_REFUSES: Final = re.compile(r"(Got unexpected keyword|Missing required) argument\(s\): ")
"""The wording of the TypeError of a transformed tool whose arguments have the wrong names."""


def is_refusal_of_a_transform(exc: BaseException) -> bool:
    """Whether a transformed tool got unknown arguments, or did not get the required ones."""
    raised = raised_within(exc)
    return type(raised) is TypeError and TRANSFORM_REFUSES.match(safe_str(raised)) is not None


def fastmcps_failure(exc: BaseException, name: str, surface: str) -> BaseException | None:
    """FastMCP's refusal of the caller's `name` or arguments, in words that do not repeat them; None for another."""
    # FastMCP also raises a subclass of it, for a URI that is not safe.
    if surface == "resource" and is_a(exc, NotFoundError) and exc.args == (f"Unknown resource: {name!r}",):
        return NotFoundError(f"Unknown resource: {shown_name(name)}")
    if surface != "prompt":
        return None
    # Not `safe_str(exc)`, which escapes and cuts what the caller sent.
    if type(exc) is NotFoundError and exc.args == (f"Unknown prompt: {name!r}",):
        return unknown_prompt_error(name)
    text = safe_str(exc)
    if type(exc) is ValueError and text.startswith(MISSING_ARGUMENTS):
        return missing_prompt_arguments_error(text)
    if type(exc) is PromptError and (match := UNFIT_ARGUMENT.match(text)):
        message = f"The argument {match[1]!r} is not of its type"
        hint = f"Send {match[1]!r} as the list of prompts describes it."
        return FrameworkError(ErrorCode.INVALID_PARAMS, message, reason=INVALID_ARGUMENTS, recovery=hint)
    return None


def is_unserved(exc: BaseException, method: str | None) -> bool:
    """Whether the SDK refused the request `method`, for which the server has no handler."""
    return type(exc) is MCPError and exc.code == METHOD_NOT_FOUND and exc.data == method


class ContractFailure(Exception):  # noqa: N818 - the word of the docs
    """A failure as other middleware and calling handlers see it: without the text of a crash.

    It is also of the class that FastMCP raised, so `except ToolError` catches it. The failure is not its cause, since
    code that logs this error would then log the text and the traceback of the failure, including secrets.

    ```python
    class Counting(Middleware):
        async def on_call_tool(self, context: Any, call_next: Any) -> Any:
            try:
                return await call_next(context)
            except ContractFailure as error:
                counts[type(error.failure).__name__] += 1
                raise
    ```
    """

    def __init__(self, raised: BaseException, message: str, envelope: Envelope | None = None) -> None:
        """Stand for `raised`.

        Args:
            raised: The exception that FastMCP or the handler raised.
            message: The text of this error, which clients may read.
            envelope: The failure, for handlers that made the call. Other middleware sees the error before it has one.
        """
        Exception.__init__(self, message)  # not that of the other class, which may want other arguments
        self.raised = raised
        self.envelope = envelope

    @property
    def failure(self) -> BaseException:
        """The exception of the handler, without FastMCP's wrappers; it may hold secrets."""
        return raised_within(self.raised)

    def __str__(self) -> str:
        return str(self.args[0])

    def __reduce__(self) -> tuple[Any, ...]:
        contents = (self.raised, str(self), self.envelope)
        if type(self) is ContractFailure:
            return type(self), contents, self.__dict__.copy()
        return masked, (*contents, type(self).__bases__[1]), self.__dict__.copy()


def masked(
    raised: BaseException,
    message: str,
    envelope: Envelope | None = None,
    kind: type[BaseException] | None = None,
) -> ContractFailure:
    """The error with the text `message` that replaces `raised`, of the same class or of `kind`.

    It keeps the attributes of `raised`, since code that catches its own class of error may read them.
    """
    own = type(raised) if kind is None else kind
    error = quietly(lambda: _made(own), None) or _made(ToolError)
    if own is type(raised):
        attributes = getattr(raised, "__dict__", {})
        vars(error).update({key: value for key, value in attributes.items() if key != "__notes__"})
    ContractFailure.__init__(error, unmasked(raised), message, envelope)
    vars(error)["log_level"] = 0  # below every level, so FastMCP does not log it
    if isinstance(error, MCPError):
        code = cast("MCPError", raised).code if is_a(raised, MCPError) else INTERNAL_ERROR
        error.error = ErrorData(code=code, message=message)
    return error


def _made(kind: Any) -> ContractFailure:
    """An error without contents of a class that is a `ContractFailure` and a `kind`."""
    made: ContractFailure = kind.__new__(_failure_class(kind))
    return made


@functools.lru_cache(maxsize=1000)
def _failure_class(kind: Any) -> Any:
    if issubclass(kind, ContractFailure):
        return kind
    namespace = {"__module__": kind.__module__, "__qualname__": kind.__qualname__, "__doc__": kind.__doc__}
    return type(kind)(kind.__name__, (ContractFailure, kind), namespace)


def unmasked(exc: BaseException) -> BaseException:
    """The exception that `exc` masks for other middleware; `exc` itself if it does not, or has an envelope."""
    if issubclass(type(exc), ContractFailure) and exc.envelope is None:  # type: ignore[attr-defined] # its type says so
        return exc.raised  # type: ignore[attr-defined,no-any-return] # the same
    return exc


def inner_failure(exc: BaseException) -> Envelope | None:
    """The failure of a call within this one that `exc` passes on; None for any other error."""
    leaves = [*leaves_of(exc)] if is_a(exc, BaseExceptionGroup) else [exc]
    inner: BaseException | None = leaves[0] if len(leaves) == 1 else None
    for _ in range(_MAX_WRAPPERS):  # pragma: no branch - errors are wrapped a few times at most
        if inner is None:
            break
        if is_a(inner, ContractFailure) and (envelope := cast("ContractFailure", inner).envelope) is not None:
            return envelope
        inner = _wrapped(inner)
    return None


class ProtocolFailure(MCPError, FastMCPError):  # noqa: N818 - as above
    """An error of the protocol that FastMCP passes on as it is, also out of a prompt."""

    @classmethod
    def of(cls, error: MCPError) -> ProtocolFailure:
        """The same error."""
        return cls(code=error.code, message=error.message, data=error.data)


# No error of FastMCP's own carries the failure of another server.
register_framework(FrameworkErrors(_wrapped, _authored, lambda _: None))
