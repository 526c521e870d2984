"""What applications add: types, patterns, and undoing both."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator

import pytest

from mcpcore import ErrorCode, Retry, classify
from mcpcore.classification import classifies, classifies_message, explain, forget

C = ErrorCode


class LedgerError(Exception):
    stale = False


class LedgerClosedError(LedgerError):
    pass


@pytest.fixture(autouse=True)
def _clean() -> Iterator[None]:
    yield
    forget()


def test_a_registered_type_has_its_code_with_all_derived_from_it() -> None:
    """The registration of a type takes precedence over attributes and messages."""
    exc = LedgerClosedError("not found")
    exc.status_code = 404  # type: ignore[attr-defined]
    assert C.NOT_FOUND is classify(exc)
    classifies(LedgerError, C.CONFLICT, retry=Retry.after(seconds=9))
    explanation = explain(exc)
    assert (C.CONFLICT, Retry.after(seconds=9), "registered") == (
        explanation.code,
        explanation.retry,
        explanation.matched.layer,
    )
    assert explanation.matched.row.endswith("LedgerError")
    classifies(LedgerClosedError, C.FORBIDDEN)
    assert C.FORBIDDEN is classify(exc)
    forget(LedgerClosedError)
    assert C.CONFLICT is classify(exc)


def test_a_function_decides_each_instance() -> None:
    """A code, a code with its advice, or None, which leaves it to the tables."""

    @classifies(LedgerError)
    def ledger(exc: LedgerError) -> ErrorCode | tuple[ErrorCode, Retry] | None:
        if exc.stale:
            return C.CONFLICT, Retry.now()
        return None if exc.args else C.DATABASE_ERROR

    stale = LedgerError("x")
    stale.stale = True
    assert (C.CONFLICT, Retry.now()) == explain(stale)[:2]
    assert C.DATABASE_ERROR is classify(LedgerError())
    assert C.TIMEOUT is classify(LedgerError("timed out"))
    assert ledger(LedgerError()) is C.DATABASE_ERROR


def test_a_function_without_an_opinion_leaves_the_table_of_types() -> None:
    """A registered class that derives from a known one is that one again."""

    class RefusedError(ConnectionRefusedError):
        pass

    classifies(RefusedError)(lambda exc: None)
    assert C.SERVICE_UNAVAILABLE is classify(RefusedError())


def test_a_function_that_fails_counts_for_nothing_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """A mistake in a classifier never becomes a second failure."""

    @classifies(LedgerError)
    def broken(exc: LedgerError) -> ErrorCode:
        raise KeyError

    with caplog.at_level(logging.WARNING, "mcpcore.classify"):
        assert C.TIMEOUT is classify(LedgerError("timed out"))
    assert "LedgerError raised KeyError" in caplog.text
    classifies(LedgerError)(lambda exc: 404)  # type: ignore[arg-type, return-value]
    with caplog.at_level(logging.WARNING, "mcpcore.classify"):
        assert C.TIMEOUT is classify(LedgerError("timed out"))
    assert "returned int, not a code" in caplog.text


def test_a_type_can_be_registered_by_name() -> None:
    """A library's exception needs no import to be registered."""
    classifies(("stripe.CardError", "stripe.error.RateLimitError"), C.FORBIDDEN)
    assert C.FORBIDDEN is classify(type("CardError", (Exception,), {"__module__": "stripe._error"})("x"))
    assert C.FORBIDDEN is classify(type("RateLimitError", (Exception,), {"__module__": "stripe.error"})("x"))
    forget("stripe.CardError")
    assert C.INTERNAL_ERROR is classify(type("CardError", (Exception,), {"__module__": "stripe._error"})("x"))


def test_the_applications_patterns_come_first() -> None:
    """Phrases and regular expressions of the application are read before the table."""
    sentence = "the ledger of 2025 is closed: not found"
    assert C.NOT_FOUND is classify(RuntimeError(sentence))
    classifies_message("ledger .. closed", C.CONFLICT, retry=Retry.never())
    assert (C.CONFLICT, Retry.never()) == explain(RuntimeError(sentence))[:2]
    classifies_message(re.compile(r"acme-\d{4}"), C.UNAUTHORIZED)
    assert C.UNAUTHORIZED is classify(RuntimeError("invalid: ACME-1234"))
    forget()
    assert C.NOT_FOUND is classify(RuntimeError(sentence))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: classifies(int, C.CONFLICT),  # type: ignore[arg-type]
        lambda: classifies("NoModule", C.CONFLICT),
        lambda: classifies(LedgerError, -32001),  # type: ignore[call-overload]
        lambda: classifies(LedgerError, C.CONFLICT, retry=5),  # type: ignore[call-overload]
        lambda: classifies(LedgerError)(5),  # type: ignore[type-var]
        lambda: classifies_message(5, C.CONFLICT),  # type: ignore[arg-type]
        lambda: classifies_message("a b", "CONFLICT"),  # type: ignore[arg-type]
        lambda: classifies_message(re.compile(b"x"), C.CONFLICT),  # type: ignore[arg-type]
        lambda: classifies_message("..", C.CONFLICT),
    ],
)
def test_a_wrong_registration_is_refused_where_it_is_made(wrong: object) -> None:
    """Mistakes come out at import, not when something fails."""
    with pytest.raises((TypeError, ValueError)):
        wrong()  # type: ignore[operator]
