"""What HTTP says of a failure: the codes of statuses, and Retry-After in every form that servers and clients use."""

from __future__ import annotations

import math
import re
import time
from datetime import UTC, datetime, timedelta
from typing import Final

from mcpcore.contract.codes import Code, ErrorCode, Retry

STATUS_CODES: Final[dict[int, ErrorCode]] = {
    400: ErrorCode.INVALID_PARAMS,
    401: ErrorCode.UNAUTHORIZED,
    402: ErrorCode.FORBIDDEN,
    403: ErrorCode.FORBIDDEN,
    404: ErrorCode.NOT_FOUND,
    408: ErrorCode.TIMEOUT,
    409: ErrorCode.CONFLICT,
    422: ErrorCode.VALIDATION_ERROR,
    423: ErrorCode.CONFLICT,
    424: ErrorCode.CONFLICT,
    425: ErrorCode.TIMEOUT,
    429: ErrorCode.RATE_LIMITED,
    504: ErrorCode.TIMEOUT,
}
"""Statuses with a specific code; other statuses have the code of their class in `STATUS_CLASSES`."""

STATUS_CLASSES: Final[dict[int, ErrorCode]] = {
    3: ErrorCode.INVALID_REQUEST,
    4: ErrorCode.INVALID_REQUEST,
    5: ErrorCode.SERVICE_UNAVAILABLE,
}
"""The code of a class of statuses, by first digit. A redirect that reaches the caller was not followed."""

STATUS_RETRY: Final[dict[int, Retry]] = {501: Retry.never(), 505: Retry.never()}
"""Statuses whose advice differs from that of their code: an unimplemented method stays unimplemented."""

RETRY_AFTER_STATUSES: Final = frozenset({403, 408, 409, 413, 423, 425, 429, 500, 502, 503, 504, 507, 509, 520, 521, 522,
                                         523, 524, 525, 526, 527, 529, 530})  # fmt: skip
"""Statuses with which servers send a Retry-After that means the same request (RFC 9110, 10.2.3; GitHub's 403)."""


def code_for_status(status: int) -> Code:
    """The code of a failed HTTP response.

    Statuses from 600 to 999, which RFC 9110 (section 15) does not define, count as server errors, as it advises.

    ```python
    assert code_for_status(409) is ErrorCode.CONFLICT
    ```

    Args:
        status: The status of the response.

    Raises:
        TypeError: If `status` is not an int.
        ValueError: If `status` is not a failure: below 300, or above 999.
    """
    if isinstance(status, bool) or not isinstance(status, int):
        raise TypeError(f"code_for_status takes an HTTP status such as 404, not {type(status).__name__}")
    code = STATUS_CODES.get(status)
    if code is not None:
        return code
    if not 300 <= status <= 999:
        raise ValueError(f"code_for_status takes the status of a failed response, 300 to 999, not {status}")
    return STATUS_CLASSES.get(status // 100, ErrorCode.SERVICE_UNAVAILABLE)


def retry_for_status(status: int) -> Retry:
    """The retry advice of a failed HTTP response without a Retry-After.

    ```python
    assert retry_for_status(503).retryable
    ```

    Args:
        status: The status of the response.

    Raises:
        TypeError: If `status` is not an int.
        ValueError: If `status` is not a failure.
    """
    return STATUS_RETRY.get(status) or code_for_status(status).retry


MAX_SECONDS: Final = 366 * 24 * 3600
"""A longer wait counts as a mistake and is ignored."""

_NUMBER = re.compile(r"\d{1,9}(?:\.\d{1,9})?\Z", re.ASCII)
_MONTHS: Final = {name: number for number, name in enumerate(
    ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1)}  # fmt: skip
_DATE = re.compile(
    # IMF-fixdate ("Sun, 06 Nov 1994 08:49:37 GMT") and the form of RFC 850 ("Sunday, 06-Nov-94 08:49:37 GMT")
    r"[a-z]{3,9},\s(?P<day>\d{1,2})[\s-](?P<month>[a-z]{3})[\s-](?P<year>\d{2}|\d{4})\s(?P<time>\d\d:\d\d:\d\d)"
    r"\s(?:gmt|utc|[+-]0000)\Z"
    # The form of asctime, "Sun Nov  6 08:49:37 1994"
    r"|[a-z]{3}\s(?P<month2>[a-z]{3})\s{1,2}(?P<day2>\d{1,2})\s(?P<time2>\d\d:\d\d:\d\d)\s(?P<year2>\d{4})\Z",
    re.IGNORECASE | re.ASCII,
)
_IN_WORDS = re.compile(
    r"(?:retry|try again|available again|resets?|wait)(?:[\s_-]+(?:your|the|this))?(?:[\s_-]+request)?"
    r"(?:[\s_-]+(?:after|in|for|at least))?[\s:=]{0,3}(\d{1,7}(?:\.\d{1,6})?)\s?"
    r"(ms|milliseconds?|s|secs?|seconds?|m|min|minutes?|h|hours?)\b",
    re.IGNORECASE | re.ASCII,
)
_UNITS: Final = {"ms": 0.001, "mi": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def parse_retry_after(value: object, *, now: float | None = None) -> float | None:
    """The seconds in a Retry-After header, or None if it is invalid (RFC 9110, 10.2.3).

    ```python
    assert parse_retry_after("120") == 120
    assert parse_retry_after("soon") is None
    ```

    Args:
        value: Seconds or an HTTP date, as text or bytes; some clients convert it to a number, a timedelta or a
            datetime.
        now: The present as a Unix time in seconds; by default, the clock.
    """
    kind = type(value)
    if kind is bool or value is None:
        return None
    if kind is bytes:
        value = value.decode("latin-1")  # type: ignore[attr-defined]
    if isinstance(value, str):
        text = str.strip(value[:64])
        if _NUMBER.match(text):
            return _sane(float(text))
        at = _parse_date(text)
        return None if at is None else _until(at, now)
    if isinstance(value, int | float):
        return _sane(float(value))
    if isinstance(value, timedelta):
        return _sane(value.total_seconds())
    if isinstance(value, datetime):
        return _until(value.timestamp(), now)
    return None


def in_words(text: str) -> float | None:
    """The seconds in a sentence such as "Please try again in 20s", or None."""
    match = _IN_WORDS.search(text)
    if match is None:
        return None
    unit = match[2].lower()
    scale = _UNITS["mi"] if unit.startswith("milli") or unit == "ms" else _UNITS[unit[0]]
    return _sane(float(match[1]) * scale)


def as_retry(seconds: float) -> Retry:
    """The advice to wait `seconds`."""
    return Retry.after(seconds=seconds) if seconds > 0 else Retry.now()


def _sane(seconds: float) -> float | None:
    return seconds if math.isfinite(seconds) and 0 <= seconds <= MAX_SECONDS else None


def _until(at: float, now: float | None) -> float | None:
    return _sane(max(0.0, math.ceil(at - (time.time() if now is None else now))))


def _parse_date(text: str) -> float | None:
    match = _DATE.match(text)
    if match is None:
        return None
    day, month, year, clock = (match[name] or match[f"{name}2"] for name in ("day", "month", "year", "time"))
    full_year = int(year) + (0 if len(year) == 4 else 1900 if int(year) >= 70 else 2000)
    hour, minute, second = map(int, clock.split(":"))
    try:
        at = datetime(full_year, _MONTHS[month.lower()], int(day), hour, minute, tzinfo=UTC)
    except (ValueError, KeyError):
        return None
    return at.timestamp() + second
