"""Parts of an exception besides its message: inner exceptions, members of groups, details and waits."""

from __future__ import annotations

import re
from typing import Any

import aiohttp
import aiohttp.http_exceptions
import pytest

from mcpcore import CodedError, ErrorCode, Retry, not_found
from mcpcore.classification import classifies_message, registry
from mcpcore.classification.engine import MAX_LINKS, classify, explain
from mcpcore.classification.phrases import PhraseError, compile_phrase, expand

C = ErrorCode


def raised(path: str, *args: object, base: type[Exception] = Exception, **facts: object) -> Exception:
    """An exception of a class of that name, as an instance of the library's own looks."""
    module, _, name = path.rpartition(".")
    exc = type(name, (base,), {"__module__": module})(*args)
    vars(exc).update(facts)
    return exc


class Delay:
    """A wait as gRPC's details have it: seconds, and billionths of one."""

    def __init__(self, seconds: object, nanos: object = None) -> None:
        self.seconds = seconds
        self.nanos = nanos


class RetryInfo:
    """A detail of an error of Google's."""

    def __init__(self, delay: Delay) -> None:
        self.retry_delay = delay


def waiting(seconds: float) -> Exception:
    exc = TimeoutError("later")
    vars(exc)["retry_after"] = seconds
    return exc


@pytest.mark.parametrize("parts", [[waiting(7)], (waiting(7),), {"host:1": waiting(7)}], ids=["list", "tuple", "dict"])
def test_the_wait_of_a_part_is_the_wait_of_the_whole(parts: object) -> None:
    """A driver that tried several servers keeps what each said; a wait that one asked for is kept to."""
    explanation = explain(raised("pymongo.errors.AutoReconnect", "no servers", errors=parts))
    assert (C.SERVICE_UNAVAILABLE, Retry.after(seconds=7)) == explanation[:2]


@pytest.mark.parametrize(
    ("details", "retry"),
    [
        ([RetryInfo(Delay(12))], Retry.after(seconds=12)),
        ([object(), RetryInfo(Delay(1, 500_000_000))], Retry.after(seconds=1.5)),
        ((RetryInfo(Delay("soon")),), C.RATE_LIMITED.retry),
    ],
    ids=["seconds", "billionths", "neither"],
)
def test_the_wait_in_a_detail_of_grpcs_is_kept_to(details: object, retry: Retry) -> None:
    """RetryInfo is how Google's services say when to come back."""
    explanation = explain(raised("google.api_core.exceptions.ResourceExhausted", "quota exceeded", details=details))
    assert (C.RATE_LIMITED, retry) == explanation[:2]


def test_a_cycle_is_searched_once_for_a_wait() -> None:
    """Exceptions that name one another as their causes, and chains without end, end."""
    timed_out, disconnected = TimeoutError("one"), ConnectionError("two")
    timed_out.__cause__, disconnected.__cause__ = disconnected, timed_out
    assert C.TIMEOUT.retry == explain(timed_out).retry
    first = exc = TimeoutError("first")
    for _ in range(MAX_LINKS + 5):
        exc.__cause__ = exc = TimeoutError("next")
    exc.__cause__ = waiting(9)
    assert C.TIMEOUT.retry == explain(first).retry


@pytest.mark.parametrize(
    ("exc", "code", "layer", "path"),
    [
        # A retry error without any attempt has no last failure.
        (raised("tenacity.RetryError", "x", last_attempt=object()), C.SERVICE_UNAVAILABLE, "type", ()),
        # The explanation of a group names what would have to be doubted first.
        (
            ExceptionGroup("g", [TimeoutError("x"), Exception("the request timed out"), TimeoutError("y")]),
            C.TIMEOUT,
            "message",
            ("exceptions[1]",),
        ),
    ],
    ids=["a part that holds no failure", "members that agree"],
)
def test_the_part_that_decides(exc: Exception, code: ErrorCode, layer: str, path: tuple[str, ...]) -> None:
    """A part that holds no failure says nothing; of members that agree, the explanation names the least certain one."""
    explanation = explain(exc)
    assert (code, layer, path) == (explanation.code, explanation.matched.layer, explanation.matched.path)


def test_a_coded_error_whose_code_was_broken_is_judged_as_any_other() -> None:
    """A subclass that hides its code behind junk is not believed, and its class is no crash of the library."""

    class BrokenError(CodedError):
        def __getattribute__(self, name: str) -> object:
            return "junk" if name == "code" else super().__getattribute__(name)

    assert C.NOT_FOUND is classify(not_found())
    assert C.INTERNAL_ERROR is classify(BrokenError(C.CONFLICT, "xyzzy"))


@pytest.mark.parametrize(
    ("exc", "code", "row"),
    [
        (raised("own.Failure", "x", sqlstate="ZZ9ZZ", pgcode="23505"), C.CONFLICT, "SQLSTATE 23505"),
        (raised("own.Failure", "x", errno=99_999), C.INTERNAL_ERROR, ""),
        (raised("own.Failure", "x", code=404), C.NOT_FOUND, "HTTP 404"),
        (raised("own.Failure", "x", code=200), C.INTERNAL_ERROR, ""),
        (
            raised("elasticsearch.exceptions.ApiError", "x", error="resource_already_exists_exception"),
            C.CONFLICT,
            "service code resource_already_exists_exception",
        ),
        (raised("opensearchpy.exceptions.TransportError", "x", error=7), C.SERVICE_UNAVAILABLE, ""),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_a_fact_decides_and_what_no_table_has_is_no_fact(exc: Exception, code: ErrorCode, row: str) -> None:
    """The second of two states counts where the first is unknown; numbers beyond every table count for nothing."""
    explanation = explain(exc)
    assert code is explanation.code
    assert row in explanation.matched.row


def test_an_answer_that_is_no_http_is_the_servers_fault() -> None:
    """aiohttp gives it status 400, as if the request had been wrong."""
    asked: Any = None
    exc = aiohttp.ClientResponseError(asked, (), status=400)
    assert "HTTP 400" == explain(exc).matched.row
    exc.__cause__ = aiohttp.http_exceptions.BadStatusLine("junk")
    assert (C.SERVICE_UNAVAILABLE, "an answer that is not HTTP") == (explain(exc).code, explain(exc).matched.row)


def test_sentences_of_one_library_are_looked_for_in_each_that_a_class_comes_from() -> None:
    """A class of two families is read by both, and by the common sentences where neither has one."""
    family = type("Error", (Exception,), {"__module__": "asyncpg.exceptions"})
    assert C.DATABASE_ERROR is classify(raised("asyncpg.exceptions.InterfaceError", "xyzzy", base=family))


@pytest.fixture
def registered():
    yield
    registry.forget()


def test_a_regular_expression_alone_is_read(registered) -> None:
    """Patterns of the application work without a phrase."""
    classifies_message(re.compile("krang+ed"), C.CONFLICT)
    assert C.CONFLICT is classify(Exception("Kranggged again"))
    assert C.INTERNAL_ERROR is classify(Exception("xyzzy"))


def test_words_that_the_vocabulary_lacks_are_an_error_where_the_phrase_is_made() -> None:
    """A phrase with a misspelt name would otherwise never match."""
    with pytest.raises(PhraseError, match="no words named 'nosuchwords'"):
        expand("{nosuchwords} not found")
    with pytest.raises(PhraseError):
        compile_phrase("a [b")
