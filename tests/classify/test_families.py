"""Families of sentences: how people say one thing, and what only sounds as if they did."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, strategies as st

from mcpcore import ErrorCode, classify, explain
from mcpcore.classification.matcher import Matcher, mark, words_of
from mcpcore.classification.phrases import MESSAGES
from tests.tables import in_one_test

C = ErrorCode

FAMILIES = {
    C.NOT_FOUND: [
        "OrderNotFound: 17", "user 'ada' was not found", "Policy p-17 not found", "no such bucket", "not found: gauge 7",
        "Sync: OrderNotFound", "[WinError 2] The system cannot find the file specified",
        "Unknown resource: lock://7",
    ],
    C.VALIDATION_ERROR: [
        "depth must be positive", "depth has to be at most 10", "depth is required",
        "depth is not a valid length", "unsupported unit: cubit",
        "the note is too long", "depth cannot be empty", "missing parameter: depth", "depth and height are mutually exclusive",
        "specify either a or b",
    ],
    C.UNAUTHORIZED: [
        "your session has ended: session expired", "wrong passphrase",
        "bad credentials", "the password is incorrect", "Unable to locate credentials", "invalid_grant",
    ],
    C.FORBIDDEN: [
        "you are not authorized to drain the lock", "access denied",
    ],
    C.CONFLICT: [
        "berth 4 already taken", "the lock is in use", "the basin is not empty: folder is not empty",
    ],
    C.CONFIGURATION_ERROR: [
        "TIDE_API_KEY is not set", "TIDE_API_KEY must be set",
        "missing TIDE_API_KEY", "environment variable TIDE_KEY is required",
        "config file not readable: bad configuration",
    ],
    C.RATE_LIMITED: [
        "requests were throttled",
    ],
    C.SERVICE_UNAVAILABLE: [
        "the tide service is down for maintenance", "connection refused by the gauge",
        "could not reach the gauge", "server closed the connection unexpectedly",
        "circuit breaker is open",
    ],
    C.TIMEOUT: [
        "the scan timed out",
    ],
    C.SERIALIZATION_ERROR: [
        "cannot decode the frame",
        "failed to parse response",
    ],
    C.REQUEST_CANCELLED: [
        "cancelled by the skipper", "the user aborted the survey",
    ],
    C.DATABASE_ERROR: [
        "no such column: depht", "deadlock detected", "ORA-00942: x", "Unknown database 'tides'", "Table 'locks' doesn't exist",
    ],
}  # fmt: skip

SAYS_NOTHING = [
    "Something went wrong", "Failed to process request", "An error has occurred", "Operation failed", "oops",
    "Could not render the chart", "tool execution failed", "this should never happen", "assertion failed in planner",
    "this is not one of the things that are allowed for", "Exit status 2", "Step 3 of 7 did not succeed",
    "the quotable line failed", "throttleable pump failed", "the validator-free build broke", "misforbidden path",
    "The CRM does not answer. Wait a few seconds and call again.", "the gauge does not accept connections",
    "Windows does not support links", "the backend does not understand the request", "the driver must be called first",
    "documentation can be found at home", "a package is required for this",
    "Error message for StatusNotFound.", "StatusNotFound was registered twice", "strace not found!", "ssl module not found",
    "the option --depth does not exist", "No such command 'dredge'", "create the folder if it does not exist",
    "response must be a JSON object", "the server returned an invalid value", "code is required in the token response",
    "Multiple text records not allowed", "None is not allowed as password value", "invalid token at line 3",
    "expected string at position 5", "Python 3.12 or later is required", "lxml is required to parse the page",
    "missing one required positional argument", "the basin must be empty to be swept", "call stack size exceeded",
    "Expected DNS rebinding protection", "$home is not defined", "password is required", "table t was not found",
    "gauge does not exist or you do not have access to it", "authentication message too short",
    "Must provide API key for this API", "unexpected EOF", "expected 64, but got 60",
]  # fmt: skip


@in_one_test(
    ("sentence", "code"),
    [(s, code) for code, said in (*FAMILIES.items(), (C.INTERNAL_ERROR, SAYS_NOTHING)) for s in said],
)
def test_a_family_of_sentences_has_one_code(sentence: str, code: ErrorCode) -> None:
    """One thing said in many ways has one code, in a plain error and in one of an application's own; a sentence that tells no
    cause stays INTERNAL_ERROR."""
    assert code is classify(RuntimeError(sentence)), explain(RuntimeError(sentence)).matched
    assert code is classify(type("GaugeError", (Exception,), {})(sentence))


@pytest.mark.parametrize(
    ("sentence", "its", "other", "others"),
    [
        ("name must not be empty", C.VALIDATION_ERROR, "the folder is not empty", C.CONFLICT),
        ("api_key is not a word: it is too short", C.VALIDATION_ERROR, "API_KEY is not set", C.CONFIGURATION_ERROR),
        ("invalid id", C.VALIDATION_ERROR, "invalid token", C.UNAUTHORIZED),
        ("not authorized", C.UNAUTHORIZED, "not authorized to read x", C.FORBIDDEN),
        ("STORE_NOT_FOUND", C.NOT_FOUND, "STORE_URL is not set", C.CONFIGURATION_ERROR),
    ],
)
def test_the_more_specific_sentence_beats_the_general_one(
    sentence: str, its: ErrorCode, other: str, others: ErrorCode
) -> None:
    """Two sentences with the same words and different meanings have different codes."""
    assert its is classify(RuntimeError(sentence)), explain(RuntimeError(sentence)).matched.row
    assert others is classify(RuntimeError(other)), explain(RuntimeError(other)).matched.row


@pytest.mark.parametrize(
    "kind", [TypeError, AttributeError, NameError, AssertionError, KeyError, IndexError, ZeroDivisionError, ImportError]
)
def test_no_family_blames_the_caller_for_a_mistake_of_the_program(kind: type[Exception]) -> None:
    """A programmer's error stays INTERNAL_ERROR, whatever sentence of any family it carries."""
    for said in FAMILIES.values():
        for sentence in said:
            assert C.INTERNAL_ERROR is classify(kind(sentence)), sentence


def test_a_vague_name_yields_to_the_message_and_a_clear_one_does_not() -> None:
    """`StorageError` says what it is about, `NotFoundError` what happened."""
    vague = type("StorageError", (Exception,), {})
    assert C.DATABASE_ERROR is classify(vague("x"))
    assert C.NOT_FOUND is classify(vague("file not found"))
    assert C.RATE_LIMITED is classify(type("ApiError", (Exception,), {})("quota exceeded"))
    assert C.NOT_FOUND is classify(type("NotFoundError", (Exception,), {})("quota exceeded"))
    assert C.INTERNAL_ERROR is classify(type("BugError", (Exception,), {})("user not found"))
    explanation = explain(vague("x"))
    assert ("name", C.DATABASE_ERROR) == (explanation.matched.layer, explanation.code)


def test_names_in_capitals_and_in_mixed_case_are_marked() -> None:
    """A name like API_BASE gets a dollar; the words of OrderNotFound are appended, out of reach of the message."""
    assert "$api_base is gone" == mark("API_BASE is gone")
    assert "api_base is gone" == mark("api_base is gone")
    assert "ordernotfound: 7\n;\norder not found" == mark("OrderNotFound: 7")
    assert "$" in words_of(mark("API_BASE"))
    assert C.INTERNAL_ERROR is classify(RuntimeError("gate, GateKeeper"))


@in_one_test(
    "unit",
    ["no ", "not ", "must be ", "expected , ", "A_", "AB_C ", "aB", "aaaB ", "is not a ", "too many ", "within 1 ",
     "access .. ", "_-", "- ", "unknown [", "a" * 99 + " ", "user client caller hung ", "(" * 50 + " ", "$x ", "\n;\n",
     "could not be parsed while ", "only can may be ", "required missing "],
)  # fmt: skip
def test_a_message_of_any_size_costs_little(unit: str) -> None:
    """A hundred kilobytes of the worst words for the expressions take a moment, and no more than a kilobyte does."""
    exc = RuntimeError(unit * (100_000 // len(unit)))
    classify(exc)
    started = time.process_time()
    classify(exc)
    assert time.process_time() - started < 0.1


def test_what_is_denied_is_not_said() -> None:
    """A gap does not reach over a "not": a server that was not down is no failure of it."""
    for sentence in (
        "The server was not down at all", "the disk was not full", "the key has not expired",

    ):  # fmt: skip
        assert C.INTERNAL_ERROR is classify(RuntimeError(sentence)), (sentence, explain(RuntimeError(sentence)).matched)


@pytest.mark.parametrize(
    ("sentence", "code"),
    [
        ("404: no berth by that name", C.NOT_FOUND), ("the gauge answered (503)", C.SERVICE_UNAVAILABLE),
        ('{"code": 409, "why": "tide"}', C.CONFLICT), ("came back with a 429", C.RATE_LIMITED), ("422", C.VALIDATION_ERROR),
        ("HTTP 400: depth must be at least 1", C.VALIDATION_ERROR), ("HTTP 400: Bad Request", C.INVALID_PARAMS),
        ("HTTP 406: rate limit exceeded", C.RATE_LIMITED), ("HTTP 400 from the gauge", C.INVALID_PARAMS),
        ("berth 404 drained", C.INTERNAL_ERROR), ("429 waves were counted", C.INTERNAL_ERROR),
        ("wave 12 of 503 broke", C.INTERNAL_ERROR), ("got 404 shells", C.INTERNAL_ERROR), ("exit code 401", C.INTERNAL_ERROR),
    ],
)  # fmt: skip
def test_a_figure_is_a_status_only_where_it_stands_as_one(sentence: str, code: ErrorCode) -> None:
    """A status is named as one, is alone, in brackets or before a colon; any other number is not a status."""
    assert code is classify(RuntimeError(sentence)), explain(RuntimeError(sentence)).matched


@given(st.lists(st.sampled_from(sorted({w for row in MESSAGES for p in row.phrases for w in p.split()})), max_size=200))
def test_any_words_of_the_table_in_any_order_are_read_quickly(words: list[str]) -> None:
    """No arrangement of the table's own words makes an expression slow."""
    exc = RuntimeError(" ".join(words).replace("|", " "))
    started = time.process_time()
    explain(exc)
    assert time.process_time() - started < 1


@in_one_test(
    ("sentence", "code"),
    [
        ("Unknown setting: connection_timeout", C.INTERNAL_ERROR), ("Cannot click #login-failed", C.INTERNAL_ERROR),
        ("No changes on branch fix/permission-denied", C.INTERNAL_ERROR),
        ("API_DIRECTORY not found in the cache", C.INTERNAL_ERROR), ("pushed feat/not-found to origin", C.INTERNAL_ERROR),
        ("opened ./tests/access-denied.html", C.INTERNAL_ERROR), ("error: rate_limit_exceeded", C.RATE_LIMITED),
        ("STORE_NOT_FOUND", C.NOT_FOUND), ("token_revoked", C.UNAUTHORIZED), ("read/write access denied", C.FORBIDDEN),
        ("max_tokens must be an integer", C.VALIDATION_ERROR), ("TCP read i/o timeout", C.TIMEOUT),
    ],
)  # fmt: skip
def test_the_words_of_a_name_say_nothing_unless_it_is_an_error_by_itself(sentence: str, code: ErrorCode) -> None:
    """The name of a setting, a branch, an element or a file may be made of any words; that of an error says what happened."""
    assert code is classify(RuntimeError(sentence)), explain(RuntimeError(sentence)).matched


def test_a_guard_keeps_the_next_word_out() -> None:
    """`!word` in a phrase refuses a match where that word follows."""
    matcher = Matcher([MESSAGES[0]._replace(code=C.CONFLICT, phrases=("mooring taken !by|from",), only=None)])
    assert matcher.find("mooring taken") is not None
    assert matcher.find("mooring taken at noon") is not None
    assert matcher.find("mooring taken by storm") is None
    assert matcher.find("mooring taken bytes") is not None
