"""The table of error codes, the retry advice that each has by default, and the codes that an application adds."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from enum import IntEnum
from typing import Any, Final, Literal, TypeAlias, final, get_args

RetryKind = Literal["not_retryable", "retryable_immediate", "retryable_after_ms"]

NEVER: Final = "not_retryable"
NOW: Final = "retryable_immediate"
LATER: Final = "retryable_after_ms"
"""The kinds, for whoever reads or writes them."""

MAX_AFTER_MS: Final = 2**53 - 1
"""The longest wait that every JSON reader keeps exactly (RFC 8259, section 6)."""


@final
class Retry:
    """Whether, and when, the same call is worth making again.

    Made by `Retry.never()`, `Retry.now()` and `Retry.after(seconds=...)`; frozen, comparable and hashable.

    ```python
    advice = Retry.after(seconds=1.5)
    assert advice.retryable
    assert advice.to_json() == {"kind": "retryable_after_ms", "afterMs": 1500}
    assert Retry.never().seconds is None
    ```

    Attributes:
        kind: The name on the wire: "not_retryable", "retryable_immediate" or "retryable_after_ms".
        after_ms: The time to wait in milliseconds, or None.
        retryable: Whether the same call is worth making again at all.
    """

    __slots__ = ("after_ms", "kind", "retryable")

    kind: RetryKind
    after_ms: int | None
    retryable: bool

    def __init__(self, kind: RetryKind, after_ms: int | None = None) -> None:
        """Use the constructors instead.

        Raises:
            ValueError: If the wait and the kind do not belong together.
        """
        if kind not in KINDS:
            raise ValueError(f"retry kind {kind!r} is not one of {', '.join(KINDS)}")
        if (kind == LATER) != (after_ms is not None):
            raise ValueError(f"after_ms goes with the kind {LATER!r}, and only with it")
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "after_ms", after_ms)
        object.__setattr__(self, "retryable", kind != NEVER)

    @classmethod
    def never(cls) -> Retry:
        """The same call fails the same way again."""
        return _NEVER

    @classmethod
    def now(cls) -> Retry:
        """The same call may succeed immediately."""
        return _NOW

    @classmethod
    def after(cls, *, seconds: float) -> Retry:
        """The same call may succeed after `seconds`, kept to the millisecond.

        Args:
            seconds: The time to wait in seconds.

        Raises:
            TypeError: If `seconds` is not a number.
            ValueError: If `seconds` is negative, not finite, or beyond what JSON keeps exactly.
        """
        if isinstance(seconds, bool) or not isinstance(seconds, int | float):
            raise TypeError(f"Retry.after(seconds=...) takes a number of seconds, not {type(seconds).__name__}")
        if not math.isfinite(seconds) or seconds < 0 or seconds * 1000 > MAX_AFTER_MS:
            raise ValueError(f"Retry.after(seconds=...) takes a finite number from 0 up, not {seconds!r}")
        # As floats, 2.007 s are 2007.0000000000002 ms, which must not become 2008.
        return cls(LATER, math.ceil(round(seconds * 1000, 6)))

    @property
    def seconds(self) -> float | None:
        """How long to wait first, in seconds; None where it is not worth it."""
        if self.after_ms is not None:
            return self.after_ms / 1000
        return 0.0 if self.retryable else None

    @property
    def phrase(self) -> str:
        """The advice in the words of the text surface."""
        return KINDS[self.kind] if self.after_ms is None else f"retry after {_seconds(self.after_ms)} s"

    def to_json(self) -> dict[str, Any]:
        """The advice as it is sent."""
        return {"kind": self.kind, "afterMs": self.after_ms} if self.after_ms is not None else {"kind": self.kind}

    @classmethod
    def from_json(cls, value: Mapping[str, object]) -> Retry:
        """Read the wire form.

        Args:
            value: The object under `retry` in an envelope.

        Raises:
            ValueError: If `value` is not one of the three forms.
        """
        kind = value.get("kind")
        if kind == NEVER:
            return _NEVER
        if kind == NOW:
            return _NOW
        after_ms = value.get("afterMs")
        if isinstance(after_ms, bool) or not isinstance(after_ms, int | float):
            after_ms = math.nan
        # A NaN is between no bounds.
        if kind == LATER and 0 <= after_ms <= MAX_AFTER_MS:
            # Up, so that a call is not made too early.
            return cls(LATER, math.ceil(after_ms))
        raise ValueError(f"not a retry advice: {value!r}")

    @property
    def caution(self) -> tuple[int, int]:
        """A key that sorts the most cautious advice first: never, then the longest wait, then now."""
        return list(KINDS).index(self.kind), -(self.after_ms or 0)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Retry is frozen: {name} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"Retry is frozen: {name} cannot be deleted")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Retry):
            return NotImplemented
        return (self.kind, self.after_ms) == (other.kind, other.after_ms)

    def __hash__(self) -> int:
        return hash((self.kind, self.after_ms))

    def __reduce__(self) -> tuple[type[Retry], tuple[RetryKind, int | None]]:
        return Retry, (self.kind, self.after_ms)

    def __repr__(self) -> str:
        if self.after_ms is not None:
            return f"Retry.after(seconds={_seconds(self.after_ms)})"
        return "Retry.now()" if self.retryable else "Retry.never()"


def _seconds(after_ms: int) -> str:
    whole, rest = divmod(after_ms, 1000)
    return f"{whole}.{rest:03}".rstrip("0") if rest else str(whole)


KINDS: Final[dict[RetryKind, str]] = {
    NEVER: "not retryable",
    LATER: "retry later",
    NOW: "retry now",
}
"""Every kind with its phrase in texts, the most cautious first."""
_NEVER: Final = Retry(NEVER)
_NOW: Final = Retry(NOW)


def stated_advice(value: object) -> Retry | None:
    """The advice that `value` is on the wire; None for anything else."""
    from mcpcore.values.untrusted import quietly

    return quietly(lambda: Retry.from_json(value), None) if isinstance(value, Mapping) else None


Category = Literal["client", "server", "upstream"]
Strategy = Literal["retry_later", "check_input", "try_alternative", "report_to_user"]

CATEGORIES: Final[tuple[Category, ...]] = get_args(Category)
STRATEGIES: Final[tuple[Strategy, ...]] = get_args(Strategy)

Effects = Literal["none", "partial", "unknown"]
"""Whether a call changed anything before it failed."""

EFFECTS: Final[tuple[Effects, ...]] = get_args(Effects)

RESERVED_NUMBERS: Final = range(-32768, -31999)
"""JSON-RPC 2.0, section 5.1: -32768 to -32000 belong to the protocol and to the table below."""

MAX_NUMBER: Final = 2**53 - 1
"""The largest integer that every JSON reader keeps exactly (RFC 8259, section 6)."""

_NAME = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*\Z")

_FACTS: Final = ("http_status", "category", "retry", "sentence", "strategy", "actions")
"""The columns of the table, after the number."""


class ErrorCode(IntEnum):
    """The codes of the framework, with stable numbers.

    `http_status` is the status of the same meaning; `category` is who can fix it ("client": the caller; "server": this
    server; "upstream": a service behind it); `retry` is the default advice; `sentence` replaces the message of an
    undeclared exception; `strategy` and `actions` tell an agent what to do without a declared recovery.

    A code is an int whose text is its name: `str()`, f-strings and `%s` return the name; `int()`, `%d`, JSON and a
    format specification for numbers, such as `f"{code:d}"`, return the number.

    ```python
    code = ErrorCode.NOT_FOUND
    assert (str(code), int(code), code.http_status) == ("NOT_FOUND", -32001, 404)
    assert not code.retry.retryable
    ```
    """

    http_status: int
    category: Category
    retry: Retry
    sentence: str
    strategy: Strategy
    actions: tuple[str, ...]

    def __new__(cls, number: int, *facts: Any) -> ErrorCode:  # noqa: PYI034 - an enum's members are of the enum itself
        """Create a row of the table."""
        member = int.__new__(cls, number)
        member._value_ = number
        for name, fact in zip(_FACTS, facts, strict=True):
            setattr(member, name, fact)
        return member

    # fmt: off
    PARSE_ERROR = (-32700, 400, "client", Retry.never(), "The input could not be parsed.",
                   "check_input", ("check_input_format",))
    INVALID_REQUEST = (-32600, 400, "client", Retry.never(), "The request is not valid.",
                       "check_input", ("check_input_format", "get_schema_info"))
    METHOD_NOT_FOUND = (-32601, 404, "client", Retry.never(), "There is no such method.",
                        "try_alternative", ("list_available_tools",))
    INVALID_PARAMS = (-32602, 400, "client", Retry.never(), "The arguments are not valid.",
                      "check_input", ("check_input_format", "get_schema_info"))
    INTERNAL_ERROR = (-32603, 500, "server", Retry.never(), "The tool failed unexpectedly.",
                      "report_to_user", ("contact_support",))
    SERVICE_UNAVAILABLE = (-32000, 503, "upstream", Retry.after(seconds=5),
                           "A service that the tool depends on is unavailable.",
                           "retry_later", ("wait_and_retry", "use_fallback"))
    NOT_FOUND = (-32001, 404, "client", Retry.never(), "What was asked for does not exist.",
                 "report_to_user", ("verify_resource_id", "list_available_resources"))
    CONFLICT = (-32002, 409, "client", Retry.never(), "The operation conflicts with the current state.",
                "try_alternative", ("get_existing_result", "skip_operation"))
    RATE_LIMITED = (-32003, 429, "upstream", Retry.after(seconds=30), "A rate limit was reached.",
                    "retry_later", ("wait_and_retry", "use_cached_data"))
    TIMEOUT = (-32004, 504, "upstream", Retry.now(), "The operation took too long.",
               "retry_later", ("retry_with_timeout", "reduce_request_scope"))
    FORBIDDEN = (-32005, 403, "client", Retry.never(), "The operation is not permitted.",
                 "try_alternative", ("check_permissions", "escalate_to_human"))
    UNAUTHORIZED = (-32006, 401, "client", Retry.never(), "Valid credentials are required.",
                    "report_to_user", ("refresh_token", "reauthenticate"))
    VALIDATION_ERROR = (-32007, 400, "client", Retry.never(), "The input breaks a rule of the operation.",
                        "check_input", ("check_input_format", "get_schema_info"))
    CONFIGURATION_ERROR = (-32008, 500, "server", Retry.never(), "The server is not configured correctly.",
                           "report_to_user", ("contact_support",))
    INITIALIZATION_FAILED = (-32009, 500, "server", Retry.never(), "The server could not start a component.",
                             "report_to_user", ("contact_support",))
    DATABASE_ERROR = (-32010, 500, "server", Retry.never(), "The data store failed.",
                      "report_to_user", ("contact_support",))
    REQUEST_CANCELLED = (-32011, 499, "client", Retry.never(), "The request was cancelled.",
                         "report_to_user", ("ask_user",))
    SERIALIZATION_ERROR = (-32070, 500, "server", Retry.never(), "Data could not be encoded or decoded.",
                           "report_to_user", ("contact_support",))
    UNKNOWN_ERROR = (-32099, 500, "server", Retry.never(), "An unknown error occurred.",
                     "report_to_user", ("contact_support",))
    # fmt: on

    # IntEnum shows the number, which is useless in a log. JSON, int() and %d still return the number.
    def __str__(self) -> str:
        return self.name

    def __format__(self, spec: str, /) -> str:
        return _formatted(self, spec)


@final
class CustomCode(int):
    """A code of an application, registered when it is created; accepted wherever an `ErrorCode` is.

    ```python
    QUOTA_SPENT = CustomCode(
        "QUOTA_SPENT", 1402, http_status=402, category="client", retry=Retry.never(), sentence="The quota is spent."
    )
    assert f"{QUOTA_SPENT} is {QUOTA_SPENT:d}" == "QUOTA_SPENT is 1402"
    ```
    """

    name: str
    http_status: int
    category: Category
    retry: Retry
    sentence: str
    strategy: Strategy
    actions: tuple[str, ...]

    def __new__(
        cls,
        name: str,
        number: int,
        *,
        http_status: int,
        category: Category,
        retry: Retry,
        sentence: str,
        strategy: Strategy = "report_to_user",
        actions: tuple[str, ...] = ("contact_support",),
    ) -> CustomCode:
        """Create and register a code.

        Args:
            name: A unique name in UPPER_SNAKE_CASE.
            number: A unique integer outside -32768..-32000.
            http_status: The status of the same meaning, 400 to 599.
            category: Who can fix it: "client", "server" or "upstream".
            retry: The default advice.
            sentence: The message for clients when an exception of the code is masked.
            strategy: The strategy of an agent without a declared recovery.
            actions: Steps for the agent, as short identifiers.

        Raises:
            TypeError: If a value is of the wrong type.
            ValueError: If the name or the number is taken, reserved or malformed.
        """
        where = f"CustomCode({name!r}, {number!r})"
        if not isinstance(name, str) or not _NAME.match(name):
            raise ValueError(f"{where}: the name must be UPPER_SNAKE_CASE, such as 'QUOTA_SPENT'")
        if isinstance(number, bool) or not isinstance(number, int) or isinstance(number, ErrorCode | CustomCode):
            raise TypeError(f"{where}: the number must be a plain int, not {type(number).__name__}")
        if number in RESERVED_NUMBERS:
            raise ValueError(
                f"{where}: -32768..-32000 is reserved for the protocol; choose a number outside it, such as 1402"
            )
        if abs(number) > MAX_NUMBER:
            raise ValueError(f"{where}: the number must fit in 53 bits, or JSON readers round it")
        taken = ErrorCode.__members__.get(name, _CUSTOM_BY_NAME.get(name, _CUSTOM_BY_NUMBER.get(number)))
        if taken is not None:
            raise ValueError(f"{where}: taken by {taken.name} ({int(taken)}); choose another name and number")
        if isinstance(http_status, bool) or not isinstance(http_status, int) or not 400 <= http_status <= 599:
            raise ValueError(f"{where}: http_status must be an error status from 400 to 599, not {http_status!r}")
        if category not in CATEGORIES:
            raise ValueError(f"{where}: category must be one of {', '.join(CATEGORIES)}, not {category!r}")
        if not isinstance(retry, Retry):
            raise TypeError(f"{where}: retry must be a Retry, such as Retry.never(), not {type(retry).__name__}")
        if not isinstance(sentence, str) or not sentence.strip():
            raise ValueError(f"{where}: sentence must say in words what a client may know")
        if strategy not in STRATEGIES:
            raise ValueError(f"{where}: strategy must be one of {', '.join(STRATEGIES)}, not {strategy!r}")
        code = int.__new__(cls, number)
        code.name = name
        code.http_status = http_status
        code.category = category
        code.retry = retry
        code.sentence = sentence
        code.strategy = strategy
        code.actions = tuple(actions)
        _CUSTOM_BY_NAME[name] = code
        _CUSTOM_BY_NUMBER[number] = code
        return code

    @property
    def value(self) -> int:
        """The number, as for members of an enum."""
        return int(self)

    def __reduce__(self) -> tuple[object, tuple[str]]:  # a copy is the code itself
        return _registered, (self.name,)

    def __repr__(self) -> str:
        return f"<CustomCode.{self.name}: {int(self)}>"

    def __str__(self) -> str:
        return self.name

    def __format__(self, spec: str, /) -> str:
        return _formatted(self, spec)


Code: TypeAlias = ErrorCode | CustomCode
"""A code of the framework or of an application."""

_NUMBER_TYPES: Final = frozenset("bcdoxXneEfFgG%")
"""The last letter of a format specification for numbers; see "Format Specification Mini-Language" in Python's docs."""


def _formatted(code: Code, spec: str) -> str:
    """`code` in a format string: the number for a specification of numbers, else the name."""
    return format(int(code), spec) if spec[-1:] in _NUMBER_TYPES else format(code.name, spec)


_CUSTOM_BY_NAME: Final[dict[str, CustomCode]] = {}
_CUSTOM_BY_NUMBER: Final[dict[int, CustomCode]] = {}
_BY_NUMBER: Final[dict[int, ErrorCode]] = {int(code): code for code in ErrorCode}

BASELINE: Final = frozenset(
    {
        ErrorCode.INTERNAL_ERROR,
        ErrorCode.SERVICE_UNAVAILABLE,
        ErrorCode.TIMEOUT,
        ErrorCode.VALIDATION_ERROR,
        ErrorCode.SERIALIZATION_ERROR,
        ErrorCode.REQUEST_CANCELLED,
    }
)
"""Codes that any tool may raise, so that a contract need not declare them."""

SEVERITY: Final[tuple[ErrorCode, ...]] = (
    # server: a person has to investigate
    ErrorCode.INTERNAL_ERROR,
    ErrorCode.INITIALIZATION_FAILED,
    ErrorCode.CONFIGURATION_ERROR,
    ErrorCode.DATABASE_ERROR,
    ErrorCode.SERIALIZATION_ERROR,
    ErrorCode.UNKNOWN_ERROR,
    # upstream: it passes with time
    ErrorCode.SERVICE_UNAVAILABLE,
    ErrorCode.RATE_LIMITED,
    ErrorCode.TIMEOUT,
    # client: first those that other arguments do not avoid
    ErrorCode.UNAUTHORIZED,
    ErrorCode.FORBIDDEN,
    ErrorCode.METHOD_NOT_FOUND,
    ErrorCode.CONFLICT,
    ErrorCode.NOT_FOUND,
    ErrorCode.VALIDATION_ERROR,
    ErrorCode.INVALID_PARAMS,
    ErrorCode.INVALID_REQUEST,
    ErrorCode.PARSE_ERROR,
    ErrorCode.REQUEST_CANCELLED,
)
"""Every code, the most severe first: faults of the server, of a service behind it, of the caller."""

_RANKS: Final = {code: rank for rank, code in enumerate(SEVERITY)}
_LAST_OF_CATEGORY: Final = {code.category: rank for code, rank in _RANKS.items()}

PROTOCOL_INVALID_PARAMS: Final = frozenset({ErrorCode.INVALID_PARAMS, ErrorCode.NOT_FOUND, ErrorCode.VALIDATION_ERROR})
"""Codes that become -32602 in errors of the protocol itself; all others become -32603."""

PROTOCOL_CODES: Final = {
    -32700: ErrorCode.PARSE_ERROR,
    -32600: ErrorCode.INVALID_REQUEST,
    -32601: ErrorCode.METHOD_NOT_FOUND,
    -32602: ErrorCode.INVALID_PARAMS,
    -32603: ErrorCode.INTERNAL_ERROR,
    -32000: ErrorCode.SERVICE_UNAVAILABLE,  # the SDK's CONNECTION_CLOSED
    -32001: ErrorCode.TIMEOUT,  # the SDK's REQUEST_TIMEOUT
    -32002: ErrorCode.NOT_FOUND,  # "resource not found" before 2026-07-28
}
"""The nearest code of a tool for each code of the protocol and its SDK. The numbers overlap; their meanings differ."""


def sentence_for(code: Code, surface: str) -> str:
    """The sentence of a code for clients, about the kind of thing that failed.

    Args:
        code: The code.
        surface: "tool", "resource", "prompt", "completion" or "server".
    """
    return code.sentence.replace(" tool ", f" {surface} ") if isinstance(code, ErrorCode) else code.sentence


def code_named(name: object) -> Code | None:
    """The code of a name, or None."""
    return ErrorCode.__members__.get(name, _CUSTOM_BY_NAME.get(name)) if isinstance(name, str) else None


def _registered(name: str) -> CustomCode:
    return _CUSTOM_BY_NAME[name]


def foreign_code(name: str, number: int, *, retry: Retry | None, sentence: str) -> CustomCode | None:
    """A code of another application, as its contract shows it; it is not registered. None if it cannot be one.

    A registered code would let any server choose what the names and numbers of this program mean.
    """
    if not _NAME.match(name) or number in RESERVED_NUMBERS or abs(number) > MAX_NUMBER:
        return None
    code = int.__new__(CustomCode, number)
    code.name, code.sentence = name, sentence
    code.http_status, code.category = 500, "server"
    code.retry = Retry.never() if retry is None else retry
    code.strategy, code.actions = "report_to_user", ("contact_support",)
    return code


def code_numbered(number: int) -> Code | None:
    """The code of a number, or None."""
    return _BY_NUMBER.get(number, _CUSTOM_BY_NUMBER.get(number))


def severity(code: Code) -> tuple[int, int, str]:
    """The sort key of `code` by severity, the most severe first.

    Codes of the application come after those of the framework in the same category, ordered by name.
    """
    rank = _RANKS.get(code) if isinstance(code, ErrorCode) else None
    return (_LAST_OF_CATEGORY[code.category], 1, code.name) if rank is None else (rank, 0, code.name)


def is_code(value: object) -> bool:
    """Whether `value` is a member of `ErrorCode` or a `CustomCode`, not just the number of a code."""
    return isinstance(value, ErrorCode | CustomCode)
