"""The failures that code raises on purpose: `CodedError`, and a factory for each code that tools raise."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from mcpcore import provided
from mcpcore.codes import EFFECTS, Code, ErrorCode, is_code
from mcpcore.contract import RESERVED_DATA_KEYS, DeclaredRecovery
from mcpcore.effects import CHANGED, as_effects, cautious_advice, declared_effects
from mcpcore.foreign import quietly
from mcpcore.jsonable import Cut, as_mapping, cut_text, named, safe_str, to_json
from mcpcore.lost import note, use
from mcpcore.retry import Retry

if TYPE_CHECKING:
    from types import EllipsisType, TracebackType
    from typing import Self

    from mcpcore.classification.engine import Explanation
    from mcpcore.codes import Effects
    from mcpcore.contract import FailureMode

RecoveryLike: TypeAlias = "str | Mapping[str, Any]"
"""A recovery at a throw site: the hint alone, or the object of the wire (`hint`, `strategy`, `fallbackTool`, …)."""


class CodedError(Exception):
    """A failure with a code, to be raised; at the boundary it becomes an envelope.

    Its `data` reaches the client, since it was meant to. Chain it with `raise … from …`: the cause goes to the log.

    Attributes:
        code: The `ErrorCode` or `CustomCode`.
        message: What went wrong here, as a sentence for the client.
        data: Facts for the client, as the author gave them; a model or a dataclass as the mapping of its fields, and if
            the declared entry has a data model, as the JSON that this model writes.
        reason: The declared reason, given as such or as `data["reason"]`; None where there is none.
        retry: The advice of the throw site or of `ctx.fail`, else None; `advice` is the one in force.
        retry_is_declared: Whether an author gave `retry`, at the throw site or in the entry; False too where a caught
            exception or the code did.
        effects: Whether anything was changed before the failure, as the throw site says; else None.
        entry: The failure mode that declares the reason, once a contract has been asked.
        omits_recovery: Whether the throw site asked for no recovery at all, with `recovery=None`.
        omits_effects: Whether the declared effects do not hold, since the failure represents others too.
        unusable_advice: What the throw site gave as `retry` or `effects` that is neither, in words; else None. The
            failure is sent without it, and its contract is broken.
    """

    code: Code
    message: str
    data: Mapping[str, Any] | None
    reason: str | None
    retry: Retry | None
    retry_is_declared: bool = False
    effects: Effects | None = None
    entry: FailureMode[Any] | None
    omits_recovery: bool
    omits_effects: bool = False
    unusable_advice: str | None = None

    _given_data: object = None
    """The model or dataclass that `data` was made of; the declared entry may write it otherwise."""

    is_dumped: bool = False
    """Whether the data model of `entry` wrote `data`."""

    def __init__(
        self,
        code: Code,
        message: str | None = None,
        data: Mapping[str, Any] | None = None,
        *,
        reason: str | None = None,
        recovery: RecoveryLike | EllipsisType | None = ...,
        retry: Retry | None = None,
        effects: Effects | None = None,
    ) -> None:
        """Make a failure.

        Args:
            code: What went wrong.
            message: A sentence for the client; left out, the declared entry's `when`, else the code's sentence.
            data: Facts for the client; `reason`, `retryable` and `recovery` are reserved keys.
            reason: The reason of the contract that this failure is.
            recovery: Replaces the declared recovery, or adds to it where it has no `hint`; `None` leaves it out.
            retry: Replaces the declared retry advice.
            effects: Whether anything was changed before the failure: "none", "partial" or "unknown"; replaces the
                declared effects.

        Raises:
            TypeError: If `code` is not a code.
        """
        if not is_code(code):
            from mcpcore.contract import not_a_code

            raise TypeError(f"{type(self).__name__}(code, …): {not_a_code(code)}")
        self.code = code
        self.data = _facts(data)
        if self.data is not data:
            self._given_data = data
        self.reason = _reason(fact(self.data, "reason") if reason is None else reason)
        self._reason_is_data = reason is None
        told = None if message is None else safe_str(message)
        self._has_message = told is not None and not told.isspace() and told != ""
        self.message = told if told is not None and self._has_message else self.code.sentence
        self.omits_recovery = recovery is None
        self._given_recovery = recovery_of(recovery)
        self._partial_recovery = (
            None if recovery is None or recovery is ... else quietly(lambda: _partial(recovery), None)
        )
        self.retry = retry if isinstance(retry, Retry) else None
        self.retry_is_declared = self.retry is not None
        if retry is not None and self.retry is None:
            self.unusable_advice = f"retry must be a Retry, not {_shown(retry)}"
        if effects is not None:
            self.effects = as_effects(effects)
            if self.effects is None:
                self.unusable_advice = f"effects must be one of {', '.join(EFFECTS)}, not {_shown(effects)}"
        self.entry = None
        super().__init__(self.message)
        note(self)

    @property
    def recovery(self) -> dict[str, Any] | None:
        """The recovery in force, as the wire has it: the throw site's, else that of `recovery_for`, else the declared.

        Any other recovery in `data` may be a caller's words, and does not count.
        """
        if self.omits_recovery:
            return None
        if self._given_recovery is not None:
            return self._given_recovery
        looked_up = fact(self.data, "recovery")
        if type(looked_up) is DeclaredRecovery and (recovery := recovery_of(looked_up)) is not None:
            return recovery
        if self.entry is None:
            return None
        declared = self.entry.recovery_json()
        # A recovery without a hint goes with the one that is declared.
        return {**declared, **self._partial_recovery} if self._partial_recovery else declared

    @property
    def advice(self) -> Retry:
        """The retry advice in force: the throw site's, else the declared entry's, else the code's.

        Where something is declared to have changed, or to have possibly changed, only an author's advice counts.
        """
        if declared_effects(self) in CHANGED:
            return cautious_advice(self)
        if self.retry is not None:
            return self.retry
        # An entry's advice that is merely its code's says nothing about the code that was raised instead.
        if self.entry is not None and self.entry.retry is not None:
            return self.entry.retry
        return self.code.retry

    def with_found_advice(self, advice: Retry | None) -> Self:
        """Take the retry advice of a caught exception or a response, if there is any, and return the failure.

        Unlike an author's own advice, it is withheld where a second call may do something twice.
        """
        if advice is not None:
            self.retry, self.retry_is_declared = advice, False
        return self

    @property
    def sent_reason(self) -> str | None:
        """The reason for the client. A reason in `data` may be a caller's word, so it counts only if it is declared."""
        return None if self._reason_is_data and self.entry is None else self.reason

    def misused_keys(self, facts: Mapping[str, Any]) -> list[str]:
        """The reserved keys in `facts`, the data as JSON, with neither a recovery of `recovery_for` nor the reason."""
        misused: list[str] = []
        for key in sorted(RESERVED_DATA_KEYS.intersection(facts)):
            value = facts[key]
            if value is None or (key == "recovery" and type(fact(self.data, key)) is DeclaredRecovery):
                continue
            if key == "reason" and self.entry is not None and value == self.entry.reason:
                continue
            if key == "fallbackTool" and self.entry is not None and self.entry.has_field(key):
                continue
            misused.append(key)
        return misused

    def declare(self, entry: FailureMode[Any]) -> None:
        """Tie the failure, wherever it was raised, to the entry that declares its reason."""
        self.entry = entry
        if entry.data is not None and self._given_data is not None:
            written = quietly(lambda: entry.dump_data(self._given_data), None)
            self.is_dumped = type(written) is dict
            if self.is_dumped:
                self.data = written
        if not self._has_message:
            self.message = entry.when
            self.args = (entry.when,)

    @classmethod
    def from_unknown(
        cls,
        thrown: object,
        *,
        code: Code | None = None,
        message: str | None = None,
        data: Mapping[str, Any] | None = None,
        reason: str | None = None,
        **fields: str | None,
    ) -> CodedError:
        """Whatever was thrown, as a coded error with it as the cause; a coded error stays itself.

        Args:
            thrown: An exception, or anything else that stands for a failure; its text goes to no client.
            code: The code; left out, what `classify` says.
            message: A sentence for the client; left out, the code's own.
            data: Facts for the client.
            reason: The reason of the contract that this failure is.
            **fields: Fields to bind, such as `session_id`; see `mcpcore.bound_fields.FIELDS`.

        Raises:
            TypeError: If a field is none of those.
        """
        if isinstance(thrown, CodedError):
            return _carrying(thrown, fields)
        retry = None
        if code is None:
            code = ErrorCode.UNKNOWN_ERROR
            if isinstance(thrown, BaseException):
                explained: Explanation = provided("explain")(thrown)
                code = explained.code
                retry = None if explained.retry == code.retry else explained.retry
        error = cls(code, message, data, reason=reason).with_found_advice(retry)
        error.__cause__ = thrown if isinstance(thrown, BaseException) else RuntimeError(safe_str(thrown))
        return _carrying(error, fields)

    @classmethod
    def invariant_violation(
        cls,
        invariant_id: str,
        message: str | None = None,
        data: Mapping[str, Any] | None = None,
        *,
        cause: BaseException | None = None,
        **fields: str | None,
    ) -> CodedError:
        """An invariant of the system is broken: INTERNAL_ERROR, with the invariant bound.

        Raises:
            TypeError: If a field is none of `mcpcore.bound_fields.FIELDS`.
        """
        said = f"The invariant {invariant_id} does not hold." if message is None else message
        bound = {**fields, "invariant_id": invariant_id}
        return cls._made(ErrorCode.INTERNAL_ERROR, said, data, "invariant_violation", cause, bound)

    @classmethod
    def tool_failure(
        cls,
        code: Code,
        message: str | None = None,
        data: Mapping[str, Any] | None = None,
        *,
        reason: str | None = None,
        cause: BaseException | None = None,
        **fields: str | None,
    ) -> CodedError:
        """A tool fails in a way of its own.

        Raises:
            TypeError: If `code` is not a code, or a field is none of `mcpcore.bound_fields.FIELDS`.
        """
        return cls._made(code, message, data, reason, cause, fields)

    @classmethod
    def startup_failure(
        cls,
        code: Code = ErrorCode.INITIALIZATION_FAILED,
        message: str | None = None,
        data: Mapping[str, Any] | None = None,
        *,
        cause: BaseException | None = None,
        **fields: str | None,
    ) -> CodedError:
        """A component does not start.

        Raises:
            TypeError: If `code` is not a code, or a field is none of `mcpcore.bound_fields.FIELDS`.
        """
        return cls._made(code, message, data, "startup_failure", cause, fields)

    @classmethod
    def _made(
        cls,
        code: Code,
        message: str | None,
        data: Mapping[str, Any] | None,
        reason: str | None,
        cause: BaseException | None,
        fields: Mapping[str, str | None],
    ) -> CodedError:
        error = cls(code, message, data, reason=reason)
        if cause is not None:
            error.__cause__ = cause
        return _carrying(error, fields)

    def __str__(self) -> str:
        return self.message

    def __repr__(self) -> str:
        reason = "" if self.reason is None else f", reason={self.reason!r}"
        return f"{type(self).__name__}({self.code.name}, {self.message!r}{reason})"

    def with_traceback(self, tb: TracebackType | None, /) -> Self:
        """Set the traceback, as for any exception."""
        use(self)
        return super().with_traceback(tb)

    def __reduce__(self) -> tuple[object, tuple[Any, ...], dict[str, Any]]:
        use(self)  # in the copy as well, which equals its original
        state = self.__dict__.copy()
        if isinstance(state.get("data"), MappingProxyType):  # can be neither pickled nor copied
            state["data"] = dict(state["data"])
        state.pop("_given_data", None)  # its class may be local, which cannot be pickled
        return _bare, (type(self), *self.args), state


class FrameworkError(CodedError):
    """A failure that the framework itself tells (bad arguments, an unknown tool): no contract declares its reason."""


def _carrying(error: CodedError, fields: Mapping[str, str | None]) -> CodedError:
    """`error`, with fields that stand in its envelope and its record."""
    if fields:
        from mcpcore.bound_fields import carry

        carry(error, fields)
    return error


def _bare(cls: type[CodedError], *args: Any) -> CodedError:
    """An instance without `__init__` and `__new__`, whose arguments a subclass may have changed."""
    return Exception.__new__(cls, *args)


def failure_of(
    entry: FailureMode[Any],
    message: str | None,
    data: Mapping[str, Any] | None,
    *,
    recovery: RecoveryLike | EllipsisType | None = ...,
    retry: Retry | EllipsisType | None = ...,
    effects: Effects | None = None,
) -> CodedError:
    """The failure of a declared entry; `ctx.fail` makes its failures here."""
    own = None if retry is ... else retry
    error = CodedError(
        entry.code,
        message,
        data,
        reason=entry.reason,
        recovery=recovery,
        retry=own if own is not None else entry.retry or entry.code.retry,
        effects=effects,
    )
    if own is None and entry.retry is None:
        error.retry_is_declared = False
    error.declare(entry)
    return error


def fact(data: Mapping[str, Any] | None, key: str) -> Any:
    """What `data` has under `key`; None too where the mapping's own code raises."""
    return None if data is None else quietly(lambda: data.get(key), None)


def _reason(value: object) -> str | None:
    """`value` as a reason; a very long one, which no contract can declare, is cut."""
    if not issubclass(type(value), str):
        return None
    given = cast("str", value)
    text, length = str.__getitem__(given, slice(_LONGEST_REASON)), str.__len__(given)
    return Cut(text, length) if length > _LONGEST_REASON else text or None


def _shown(value: object) -> str:
    """An argument in a sentence: a text, if it is one, else its type."""
    return repr(cut_text(safe_str(value), 100)) if issubclass(type(value), str) else named(value)


_LONGEST_REASON: Final = 1_000

_MAX_RECOVERY: Final = 32 * 1024
"""Bytes of a recovery that is no dict; an envelope has less room for it."""


_MAX_PARTS: Final = 100
"""Parts of a recovery that is read as it is; one with more parts is cut first."""


def recovery_of(value: object) -> dict[str, Any] | None:
    """`value` as a recovery in the form of the wire, or None where it is not one."""
    return None if value is None or value is ... else quietly(lambda: _whole(value), None)


def _whole(value: object) -> dict[str, Any] | None:
    if isinstance(value, str):
        return {"hint": value} if value and not value.isspace() else None
    if not isinstance(value, Mapping):
        return None
    parts: Any = value if _is_small_dict(value) else to_json(value, room=_MAX_RECOVERY)
    source: Any = value if type(value) is dict else parts
    hint = source.get("hint") if isinstance(source, dict) else None
    if not isinstance(hint, str) or not hint or hint.isspace():
        return None
    return {"hint": hint, **_parts_of(parts)}


def _partial(value: object) -> dict[str, Any] | None:
    return _parts_of(value) if isinstance(value, Mapping) else None


def _is_small_dict(value: Any) -> bool:
    return type(value) is dict and len(value) <= _MAX_PARTS


def _parts_of(recovery: Mapping[str, Any]) -> dict[str, Any]:
    """All of a recovery but the hint, by the names of the wire."""
    parts: Any = recovery if _is_small_dict(recovery) else to_json(recovery, room=_MAX_RECOVERY)
    found: dict[str, Any] = {}
    if isinstance(parts, dict):
        found = {_WIRE_NAMES.get(str(key), str(key)): part for key, part in parts.items() if key != "hint"}
    strategy = found.get("strategy")
    if isinstance(strategy, str):
        found["strategy"] = strategy.lower()  # RETRY_LATER, as other envelopes write it
    return found


_WIRE_NAMES: Final = {
    "fallback_tool": "fallbackTool",
    "corrective_params": "correctiveParams",
    "user_message": "userMessage",
}
"""The parts of a recovery by the names that `FailureMode` has for them."""


def _facts(data: object) -> Mapping[str, Any] | None:
    """What a throw site gave as data, as a mapping: to complain about it would cost the failure that is being told."""
    if data is None or type(data) is dict:
        return data
    if quietly(lambda: isinstance(data, Mapping), otherwise=False):
        return cast("Mapping[str, Any]", data)
    # The envelope names a model that cannot be dumped.
    fields = quietly(lambda: as_mapping(data), None)
    return fields if type(fields) is dict else {"value": data}


def invalid_params(
    message: str | None = None,
    data: Mapping[str, Any] | None = None,
    *,
    reason: str | None = None,
    recovery: RecoveryLike | EllipsisType | None = ...,
    retry: Retry | None = None,
    effects: Effects | None = None,
) -> CodedError:
    """The arguments do not fit the tool: a missing field, a wrong type, a value out of range.

    The arguments are those of `CodedError`; to be raised.
    """
    return CodedError(
        ErrorCode.INVALID_PARAMS, message, data, reason=reason, recovery=recovery, retry=retry, effects=effects
    )


def invalid_request(
    message: str | None = None,
    data: Mapping[str, Any] | None = None,
    *,
    reason: str | None = None,
    recovery: RecoveryLike | EllipsisType | None = ...,
    retry: Retry | None = None,
    effects: Effects | None = None,
) -> CodedError:
    """The request makes no sense here: an operation that is not supported, a capability that is missing.

    The arguments are those of `CodedError`; to be raised.
    """
    return CodedError(
        ErrorCode.INVALID_REQUEST, message, data, reason=reason, recovery=recovery, retry=retry, effects=effects
    )


def not_found(
    message: str | None = None,
    data: Mapping[str, Any] | None = None,
    *,
    reason: str | None = None,
    recovery: RecoveryLike | EllipsisType | None = ...,
    retry: Retry | None = None,
    effects: Effects | None = None,
) -> CodedError:
    """What was asked for does not exist.

    The arguments are those of `CodedError`; to be raised.
    """
    return CodedError(
        ErrorCode.NOT_FOUND, message, data, reason=reason, recovery=recovery, retry=retry, effects=effects
    )


def forbidden(
    message: str | None = None,
    data: Mapping[str, Any] | None = None,
    *,
    reason: str | None = None,
    recovery: RecoveryLike | EllipsisType | None = ...,
    retry: Retry | None = None,
    effects: Effects | None = None,
) -> CodedError:
    """The caller is known, and may not do this.

    The arguments are those of `CodedError`; to be raised.
    """
    return CodedError(
        ErrorCode.FORBIDDEN, message, data, reason=reason, recovery=recovery, retry=retry, effects=effects
    )


def unauthorized(
    message: str | None = None,
    data: Mapping[str, Any] | None = None,
    *,
    reason: str | None = None,
    recovery: RecoveryLike | EllipsisType | None = ...,
    retry: Retry | None = None,
    effects: Effects | None = None,
) -> CodedError:
    """The caller's credentials are missing, invalid or expired.

    The arguments are those of `CodedError`; to be raised.
    """
    return CodedError(
        ErrorCode.UNAUTHORIZED, message, data, reason=reason, recovery=recovery, retry=retry, effects=effects
    )


def validation_error(
    message: str | None = None,
    data: Mapping[str, Any] | None = None,
    *,
    reason: str | None = None,
    recovery: RecoveryLike | EllipsisType | None = ...,
    retry: Retry | None = None,
    effects: Effects | None = None,
) -> CodedError:
    """The input has the right form and breaks a rule of the operation.

    The arguments are those of `CodedError`; to be raised.
    """
    return CodedError(
        ErrorCode.VALIDATION_ERROR, message, data, reason=reason, recovery=recovery, retry=retry, effects=effects
    )


def conflict(
    message: str | None = None,
    data: Mapping[str, Any] | None = None,
    *,
    reason: str | None = None,
    recovery: RecoveryLike | EllipsisType | None = ...,
    retry: Retry | None = None,
    effects: Effects | None = None,
) -> CodedError:
    """The operation conflicts with the current state: a duplicate, a changed version.

    The arguments are those of `CodedError`; to be raised.
    """
    return CodedError(ErrorCode.CONFLICT, message, data, reason=reason, recovery=recovery, retry=retry, effects=effects)


def rate_limited(
    message: str | None = None,
    data: Mapping[str, Any] | None = None,
    *,
    reason: str | None = None,
    recovery: RecoveryLike | EllipsisType | None = ...,
    retry: Retry | None = None,
    effects: Effects | None = None,
) -> CodedError:
    """A limit on the rate or the amount of calls was reached.

    The arguments are those of `CodedError`; to be raised.
    """
    return CodedError(
        ErrorCode.RATE_LIMITED, message, data, reason=reason, recovery=recovery, retry=retry, effects=effects
    )


def timeout(
    message: str | None = None,
    data: Mapping[str, Any] | None = None,
    *,
    reason: str | None = None,
    recovery: RecoveryLike | EllipsisType | None = ...,
    retry: Retry | None = None,
    effects: Effects | None = None,
) -> CodedError:
    """The operation took too long.

    The arguments are those of `CodedError`; to be raised.
    """
    return CodedError(ErrorCode.TIMEOUT, message, data, reason=reason, recovery=recovery, retry=retry, effects=effects)


def service_unavailable(
    message: str | None = None,
    data: Mapping[str, Any] | None = None,
    *,
    reason: str | None = None,
    recovery: RecoveryLike | EllipsisType | None = ...,
    retry: Retry | None = None,
    effects: Effects | None = None,
) -> CodedError:
    """A service behind the tool is down or cannot be reached.

    The arguments are those of `CodedError`; to be raised.
    """
    return CodedError(
        ErrorCode.SERVICE_UNAVAILABLE, message, data, reason=reason, recovery=recovery, retry=retry, effects=effects
    )


def configuration_error(
    message: str | None = None,
    data: Mapping[str, Any] | None = None,
    *,
    reason: str | None = None,
    recovery: RecoveryLike | EllipsisType | None = ...,
    retry: Retry | None = None,
    effects: Effects | None = None,
) -> CodedError:
    """The server is not configured correctly.

    The arguments are those of `CodedError`; to be raised.
    """
    return CodedError(
        ErrorCode.CONFIGURATION_ERROR, message, data, reason=reason, recovery=recovery, retry=retry, effects=effects
    )


def internal_error(
    message: str | None = None,
    data: Mapping[str, Any] | None = None,
    *,
    reason: str | None = None,
    recovery: RecoveryLike | EllipsisType | None = ...,
    retry: Retry | None = None,
    effects: Effects | None = None,
) -> CodedError:
    """Something failed that should not have.

    The arguments are those of `CodedError`; to be raised.
    """
    return CodedError(
        ErrorCode.INTERNAL_ERROR, message, data, reason=reason, recovery=recovery, retry=retry, effects=effects
    )


def serialization_error(
    message: str | None = None,
    data: Mapping[str, Any] | None = None,
    *,
    reason: str | None = None,
    recovery: RecoveryLike | EllipsisType | None = ...,
    retry: Retry | None = None,
    effects: Effects | None = None,
) -> CodedError:
    """Data could not be encoded or decoded.

    The arguments are those of `CodedError`; to be raised.
    """
    return CodedError(
        ErrorCode.SERIALIZATION_ERROR, message, data, reason=reason, recovery=recovery, retry=retry, effects=effects
    )


def database_error(
    message: str | None = None,
    data: Mapping[str, Any] | None = None,
    *,
    reason: str | None = None,
    recovery: RecoveryLike | EllipsisType | None = ...,
    retry: Retry | None = None,
    effects: Effects | None = None,
) -> CodedError:
    """The data store failed.

    The arguments are those of `CodedError`; to be raised.
    """
    return CodedError(
        ErrorCode.DATABASE_ERROR, message, data, reason=reason, recovery=recovery, retry=retry, effects=effects
    )


def request_cancelled(
    message: str | None = None,
    data: Mapping[str, Any] | None = None,
    *,
    reason: str | None = None,
    recovery: RecoveryLike | EllipsisType | None = ...,
    retry: Retry | None = None,
    effects: Effects | None = None,
) -> CodedError:
    """The request was cancelled before it was done.

    The arguments are those of `CodedError`; to be raised.
    """
    return CodedError(
        ErrorCode.REQUEST_CANCELLED, message, data, reason=reason, recovery=recovery, retry=retry, effects=effects
    )


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
