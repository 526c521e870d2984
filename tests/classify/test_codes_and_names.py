"""Codes in words wherever an exception keeps them, wrappers that keep what they wrap, and names that messages quote."""

from __future__ import annotations

import concurrent.futures
import errno
import smtplib
import sqlite3
from http import HTTPStatus
from typing import Any

import pytest
from hypothesis import given, strategies as st

from mcpcore import ErrorCode, Retry, classify, explain
from mcpcore.classification.matcher import with_speech, without_names
from tests.classify.test_within_and_beside import raised

C = ErrorCode


class Holder:
    """An answer as a client keeps it."""

    def __init__(self, **facts: object) -> None:
        self.__dict__.update(facts)

    def __repr__(self) -> str:
        # Ids of tests are the same in every worker.
        return f"Holder({self.__dict__})"


class Called:
    """A code of an enumeration's, as some clients keep it without a call."""

    name = "PERMISSION_DENIED"

    def __repr__(self) -> str:
        return "Called()"


@pytest.mark.parametrize(
    ("facts", "code"),
    [
        ({"code": "not_found"}, C.NOT_FOUND),
        ({"code": "PERMISSION_DENIED"}, C.FORBIDDEN),
        ({"code": "ECONNREFUSED"}, C.SERVICE_UNAVAILABLE),
        ({"code": "ENOENT"}, C.NOT_FOUND),
        ({"code": Called()}, C.FORBIDDEN),
        ({"error_code": "invalid_token"}, C.UNAUTHORIZED),
        ({"errorCode": "UserNotFound"}, C.NOT_FOUND),
        ({"type": "rate_limit_error"}, C.RATE_LIMITED),
        ({"reason": "ALREADY_EXISTS"}, C.CONFLICT),
        ({"status": "UNAVAILABLE"}, C.SERVICE_UNAVAILABLE),
        ({"code": HTTPStatus.MOVED_PERMANENTLY}, C.INVALID_REQUEST),
        ({"code": -32602}, C.INVALID_PARAMS),
        ({"statusCode": 404}, C.NOT_FOUND),
        ({"http_code": 429}, C.RATE_LIMITED),
        ({"resp": Holder(status=403)}, C.FORBIDDEN),
        ({"response": {"status": 409}}, C.CONFLICT),
        ({"response": {"ok": False, "error": "channel_not_found"}}, C.NOT_FOUND),
        ({"response": Holder(data={"ok": False, "error": "missing_scope"})}, C.FORBIDDEN),
        ({"errno": errno.ENOENT}, C.NOT_FOUND),
        # Beside a 400, a name that says no more than that the input is bad adds nothing.
        ({"status": 400, "type": "invalid_request_error"}, C.INVALID_PARAMS),
        ({"status": 400, "type": "resource_already_exists"}, C.CONFLICT),
        # A status that says more than a name stands.
        ({"status": 403, "type": "not_found_error_page"}, C.FORBIDDEN),
        # What is no name of a code says nothing.
        ({"code": "seven"}, C.INTERNAL_ERROR),
        ({"reason": "the invalid one was not found"}, C.INTERNAL_ERROR),
        ({"response": {"error": "not found, sorry"}}, C.INTERNAL_ERROR),
        ({"response": {"ok": False}}, C.INTERNAL_ERROR),
        ({"code": 7}, C.INTERNAL_ERROR),
    ],
    ids=lambda value: str(value)[:50],
)
def test_a_code_is_found_wherever_it_is_kept(facts: dict[str, object], code: ErrorCode) -> None:
    """Clients name their codes differently and keep them under many names."""
    assert code is classify(raised("acme.client.Failure", "x", **facts))


def test_a_number_of_the_class_is_no_errno() -> None:
    """Kafka numbers its errors as the system does, and means other things."""
    kind = type("TopicAlreadyExistsError", (Exception,), {"__module__": "kafka.errors", "errno": errno.ENOENT})
    assert C.CONFLICT is classify(kind("x"))


@pytest.mark.parametrize(
    ("facts", "code", "step"),
    [
        ({"original_error": TimeoutError("late")}, C.TIMEOUT, "original_error"),
        ({"reason": ConnectionRefusedError(111, "refused")}, C.SERVICE_UNAVAILABLE, "reason"),
        ({"last_exception": TypeError("a mistake")}, C.INTERNAL_ERROR, "last_exception"),
    ],
)
def test_what_a_wrapper_keeps_decides(facts: dict[str, object], code: ErrorCode, step: str) -> None:
    """A wrapper need not chain what it wraps: an attribute with an exception is as good."""
    explanation = explain(raised("acme.Wrapped", "no such thing", **facts))
    assert (code, (step,)) == (explanation.code, explanation.matched.path)


def test_a_retry_error_of_anybodys_keeps_a_future() -> None:
    """The last attempt is a future that holds the failure."""
    future: concurrent.futures.Future[Any] = concurrent.futures.Future()
    future.set_exception(FileExistsError(17, "there"))
    assert C.CONFLICT is classify(raised("acme.RetryError", "gave up", last_attempt=future))


@pytest.mark.parametrize(
    ("facts", "wait"),
    [
        ({"retry_after": "7"}, 7),
        ({"retryAfter": 7}, 7),
        ({"retry_after_seconds": 7.0}, 7),
        ({"retry_after_ms": 7_000}, 7),
        ({"response": {"status": 429, "headers": {"Retry-After": "7"}}}, 7),
    ],
    ids=str,
)
def test_a_wait_is_found_wherever_it_is_kept(facts: dict[str, object], wait: int) -> None:
    """Thin clients keep the response as a mapping, and the wait under various names."""
    exc = raised("acme.RateLimitError", "slow down", **facts)
    assert (C.RATE_LIMITED, Retry.after(seconds=wait)) == explain(exc)[:2]


@pytest.mark.parametrize(
    ("path", "args", "facts", "code"),
    [
        # A cancelled query is a timeout where the message of an SQLSTATE says so, and a refused login no outage.
        ("acme.db.Failure", ("canceling statement due to statement timeout",), {"sqlstate": "57014"}, C.TIMEOUT),
        ("acme.db.Failure", ("canceling statement due to user request",), {"sqlstate": "57014"}, C.REQUEST_CANCELLED),
        ("acme.db.Failure", ("",), {"sqlstate": "57014"}, C.REQUEST_CANCELLED),
        ("acme.db.Failure", ("Incorrect username or password was specified.",), {"sqlstate": "08001"}, C.UNAUTHORIZED),
        ("acme.db.Failure", ("could not reach it",), {"sqlstate": "08001"}, C.SERVICE_UNAVAILABLE),
        # Drivers of Oracle keep the number in a special object.
        ("oracledb.exceptions.DatabaseError", (Holder(code=1017),), {}, C.UNAUTHORIZED),
        ("oracledb.exceptions.IntegrityError", (Holder(code=2291),), {}, C.VALIDATION_ERROR),
        ("oracledb.exceptions.DatabaseError", (), {}, C.DATABASE_ERROR),
    ],
    ids=str,
)
def test_numbers_of_databases(path: str, args: tuple[object, ...], facts: dict[str, object], code: ErrorCode) -> None:
    """The message decides what an SQLSTATE of two meanings says, and numbers of Oracle are found."""
    assert code is classify(raised(path, *args, **facts))


@pytest.mark.parametrize(
    ("number", "code"),
    [(552, C.VALIDATION_ERROR), (530, C.UNAUTHORIZED), (554, C.FORBIDDEN), (451, C.SERVICE_UNAVAILABLE)],
)
def test_reply_codes_of_mail(number: int, code: ErrorCode) -> None:
    """A server of mail says by its number whether the message, the login or the moment is wrong."""
    assert code is classify(smtplib.SMTPDataError(number, b"said the server"))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Playlist 'Connection Refused' not found", C.NOT_FOUND),
        ('No document with the slug "access-denied"', C.INTERNAL_ERROR),
        ("Field 'permission_level' must be one of: read, write", C.VALIDATION_ERROR),
        ("A folder named `not found` already exists", C.CONFLICT),
        ("Unable to render the 'permissions' widget", C.INTERNAL_ERROR),
        ("Config error: 'timeout' not set", C.INTERNAL_ERROR),
        ('forbidden: user "system:anonymous" cannot get it', C.FORBIDDEN),
        ("Timeout while fetching https://peer.example/invalid", C.TIMEOUT),
        ("nothing of the kind in /srv/denied/timeout.log", C.INTERNAL_ERROR),
        ("Unknown argument: --rate-limit", C.VALIDATION_ERROR),
        # Quoted speech counts.
        ('the broker said "connection refused"', C.SERVICE_UNAVAILABLE),
        ("the call ended in 'deadline exceeded'", C.TIMEOUT),
        ("failed: 'permission denied'", C.FORBIDDEN),
        ("'rate limit exceeded'", C.RATE_LIMITED),
        ('{"error": "token expired"}', C.UNAUTHORIZED),
        ("error code 'expired_token'", C.UNAUTHORIZED),
        # An apostrophe opens nothing.
        ("the user's token is expired", C.UNAUTHORIZED),
    ],
)
def test_the_name_of_a_thing_is_not_what_happened(text: str, code: ErrorCode) -> None:
    """A name in quotation marks may be made of any words; what another program said in them counts."""
    assert code is classify(RuntimeError(text))


@given(st.text(alphabet="ab \"'`:", max_size=60))
def test_text_without_names_is_never_longer_and_keeps_what_stands_outside(text: str) -> None:
    """Names are replaced by one letter; a text without quotation marks is the same."""
    plain = without_names(text)
    assert len(plain) <= len(text)
    assert not set("\"'`").isdisjoint(text) or plain == text
    speech = with_speech(text)
    assert speech is None or len(plain) <= len(speech) <= len(text)


class OrderNotFound(Exception):  # noqa: N818  # as applications name theirs
    """A class of an application's, whose name says what is meant."""


@pytest.mark.parametrize(
    ("outer", "inner", "code"),
    [
        (OrderNotFound("7"), KeyError(7), C.NOT_FOUND),
        (OrderNotFound("7"), IndexError(7), C.NOT_FOUND),
        (OrderNotFound("7"), TypeError("a mistake"), C.INTERNAL_ERROR),
        (OrderNotFound("7"), AttributeError("a mistake"), C.INTERNAL_ERROR),
        (OrderNotFound("7"), ValueError("x"), C.NOT_FOUND),
        (OrderNotFound("7"), sqlite3.OperationalError("no such table: orders"), C.NOT_FOUND),
        (RuntimeError("order not found"), KeyError(7), C.INTERNAL_ERROR),
        (RuntimeError("order not found"), sqlite3.OperationalError("no such table: orders"), C.DATABASE_ERROR),
        (RuntimeError("the input is invalid"), OrderNotFound("7"), C.NOT_FOUND),
    ],
    ids=str,
)
def test_a_named_class_outside_is_a_translation_of_a_lookup(
    outer: Exception, inner: Exception, code: ErrorCode
) -> None:
    """Who raises OrderNotFound for a KeyError has said what it means; a mistake of the program inside stays one."""
    outer.__cause__ = inner
    assert code is classify(outer)
