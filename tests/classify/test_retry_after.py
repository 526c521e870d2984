"""Retry-After, in every form in which servers and clients hold it."""

from __future__ import annotations

import datetime as dt
import time
from email.utils import formatdate

import httpx
import pytest
from hypothesis import given, strategies as st

from mcpcore.classification import explain, parse_retry_after
from mcpcore.classification.status import in_words
from mcpcore.contract.codes import Retry

NOW = 784_111_777.0  # 1994-11-06T08:49:37Z, the date of RFC 9110's examples


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120), (" 7 ", 7), ("0", 0), ("1.5", 1.5), (b"30", 30), (5, 5), (2.5, 2.5),
        (dt.timedelta(minutes=1), 60),
        ("Sun, 06 Nov 1994 08:50:37 GMT", 60), ("Sunday, 06-Nov-94 08:50:37 GMT", 60), ("Sun Nov  6 08:50:37 1994", 60),
        ("Sun, 06 Nov 1994 08:00:00 GMT", 0), ("-5", None), ("soon", None), ("", None), ("1e9", None),
        ("9" * 30, None), (None, None),
        (True, None), (float("nan"), None), (float("inf"), None), (-1, None), ("Sun, 99 Nov 1994 08:50:37 GMT", None),
        ("Sun, 06 Foo 1994 08:50:37 GMT", None), ("Sun, 06 Nov 9999 08:50:37 GMT", None), ("\u0661\u0662", None),
        ([], None),
        (dt.datetime.fromtimestamp(NOW + 10, dt.UTC), 10),
    ],
)  # fmt: skip
def test_a_value_is_read_as_seconds(value: object, seconds: float | None) -> None:
    """Seconds, the three forms of an HTTP date, and the types that clients use; anything else is None."""
    assert seconds == parse_retry_after(value, now=NOW)


@given(st.one_of(st.text(max_size=80), st.integers(), st.floats(), st.binary(max_size=80)))
def test_any_value_is_read_without_an_error(value: object) -> None:
    """Whatever a server sends, the wait is None or a number of seconds that makes sense."""
    seconds = parse_retry_after(value)
    assert seconds is None or 0 <= seconds <= 366 * 24 * 3600


@given(st.integers(min_value=1, max_value=10**6))
def test_a_date_is_as_far_away_as_it_says(seconds: int) -> None:
    """Dates as the standard library writes them come back as the wait that they mean."""
    assert seconds == parse_retry_after(formatdate(NOW + seconds, usegmt=True), now=NOW)


@pytest.mark.parametrize(
    ("sentence", "seconds"),
    [
        ("Please try again in 20s.", 20), ("retry after 30 seconds", 30), ("Retry in 1.5 minutes", 90),
        ("retry-after: 250ms", 0.25),
        ("Expected available in 12 seconds.", None), ("wait 2 h", 7200), ("retry after 30", None),
        ("try again in a while", None),
    ],
)  # fmt: skip
def test_a_sentence_may_say_how_long(sentence: str, seconds: float | None) -> None:
    """A number with its unit counts; one without does not."""
    assert seconds == in_words(sentence)


def failed(status: int, **headers: str) -> httpx.HTTPStatusError:
    response = httpx.Response(
        status, headers={k.replace("_", "-"): v for k, v in headers.items()}, request=httpx.Request("GET", "http://x")
    )
    return httpx.HTTPStatusError("x", request=response.request, response=response)


def test_an_exception_brings_its_servers_wish() -> None:
    """The header of the response, wherever the client keeps it, and however deep it is wrapped."""
    assert Retry.after(seconds=7) == explain(failed(429, retry_after="7")).retry
    assert Retry.after(seconds=7) == explain(failed(503, Retry_After="7")).retry
    assert Retry.after(seconds=0.25) == explain(failed(429, retry_after_ms="250")).retry
    assert Retry.now() == explain(failed(503, retry_after="0")).retry
    outer = RuntimeError("sync failed")
    outer.__cause__ = failed(429, retry_after="7")
    assert Retry.after(seconds=7) == explain(outer).retry
    at = explain(failed(503, retry_after=formatdate(time.time() + 60, usegmt=True))).retry
    assert at.seconds is not None
    assert 55 <= at.seconds <= 61
    wish = Exception("too many requests")
    wish.retry_after = 4  # type: ignore[attr-defined]
    assert Retry.after(seconds=4) == explain(wish).retry
    aws = Exception("x")
    aws.response = {"Error": {"Code": "SlowDown"}, "ResponseMetadata": {"HTTPHeaders": {"retry-after": "3"}}}  # type: ignore[attr-defined]
    assert Retry.after(seconds=3) == explain(aws).retry
    assert Retry.after(seconds=20) == explain(RuntimeError("rate limit reached, try again in 20s")).retry


def test_a_wish_does_not_make_a_hopeless_call_worth_repeating() -> None:
    """Where the status or the row says never, a Retry-After changes nothing; GitHub's 403 is the exception."""
    assert Retry.never() == explain(failed(404, retry_after="7")).retry
    assert Retry.never() == explain(failed(501, retry_after="7")).retry
    assert Retry.after(seconds=7) == explain(failed(403, retry_after="7")).retry
    quota = failed(429, retry_after="7")
    quota.code = "insufficient_quota"  # type: ignore[attr-defined]
    assert Retry.never() == explain(quota).retry


def test_a_group_waits_for_the_slowest() -> None:
    """The advice of a group is the most cautious of its members'."""
    group = ExceptionGroup("x", [failed(429, retry_after="3"), failed(429, retry_after="9")])
    assert Retry.after(seconds=9) == explain(group).retry
