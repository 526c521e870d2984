"""Failures that code raises on purpose: `CodedError`, and a factory for each code that tools raise."""

from __future__ import annotations

from collections.abc import Mapping
from types import EllipsisType, MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, TypeAlias, cast

from mcpcore.contract.codes import EFFECTS, Code, Effects, ErrorCode, Retry, is_code
from mcpcore.contract.effects import CallState, as_effects, declared_effects, settled
from mcpcore.contract.failure_modes import RESERVED_DATA_KEYS, FailureMode
from mcpcore.contract.recovery import (
    DeclaredRecovery,
    facts_for,
    filled_recovery,
    partial_recovery,
    recovery_of,
    sent_recovery,
)
from mcpcore.contract.unraised import note, use
from mcpcore.values.jsonable import Cut, as_mapping, cut_text, named, safe_str
from mcpcore.values.untrusted import quietly

if TYPE_CHECKING:
    from mcpcore.classification import Explanation

RecoveryLike: TypeAlias = "str | Mapping[str, Any]"
"""A recovery in a `raise`: the hint alone, or the object of the wire (`hint`, `strategy`, `fallbackTool`, …)."""


class CodedError(Exception):
    """A failure with a code; at the boundary, it becomes an envelope.

    Its `data` is sent to the client. Chain it with `raise … from …`: the cause goes to the log.

    ```python
    try:
        raise CodedError(ErrorCode.NOT_FOUND, "No order 7.", {"order_id": 7})
    except CodedError as failure:
        assert failure.data == {"order_id": 7}
        assert not failure.advice.retryable
    ```

    Attributes:
        code: The `ErrorCode` or `CustomCode`.
        message: A sentence for the client about this failure.
        data: Facts for the client. A model or a dataclass becomes the mapping of its fields; if the declared entry has
            a data model, the JSON that this model writes.
        reason: The declared reason, from the argument or from `data["reason"]`, or None.
        retry: The advice of the `raise` statement or of `ctx.fail`, else None; `advice` is the one in force.
        retry_is_declared: Whether the author set `retry`, in the `raise` statement or in the entry, and not a caught
            exception or the code.
        effects: Whether anything was changed before the failure, if the `raise` statement says so; else None.
        entry: The failure mode that declares the reason, once the contract is known.
        omits_recovery: Whether the `raise` statement suppressed the recovery with `recovery=None`.
        omits_effects: Whether the declared effects do not apply, since the failure represents others too.
        has_message: Whether the `raise` statement gave a message.
        injected: Whether a test asked for this failure, and no handler raised it.
        unusable_advice: A description of an invalid `retry` or `effects` from the `raise` statement, or of data or a
            message that a mapping could not make; else None. The failure is sent without it and breaks its contract.
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
    has_message: bool
    omits_effects: bool = False
    injected: bool = False
    unusable_advice: str | None = None

    # The tool with whose name all texts were searched for secrets, and none can be one; None if nobody searched.
    clean_for: str | None = None

    _given_recovery: dict[str, Any] | None
    _partial_recovery: dict[str, Any] | None

    _given_data: object = None
    """The model or dataclass that was passed as `data`; the declared entry may serialize it differently."""

    is_dumped: bool = False
    """Whether the data model of `entry` wrote `data`."""

    _facts: dict[str, Any] | None = None
    """The values for the templates of `entry`, if it has any and the data fits its model."""

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
        """Create a failure.

        Args:
            code: The code.
            message: A sentence for the client; by default the `when` of the declared entry, else that of the code.
            data: Facts for the client; `reason`, `retryable` and `recovery` are reserved keys.
            reason: The declared reason.
            recovery: Replaces the declared recovery, or extends it if it has no `hint`; `None` suppresses it.
            retry: Replaces the declared retry advice.
            effects: Whether anything was changed before the failure: "none", "partial" or "unknown"; replaces the
                declared effects.

        Raises:
            TypeError: If `code` is not a code.
        """
        if type(code) is not ErrorCode and not is_code(code):
            from mcpcore.contract.checks import not_a_code

            raise TypeError(f"{type(self).__name__}(code, …): {not_a_code(code)}")
        self.code = code
        self.data = data
        if data is not None and type(data) is not dict:
            self.data = _facts(data)
            if self.data is not data:
                self._given_data = data
        self._reason_is_data = reason is None
        if reason is None and data is not None:
            reason = fact(self.data, "reason")
        self.reason = reason if type(reason) is str and 0 < len(reason) <= _LONGEST_REASON else _reason(reason)
        # `safe_str` returns a text of printable characters unchanged.
        if type(message) is str and message.isprintable() and len(message) <= _LONGEST_REASON:
            text = message
        else:
            text = "" if message is None else safe_str(message)
        self.has_message = bool(text) and not text.isspace()
        self.message = text if self.has_message else code.sentence
        self.entry = self.retry = self._given_recovery = self._partial_recovery = None
        self.omits_recovery = recovery is None
        self.retry_is_declared = False
        if recovery is not None and recovery is not ...:
            self._given_recovery = recovery_of(recovery)
            if type(recovery) is not str:
                self._partial_recovery = quietly(lambda: partial_recovery(recovery), None)
        if type(retry) is Retry:
            self.retry, self.retry_is_declared = retry, True
        elif retry is not None:
            self.unusable_advice = f"retry must be a Retry, not {_shown(retry)}"
        if effects is not None:
            self.effects = as_effects(effects)
            if self.effects is None:
                self.unusable_advice = f"effects must be one of {', '.join(EFFECTS)}, not {_shown(effects)}"
        super().__init__(self.message)
        # A failure that is made in a call and never raised is reported as lost.
        note(self)

    @property
    def recovery(self) -> dict[str, Any] | None:
        """The recovery in force, for the wire: that of the `raise`, else of `recovery_for`, else the declared one.

        Any other recovery in `data` may come from a caller, and does not count.
        """
        if self.omits_recovery:
            return None
        if self._given_recovery is not None:
            return self._given_recovery
        data, entry = self.data, self.entry
        if data is not None and (type(data) is not dict or "recovery" in data):
            looked_up = fact(data, "recovery")
            if type(looked_up) is DeclaredRecovery:
                text: dict[str, Any] = looked_up
                origin = looked_up.entry
                if origin.templates is not None:
                    facts = self._facts if origin is entry else facts_for(origin, data)
                    text = filled_recovery(looked_up, origin.templates, facts)
                if (recovery := sent_recovery(text)) is not None:
                    return recovery
        if entry is None:
            return None
        declared = entry.recovery_json()
        if entry.templates is not None:
            declared = filled_recovery(declared, entry.templates, self._facts)
        if self._partial_recovery:
            declared |= self._partial_recovery  # a recovery without a hint extends the declared one
        return declared or None

    @property
    def advice(self) -> Retry:
        """The retry advice in force: that of the `raise` statement, else of the declared entry, else of the code.

        If the call has changed something, or may have, only the advice of the author counts. The annotations of the
        tool may withhold more of it; see `mcpcore.contract.effects.settled`.
        """
        return self.settled(None)[1]

    def settled(self, call: CallState | None, *, others: Effects | None = "none") -> tuple[Effects | None, Retry]:
        """The effects and the retry advice that this failure of `call` is sent with; see `effects.settled`."""
        # The default advice of the declared code does not apply to another code that was raised instead.
        declared = None if self.entry is None else self.entry.retry
        return settled(
            call,
            self.code,
            self.retry or declared or self.code.retry,
            is_declared=self.retry_is_declared or (declared is not None and declared.retryable),
            effects=declared_effects(self),
            others=others,
        )

    @property
    def is_as_declared(self) -> bool:
        """Whether recovery, advice and effects are those of the entry, and the same for all of its failures."""
        entry, data = self.entry, self.data
        return (
            entry is not None
            and self.retry is (entry.retry or entry.code.retry)
            and self.retry_is_declared is (entry.retry is not None)
            and self.code is entry.code
            and self.reason == entry.reason
            and self._given_recovery is None
            and self.effects is None
            and entry.templates is None
            and not (self.omits_recovery or self.omits_effects or self._partial_recovery)
            and (data is None or (type(data) is dict and "recovery" not in data))
        )

    def with_found_advice(self, advice: Retry | None) -> Self:
        """Set the retry advice of a caught exception or a response, if any, and return the failure.

        Unlike advice of the author, it is withheld if a second call may repeat a change.
        """
        if advice is not None:
            self.retry, self.retry_is_declared = advice, False
        return self

    @property
    def sent_reason(self) -> str | None:
        """The reason for the client. A reason in `data` may come from a caller, so it counts only if it is declared."""
        return None if self._reason_is_data and self.entry is None else self.reason

    def misused_keys(self, facts: Mapping[str, Any]) -> list[str]:
        """The reserved keys in `facts`, the data as JSON, except a recovery of `recovery_for` and the reason."""
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
        """Set the entry that declares the reason of this failure."""
        self.entry = entry
        if entry.data is not None and self._given_data is not None:
            written = quietly(lambda: entry.dump_data(self._given_data), None)
            self.is_dumped = type(written) is dict
            if self.is_dumped:
                self.data = written
        templates = entry.templates
        if templates is not None:
            self._facts = facts_for(entry, self.data, dumped=self.is_dumped)
        if not self.has_message:
            when = entry.sentence
            if templates is not None and templates.when is not None:
                when = templates.when.filled(self._facts) or self.code.sentence
            self.message = when
            self.args = (when,)

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
        """A coded error with `thrown` as its cause; a coded error is returned unchanged.

        Args:
            thrown: An exception, or any other object for a failure; its text is never sent to a client.
            code: The code; by default, that of `classify`.
            message: A sentence for the client; by default, that of the code.
            data: Facts for the client.
            reason: The declared reason.
            **fields: Fields to bind, such as `session_id`; see `mcpcore.contract.bound_fields.FIELDS`.

        Raises:
            TypeError: If a field is unknown.
        """
        if isinstance(thrown, CodedError):
            return _with_fields(thrown, fields)
        retry = None
        if code is None and isinstance(thrown, BaseException):
            from mcpcore import provided

            explained: Explanation = provided("explain")(thrown)
            code = explained.code
            retry = None if explained.retry == code.retry else explained.retry
        error = cls(code or ErrorCode.UNKNOWN_ERROR, message, data, reason=reason).with_found_advice(retry)
        error.__cause__ = thrown if isinstance(thrown, BaseException) else RuntimeError(safe_str(thrown))
        return _with_fields(error, fields)

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
        """The failure of a broken invariant: INTERNAL_ERROR, with the invariant as a bound field.

        Args:
            invariant_id: The name of the invariant.
            message: The sentence for the client; left out, one that names the invariant.
            data: Facts for the client.
            cause: The exception behind it, for the log.
            **fields: Fields to bind, such as `session_id`; see `mcpcore.contract.bound_fields.FIELDS`.

        Raises:
            TypeError: If a field is not in `mcpcore.contract.bound_fields.FIELDS`.
        """
        sentence = f"The invariant {invariant_id} does not hold." if message is None else message
        bound = {**fields, "invariant_id": invariant_id}
        return cls._build(ErrorCode.INTERNAL_ERROR, sentence, data, "invariant_violation", cause, bound)

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
        """The failure of a tool.

        Args:
            code: The code.
            message: The sentence for the client; left out, that of the code.
            data: Facts for the client.
            reason: The reason in the contract of the tool.
            cause: The exception behind it, for the log.
            **fields: Fields to bind, such as `session_id`; see `mcpcore.contract.bound_fields.FIELDS`.

        Raises:
            TypeError: If `code` is not a code, or a field is not in `mcpcore.contract.bound_fields.FIELDS`.
        """
        return cls._build(code, message, data, reason, cause, fields)

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
        """The failure of a component to start.

        Args:
            code: The code.
            message: The sentence for the client; left out, that of the code.
            data: Facts for the client.
            cause: The exception behind it, for the log.
            **fields: Fields to bind, such as `session_id`; see `mcpcore.contract.bound_fields.FIELDS`.

        Raises:
            TypeError: If `code` is not a code, or a field is not in `mcpcore.contract.bound_fields.FIELDS`.
        """
        return cls._build(code, message, data, "startup_failure", cause, fields)

    @classmethod
    def _build(
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
        return _with_fields(error, fields)

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
        use(self)  # also for the copy, which equals the original
        state = self.__dict__.copy()
        if isinstance(state.get("data"), MappingProxyType):  # can be neither pickled nor copied
            state["data"] = dict(state["data"])
        state.pop("_given_data", None)  # its class may be local, which cannot be pickled
        return _bare, (type(self), *self.args), state


class FrameworkError(CodedError):
    """A failure of the framework (invalid arguments, an unknown tool), whose reason is in no contract."""

    data_text: str | None = None
    """The data, which is JSON already, as compact JSON without escapes; None if it was not made."""

    kept: dict[CallState | None, Any] | None = None
    """What all failures of the same mistake have in common, which the boundary keeps here; None if nobody keeps it."""


PLAIN_ERRORS: Final = frozenset({CodedError, FrameworkError})
"""The classes of failures that neither wrap another exception nor group any."""


def _with_fields(error: CodedError, fields: Mapping[str, str | None]) -> CodedError:
    """`error` with fields for its envelope and its record."""
    if fields:
        from mcpcore.contract.bound_fields import carry

        carry(error, fields)
    return error


def _bare(cls: type[CodedError], *args: Any) -> CodedError:
    """Create an instance without `__init__` and `__new__`, whose parameters a subclass may have changed."""
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
    """The failure of a declared entry, for `ctx.fail`."""
    advice = entry.retry if retry is ... or retry is None else retry
    error = CodedError(entry.code, message, data, reason=entry.reason, recovery=recovery, retry=advice, effects=effects)
    if advice is None:
        error.retry = entry.code.retry
    if entry.data is None and entry.templates is None and error.has_message:
        error.entry = entry  # which is all that `declare` would do
    else:
        error.declare(entry)
    return error


def fact(data: Mapping[str, Any] | None, key: str) -> Any:
    """The value of `key` in `data`; None also if the mapping raises."""
    if data is None or type(data) is dict:
        return None if data is None else data.get(key)
    return quietly(lambda: data.get(key), None)


def _reason(value: object) -> str | None:
    """`value` as a reason; one that is too long for any contract is cut."""
    if not issubclass(type(value), str):
        return None
    reason = cast("str", value)
    text, length = str.__getitem__(reason, slice(_LONGEST_REASON)), str.__len__(reason)
    return Cut(text, length) if length > _LONGEST_REASON else text or None


def _shown(value: object) -> str:
    """An argument for a message: the text of a string, else the type."""
    return repr(cut_text(safe_str(value), 100)) if issubclass(type(value), str) else named(value)


_LONGEST_REASON: Final = 1_000


def _facts(data: object) -> Mapping[str, Any] | None:
    """The data of a `raise` statement as a mapping; raising for invalid data would hide the original failure."""
    if quietly(lambda: isinstance(data, Mapping), otherwise=False):
        return cast("Mapping[str, Any]", data)
    # A model that cannot be dumped is described in the envelope.
    fields = quietly(lambda: as_mapping(data), None)
    return fields if type(fields) is dict else {"value": data}


class Factory:
    """Creates failures of one code: `raise not_found("No order 7.")`.

    ```python
    def get_order(order_id: int) -> str:
        if order_id not in (1, 2):
            raise not_found(f"No order {order_id}.", {"order_id": order_id})
        return "shipped"
    ```
    """

    __slots__ = ("__dict__", "code")

    def __init__(self, code: ErrorCode) -> None:
        """Take the name and the sentence of `code` from the table of codes."""
        self.code: Final = code
        self.__name__ = self.__qualname__ = code.name.lower()
        self.__doc__ = f"{code.sentence} Raise the result; the arguments are those of `CodedError`."

    def __call__(
        self,
        message: str | None = None,
        data: Mapping[str, Any] | None = None,
        *,
        reason: str | None = None,
        recovery: RecoveryLike | EllipsisType | None = ...,
        retry: Retry | None = None,
        effects: Effects | None = None,
    ) -> CodedError:
        """Create a failure of this code, to be raised; the arguments are those of `CodedError`."""
        return CodedError(self.code, message, data, reason=reason, recovery=recovery, retry=retry, effects=effects)

    def __repr__(self) -> str:
        return f"<factory mcpcore.{self.__name__}>"

    def __reduce__(self) -> str:
        return self.__name__


invalid_params: Final = Factory(ErrorCode.INVALID_PARAMS)
"""The arguments do not fit the tool: a missing field, a wrong type, a value out of range."""

invalid_request: Final = Factory(ErrorCode.INVALID_REQUEST)
"""The request makes no sense here: the operation is not supported, or a capability is missing."""

not_found: Final = Factory(ErrorCode.NOT_FOUND)
"""The requested thing does not exist."""

forbidden: Final = Factory(ErrorCode.FORBIDDEN)
"""The caller is known but may not do this."""

unauthorized: Final = Factory(ErrorCode.UNAUTHORIZED)
"""The caller's credentials are missing, invalid or expired."""

validation_error: Final = Factory(ErrorCode.VALIDATION_ERROR)
"""The input has the right form but breaks a rule of the operation."""

conflict: Final = Factory(ErrorCode.CONFLICT)
"""The operation conflicts with the current state: a duplicate, a changed version."""

rate_limited: Final = Factory(ErrorCode.RATE_LIMITED)
"""A limit on the rate or the number of calls was reached."""

timeout: Final = Factory(ErrorCode.TIMEOUT)
"""The operation took too long."""

service_unavailable: Final = Factory(ErrorCode.SERVICE_UNAVAILABLE)
"""A service that the tool depends on is down or cannot be reached."""

configuration_error: Final = Factory(ErrorCode.CONFIGURATION_ERROR)
"""The server is not configured correctly."""

internal_error: Final = Factory(ErrorCode.INTERNAL_ERROR)
"""Something failed that should not have."""

serialization_error: Final = Factory(ErrorCode.SERIALIZATION_ERROR)
"""Data could not be encoded or decoded."""

database_error: Final = Factory(ErrorCode.DATABASE_ERROR)
"""The data store failed."""

request_cancelled: Final = Factory(ErrorCode.REQUEST_CANCELLED)
"""The request was cancelled before it was done."""

FACTORIES: Final = {name: value.code for name, value in globals().copy().items() if isinstance(value, Factory)}
"""The code of each factory, by the factory's name."""
