"""The failures that code raises on purpose: `CodedError`, and a factory for each code that tools raise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from mcpcore.codes import Code, ErrorCode
from mcpcore.jsonable import safe_str

if TYPE_CHECKING:
    from types import EllipsisType

    from mcpcore.contract import FailureMode
    from mcpcore.retry import Retry

RecoveryLike: TypeAlias = "str | Mapping[str, Any]"
"""A recovery at a throw site: the hint alone, or the object of the wire (`hint`, `strategy`, `fallbackTool`, …)."""


class CodedError(Exception):
    """A failure with a code, to be raised; at the boundary it becomes an envelope.

    Its `data` reaches the client, since it was meant to. Chain it with `raise … from …`: the cause goes to the log.

    Attributes:
        code: The `ErrorCode` or `CustomCode`.
        message: What went wrong here, as a sentence for the client.
        data: Facts for the client, as the author gave them.
        reason: The declared reason, given as such or as `data["reason"]`; None where there is none.
        recovery: What the throw site says about recovery, in the form of the wire; None where it says nothing, and
            where it leaves the declared one out (`omits_recovery` tells the two apart).
        retry: The advice of the throw site, else None.
        omits_recovery: Whether the throw site asked for no recovery at all, with `recovery=None`.
    """

    code: Code
    message: str
    data: Mapping[str, Any] | None
    reason: str | None
    recovery: dict[str, Any] | None
    retry: Retry | None
    omits_recovery: bool
    has_message: bool
    entry: FailureMode[Any] | None

    def __init__(
        self,
        code: Code,
        message: str | None = None,
        data: Mapping[str, Any] | None = None,
        *,
        reason: str | None = None,
        recovery: RecoveryLike | EllipsisType | None = ...,
        retry: Retry | None = None,
    ) -> None:
        """Make a failure.

        Args:
            code: What went wrong.
            message: A sentence for the client; left out, the declared entry's `when`, else the code's sentence.
            data: Facts for the client; `reason`, `retryable` and `recovery` are reserved keys.
            reason: The reason of the contract that this failure is.
            recovery: Replaces the declared recovery; `None` leaves it out.
            retry: Replaces the declared retry advice.

        Raises:
            TypeError: If `code` is not a code.
        """
        from mcpcore.contract import require_code

        self.code = require_code(code, f"{type(self).__name__}(code, …)")
        if data is not None and not isinstance(data, Mapping):
            data = {"value": data}  # a failure that is being told is worth more than the complaint about its data
        given = data.get("reason") if reason is None and data else reason
        self.reason = given if isinstance(given, str) and given else None
        self.data = data
        self.has_message = message is not None
        self.message = self.code.sentence if message is None else safe_str(message)
        self.omits_recovery = recovery is None
        self.recovery = _recovery(recovery)
        self.retry = retry
        self.entry = None
        super().__init__(self.message)

    @property
    def advice(self) -> Retry:
        """The retry advice in force: the throw site's, else the declared entry's, else the code's."""
        if self.retry is not None:
            return self.retry
        if self.entry is not None and self.entry.code == self.code:
            return self.entry.advice
        return self.code.retry

    def __str__(self) -> str:
        return self.message

    def __repr__(self) -> str:
        reason = "" if self.reason is None else f", reason={self.reason!r}"
        return f"{type(self).__name__}({self.code.name}, {self.message!r}{reason})"

    def __reduce__(self) -> tuple[object, tuple[Any, ...], dict[str, Any]]:
        return _bare, (type(self), *self.args), self.__dict__.copy()


class FrameworkError(CodedError):
    """A failure that the framework itself tells (bad arguments, an unknown tool): no contract declares its reason."""


def _bare(cls: type[CodedError], *args: Any) -> CodedError:
    """An instance without `__init__`, whose arguments a subclass may have changed; pickling restores the rest."""
    return cls.__new__(cls, *args)


def failure_of(
    entry: FailureMode[Any],
    message: str | None,
    data: Mapping[str, Any] | None,
    *,
    recovery: RecoveryLike | EllipsisType | None = ...,
    retry: Retry | EllipsisType | None = ...,
) -> CodedError:
    """The failure of a declared entry; `ctx.fail` makes its failures here."""
    error = CodedError(
        entry.code,
        entry.when if message is None else message,
        data,
        reason=entry.reason,
        recovery=recovery,
        retry=None if retry is ... else retry,
    )
    declare(error, entry)
    if error.recovery is None and not error.omits_recovery and not _carries_recovery(data):
        error.recovery = entry.recovery_json()
    if error.retry is None:
        error.retry = entry.advice
    return error


def declare(error: CodedError, entry: FailureMode[Any]) -> None:
    """Tie `error`, wherever it was raised, to the entry that declares its reason."""
    error.entry = entry
    if not error.has_message:
        error.message = entry.when
        error.args = (entry.when,)


def _carries_recovery(data: Mapping[str, Any] | None) -> bool:
    return data is not None and recovery_of(data.get("recovery")) is not None


def recovery_of(value: object) -> dict[str, Any] | None:
    """`value` as a recovery in the form of the wire, or None where it is not one."""
    if isinstance(value, str):
        return {"hint": value} if value.strip() else None
    if isinstance(value, Mapping):
        hint = value.get("hint")
        return dict(value) if isinstance(hint, str) and hint.strip() else None
    return None


def _recovery(value: RecoveryLike | EllipsisType | None) -> dict[str, Any] | None:
    return None if value is None or value is ... else recovery_of(value)


def invalid_params(
    message: str | None = None,
    data: Mapping[str, Any] | None = None,
    *,
    reason: str | None = None,
    recovery: RecoveryLike | EllipsisType | None = ...,
    retry: Retry | None = None,
) -> CodedError:
    """The arguments do not fit the tool: a missing field, a wrong type, a value out of range.

    The arguments are those of `CodedError`; to be raised.
    """
    return CodedError(ErrorCode.INVALID_PARAMS, message, data, reason=reason, recovery=recovery, retry=retry)


def invalid_request(
    message: str | None = None,
    data: Mapping[str, Any] | None = None,
    *,
    reason: str | None = None,
    recovery: RecoveryLike | EllipsisType | None = ...,
    retry: Retry | None = None,
) -> CodedError:
    """The request makes no sense here: an operation that is not supported, a capability that is missing.

    The arguments are those of `CodedError`; to be raised.
    """
    return CodedError(ErrorCode.INVALID_REQUEST, message, data, reason=reason, recovery=recovery, retry=retry)


def not_found(
    message: str | None = None,
    data: Mapping[str, Any] | None = None,
    *,
    reason: str | None = None,
    recovery: RecoveryLike | EllipsisType | None = ...,
    retry: Retry | None = None,
) -> CodedError:
    """What was asked for does not exist.

    The arguments are those of `CodedError`; to be raised.
    """
    return CodedError(ErrorCode.NOT_FOUND, message, data, reason=reason, recovery=recovery, retry=retry)


def forbidden(
    message: str | None = None,
    data: Mapping[str, Any] | None = None,
    *,
    reason: str | None = None,
    recovery: RecoveryLike | EllipsisType | None = ...,
    retry: Retry | None = None,
) -> CodedError:
    """The caller is known, and may not do this.

    The arguments are those of `CodedError`; to be raised.
    """
    return CodedError(ErrorCode.FORBIDDEN, message, data, reason=reason, recovery=recovery, retry=retry)


def unauthorized(
    message: str | None = None,
    data: Mapping[str, Any] | None = None,
    *,
    reason: str | None = None,
    recovery: RecoveryLike | EllipsisType | None = ...,
    retry: Retry | None = None,
) -> CodedError:
    """The caller's credentials are missing, invalid or expired.

    The arguments are those of `CodedError`; to be raised.
    """
    return CodedError(ErrorCode.UNAUTHORIZED, message, data, reason=reason, recovery=recovery, retry=retry)


def validation_error(
    message: str | None = None,
    data: Mapping[str, Any] | None = None,
    *,
    reason: str | None = None,
    recovery: RecoveryLike | EllipsisType | None = ...,
    retry: Retry | None = None,
) -> CodedError:
    """The input has the right form and breaks a rule of the operation.

    The arguments are those of `CodedError`; to be raised.
    """
    return CodedError(ErrorCode.VALIDATION_ERROR, message, data, reason=reason, recovery=recovery, retry=retry)


def conflict(
    message: str | None = None,
    data: Mapping[str, Any] | None = None,
    *,
    reason: str | None = None,
    recovery: RecoveryLike | EllipsisType | None = ...,
    retry: Retry | None = None,
) -> CodedError:
    """The operation conflicts with the current state: a duplicate, a changed version.

    The arguments are those of `CodedError`; to be raised.
    """
    return CodedError(ErrorCode.CONFLICT, message, data, reason=reason, recovery=recovery, retry=retry)


def rate_limited(
    message: str | None = None,
    data: Mapping[str, Any] | None = None,
    *,
    reason: str | None = None,
    recovery: RecoveryLike | EllipsisType | None = ...,
    retry: Retry | None = None,
) -> CodedError:
    """A limit on the rate or the amount of calls was reached.

    The arguments are those of `CodedError`; to be raised.
    """
    return CodedError(ErrorCode.RATE_LIMITED, message, data, reason=reason, recovery=recovery, retry=retry)


def timeout(
    message: str | None = None,
    data: Mapping[str, Any] | None = None,
    *,
    reason: str | None = None,
    recovery: RecoveryLike | EllipsisType | None = ...,
    retry: Retry | None = None,
) -> CodedError:
    """The operation took too long.

    The arguments are those of `CodedError`; to be raised.
    """
    return CodedError(ErrorCode.TIMEOUT, message, data, reason=reason, recovery=recovery, retry=retry)


def service_unavailable(
    message: str | None = None,
    data: Mapping[str, Any] | None = None,
    *,
    reason: str | None = None,
    recovery: RecoveryLike | EllipsisType | None = ...,
    retry: Retry | None = None,
) -> CodedError:
    """A service behind the tool is down or cannot be reached.

    The arguments are those of `CodedError`; to be raised.
    """
    return CodedError(ErrorCode.SERVICE_UNAVAILABLE, message, data, reason=reason, recovery=recovery, retry=retry)


def configuration_error(
    message: str | None = None,
    data: Mapping[str, Any] | None = None,
    *,
    reason: str | None = None,
    recovery: RecoveryLike | EllipsisType | None = ...,
    retry: Retry | None = None,
) -> CodedError:
    """The server is not configured correctly.

    The arguments are those of `CodedError`; to be raised.
    """
    return CodedError(ErrorCode.CONFIGURATION_ERROR, message, data, reason=reason, recovery=recovery, retry=retry)


def internal_error(
    message: str | None = None,
    data: Mapping[str, Any] | None = None,
    *,
    reason: str | None = None,
    recovery: RecoveryLike | EllipsisType | None = ...,
    retry: Retry | None = None,
) -> CodedError:
    """Something failed that should not have.

    The arguments are those of `CodedError`; to be raised.
    """
    return CodedError(ErrorCode.INTERNAL_ERROR, message, data, reason=reason, recovery=recovery, retry=retry)


def serialization_error(
    message: str | None = None,
    data: Mapping[str, Any] | None = None,
    *,
    reason: str | None = None,
    recovery: RecoveryLike | EllipsisType | None = ...,
    retry: Retry | None = None,
) -> CodedError:
    """Data could not be encoded or decoded.

    The arguments are those of `CodedError`; to be raised.
    """
    return CodedError(ErrorCode.SERIALIZATION_ERROR, message, data, reason=reason, recovery=recovery, retry=retry)


def database_error(
    message: str | None = None,
    data: Mapping[str, Any] | None = None,
    *,
    reason: str | None = None,
    recovery: RecoveryLike | EllipsisType | None = ...,
    retry: Retry | None = None,
) -> CodedError:
    """The data store failed.

    The arguments are those of `CodedError`; to be raised.
    """
    return CodedError(ErrorCode.DATABASE_ERROR, message, data, reason=reason, recovery=recovery, retry=retry)


def request_cancelled(
    message: str | None = None,
    data: Mapping[str, Any] | None = None,
    *,
    reason: str | None = None,
    recovery: RecoveryLike | EllipsisType | None = ...,
    retry: Retry | None = None,
) -> CodedError:
    """The request was cancelled before it was done.

    The arguments are those of `CodedError`; to be raised.
    """
    return CodedError(ErrorCode.REQUEST_CANCELLED, message, data, reason=reason, recovery=recovery, retry=retry)


FACTORIES: Final = {
    factory.__name__: code
    for factory, code in (
        (invalid_params, ErrorCode.INVALID_PARAMS),
        (invalid_request, ErrorCode.INVALID_REQUEST),
        (not_found, ErrorCode.NOT_FOUND),
        (forbidden, ErrorCode.FORBIDDEN),
        (unauthorized, ErrorCode.UNAUTHORIZED),
        (validation_error, ErrorCode.VALIDATION_ERROR),
        (conflict, ErrorCode.CONFLICT),
        (rate_limited, ErrorCode.RATE_LIMITED),
        (timeout, ErrorCode.TIMEOUT),
        (service_unavailable, ErrorCode.SERVICE_UNAVAILABLE),
        (configuration_error, ErrorCode.CONFIGURATION_ERROR),
        (internal_error, ErrorCode.INTERNAL_ERROR),
        (serialization_error, ErrorCode.SERIALIZATION_ERROR),
        (database_error, ErrorCode.DATABASE_ERROR),
        (request_cancelled, ErrorCode.REQUEST_CANCELLED),
    )
}
"""The code of each factory, by the factory's name."""
