"""What the rules of classification say, one sentence of them at a time."""

from __future__ import annotations

import asyncio
import enum
import errno
import http
import json
import socket
import sqlite3
import ssl
import subprocess
import sys
import urllib.error
import xmlrpc.client
from email.message import Message
from pathlib import Path

import pydantic
import pytest

from mcpcore import CodedError, CustomCode, ErrorCode, Retry, classify
from mcpcore.classification import code_for_status, explain, retry_for_status

C = ErrorCode


def caused(outer: BaseException, inner: BaseException) -> BaseException:
    outer.__cause__ = inner
    return outer


def during(outer: BaseException, inner: BaseException, *, suppressed: bool = False) -> BaseException:
    outer.__context__ = inner
    outer.__suppress_context__ = suppressed
    return outer


def carrying(message: str = "boom", **facts: object) -> Exception:
    exc = Exception(message)
    vars(exc).update(facts)
    return exc


class Response:
    def __init__(self, status_code: object, **headers: str) -> None:
        self.status_code = status_code
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


class GrpcStatus:
    name = "PERMISSION_DENIED"


def named(module: str, name: str, *bases: type, **members: object) -> type[Exception]:
    """A class of a library that is not installed here, as its instances look."""
    return type(name, bases or (Exception,), {"__module__": module, **members})


@pytest.mark.parametrize(
    ("exc", "code"),
    [
        (FileNotFoundError(2, "x"), C.NOT_FOUND),
        (PermissionError("not found"), C.FORBIDDEN),
        (FileExistsError(), C.CONFLICT),
        (TimeoutError(), C.TIMEOUT),
        (ConnectionError(), C.SERVICE_UNAVAILABLE),
        (BrokenPipeError(), C.SERVICE_UNAVAILABLE),
        (ConnectionAbortedError(), C.SERVICE_UNAVAILABLE),
        (socket.gaierror(-2, "Name or service not known"), C.SERVICE_UNAVAILABLE),
        (ssl.SSLError("x"), C.SERVICE_UNAVAILABLE),
        (ssl.SSLCertVerificationError("x"), C.SERVICE_UNAVAILABLE),
        (json.JSONDecodeError("x", "y", 0), C.SERIALIZATION_ERROR),
        (UnicodeDecodeError("utf-8", b"x", 0, 1, "x"), C.SERIALIZATION_ERROR),
        (UnicodeError("x"), C.SERIALIZATION_ERROR),
        (subprocess.TimeoutExpired("x", 1), C.TIMEOUT),
        (subprocess.CalledProcessError(1, ["grep", "not found"]), C.INTERNAL_ERROR),
        (asyncio.CancelledError(), C.REQUEST_CANCELLED),
        (KeyboardInterrupt(), C.REQUEST_CANCELLED),
        (RecursionError(), C.INTERNAL_ERROR),
        (MemoryError(), C.INTERNAL_ERROR),
        (SystemExit(404), C.INTERNAL_ERROR),
        (ValueError("user not found"), C.VALIDATION_ERROR),
        (OSError(errno.ENOSPC, "x"), C.SERVICE_UNAVAILABLE),
        (OSError(errno.EHOSTUNREACH, "x"), C.SERVICE_UNAVAILABLE),
        (OSError(errno.EROFS, "x"), C.FORBIDDEN),
        (OSError("Connection timed out"), C.TIMEOUT),
        (OSError("it broke"), C.INTERNAL_ERROR),
        (urllib.error.HTTPError("http://x", 404, "x", Message(), None), C.NOT_FOUND),
        (sqlite3.IntegrityError("UNIQUE constraint failed: users.email"), C.CONFLICT),
        (sqlite3.IntegrityError("FOREIGN KEY constraint failed"), C.VALIDATION_ERROR),
        (sqlite3.IntegrityError("NOT NULL constraint failed: users.email"), C.VALIDATION_ERROR),
        (sqlite3.IntegrityError("CHECK constraint failed: age"), C.VALIDATION_ERROR),
        (sqlite3.OperationalError("no such table: users"), C.DATABASE_ERROR),
        (sqlite3.OperationalError("database is locked"), C.DATABASE_ERROR),
    ],
    ids=repr,
)
def test_a_standard_exception_has_the_code_of_its_type(exc: BaseException, code: ErrorCode) -> None:
    """The type of a standard exception decides, not its message."""
    assert code is classify(exc)


@pytest.mark.parametrize(
    "kind",
    [TypeError, AttributeError, NameError, AssertionError, KeyError, IndexError, ZeroDivisionError, NotImplementedError,
     ImportError, RecursionError, UnboundLocalError, StopIteration],
)  # fmt: skip
def test_a_mistake_of_the_program_is_internal_whatever_its_message(kind: type[Exception]) -> None:
    """No sentence makes a programmer's error the caller's."""
    for sentence in ("user not found", "invalid value", "permission denied", "status code 404", "unauthorized"):
        assert C.INTERNAL_ERROR is classify(kind(sentence))
        assert C.INTERNAL_ERROR is classify(caused(RuntimeError(sentence), kind(sentence)))
        assert C.INTERNAL_ERROR is classify(ExceptionGroup(sentence, [kind(sentence)]))


def test_a_lock_is_retryable_and_a_missing_table_is_not() -> None:
    """DATABASE_ERROR is worth another try where the database was merely busy."""
    assert explain(sqlite3.OperationalError("database is locked")).retry.retryable
    assert explain(RuntimeError("deadlock detected")).retry.retryable
    assert not explain(sqlite3.OperationalError("no such table: users")).retry.retryable


@pytest.mark.parametrize(
    ("module", "name", "code"),
    [
        ("httpx._exceptions", "ReadTimeout", C.INTERNAL_ERROR),
        ("httpx", "TimeoutException", C.TIMEOUT),
        ("httpx2", "ConnectError", C.INTERNAL_ERROR),
        ("httpx2._exceptions", "NetworkError", C.SERVICE_UNAVAILABLE),
        ("botocore.exceptions", "NoCredentialsError", C.CONFIGURATION_ERROR),
        ("google.api_core.exceptions", "NotFound", C.NOT_FOUND),
        ("google.api_core.exceptions", "ResourceExhausted", C.INTERNAL_ERROR),
        ("azure.core.exceptions", "ResourceExistsError", C.CONFLICT),
        ("openai", "RateLimitError", C.RATE_LIMITED),
        ("anthropic._exceptions", "OverloadedError", C.SERVICE_UNAVAILABLE),
        ("jwt.exceptions", "InvalidTokenError", C.UNAUTHORIZED),
        ("yaml.error", "YAMLError", C.SERIALIZATION_ERROR),
        ("pymongo.errors", "DuplicateKeyError", C.CONFLICT),
        ("redis.exceptions", "AuthenticationError", C.UNAUTHORIZED),
        ("sqlalchemy.exc", "NoResultFound", C.NOT_FOUND),
        ("mine", "ReadTimeout", C.TIMEOUT),
    ],
)
def test_a_library_is_known_by_name_without_being_imported(module: str, name: str, code: ErrorCode) -> None:
    """Module and qualified name find the row; the same name elsewhere is only a name."""
    explanation = explain(named(module, name)())
    # The table lists only the base of some classes; the library has that base, but this replacement does not.
    if code is not C.INTERNAL_ERROR:
        assert code is explanation.code
        assert ("name" if module == "mine" else "type") == explanation.matched.layer


def test_nothing_is_imported_to_classify() -> None:
    """Families of libraries are recognised without loading any of them, and classify loads no module later."""
    script = (
        "import sys; loaded = set(sys.modules)  # by what counts branches, where something does\n"
        "from mcpcore.classification import classify; before = set(sys.modules)\n"
        "for e in (RuntimeError('timed out'), OSError(5, 'x'), ExceptionGroup('a', [KeyError()])): classify(e)\n"
        "heavy = {'httpx', 'httpx2', 'requests', 'pydantic', 'sqlalchemy', 'mcp', 'logging', 'email', 'dataclasses'}\n"
        "assert not set(sys.modules) - before, set(sys.modules) - before\n"
        "assert not heavy & set(sys.modules) - loaded, heavy & set(sys.modules) - loaded"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize(
    ("exc", "code", "row"),
    [
        (carrying(status_code=404), C.NOT_FOUND, "HTTP 404"),
        (carrying(status=503), C.SERVICE_UNAVAILABLE, "HTTP 503"),
        (carrying(response=Response(429)), C.RATE_LIMITED, "HTTP 429"),
        (carrying(response=Response(302)), C.INVALID_REQUEST, "HTTP 302"),
        (carrying(sqlstate="23505"), C.CONFLICT, "SQLSTATE 23505"),
        (carrying(pgcode="23503"), C.VALIDATION_ERROR, "SQLSTATE 23503"),
        (carrying(pgcode="40P01"), C.DATABASE_ERROR, "SQLSTATE 40P01"),
        (carrying(pgcode="42P01"), C.DATABASE_ERROR, "SQLSTATE 42P01"),
        (carrying(errno=errno.ECONNREFUSED), C.SERVICE_UNAVAILABLE, f"errno {errno.ECONNREFUSED}"),
        (carrying(response={"Error": {"Code": "ThrottlingException"}, "ResponseMetadata": {"HTTPStatusCode": 400}}),
         C.RATE_LIMITED, "service code ThrottlingException"),
        (carrying(response={"Error": {"Code": "GadgetNotFoundException"}, "ResponseMetadata": {"HTTPStatusCode": 400}}),
         C.NOT_FOUND, "service code GadgetNotFoundException"),
        (carrying(response={"Error": {"Code": "Odd"}, "ResponseMetadata": {"HTTPStatusCode": 403}}),
        C.FORBIDDEN, "HTTP 403"),
        (carrying(code=GrpcStatus),
        C.FORBIDDEN, "gRPC PERMISSION_DENIED"),
        (carrying(code="context_length_exceeded", status_code=400),
        C.VALIDATION_ERROR, "service code context_length_exceeded"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)  # fmt: skip
def test_what_an_exception_carries_beats_what_it_says(exc: Exception, code: ErrorCode, row: str) -> None:
    """A status, an SQLSTATE, an errno, a gRPC status or a service's code decides before any message."""
    exc.args = ("user not found: timed out",)
    explanation = explain(exc)
    assert (code, "carried", row) == (explanation.code, explanation.matched.layer, explanation.matched.row)


@pytest.mark.parametrize(
    "lie",
    [
        "4o4",
        "+404",
        "0404",
        "\u0664\u0660\u0664",
        True,
        9999,
        200,
        -1,
        404.0,
        None,
        [404],
        b"404",
        pytest.param(object(), id="object"),
    ],
    ids=ascii,
)
def test_a_status_that_is_none_counts_for_nothing(lie: object) -> None:
    """Words, bools, fractions and numbers that are no failure are not HTTP statuses."""
    assert C.INTERNAL_ERROR is classify(carrying(status_code=lie, response=Response(lie)))
    assert C.TIMEOUT is classify(carrying("timed out", status_code=lie, response=Response(lie)))


class Standing(enum.Enum):
    """A client's own enumeration of statuses, whose members are no numbers."""

    MISSING = 404


@pytest.mark.parametrize("status", [404, "404", http.HTTPStatus.NOT_FOUND, Standing.MISSING], ids=ascii)
def test_a_status_counts_in_each_form_that_clients_give_it(status: object) -> None:
    """A number, its three digits, or a member of an enumeration, on the exception or on its response."""
    assert C.NOT_FOUND is classify(carrying("timed out", status_code=status))
    assert C.NOT_FOUND is classify(carrying("timed out", response=Response(status)))


@pytest.mark.parametrize(
    ("exc", "code"),
    [
        (caused(RuntimeError("user not found"), TimeoutError()), C.TIMEOUT),
        (during(RuntimeError("user not found"), TimeoutError()), C.TIMEOUT),
        (during(RuntimeError("user not found"), TimeoutError(), suppressed=True), C.NOT_FOUND),
        (caused(PermissionError("x"), TimeoutError()), C.FORBIDDEN),
        (caused(RuntimeError("invalid"), carrying(status_code=429)), C.RATE_LIMITED),
        (
            caused(RuntimeError("a"), caused(RuntimeError("b"), caused(RuntimeError("c"), FileNotFoundError()))),
            C.NOT_FOUND,
        ),
        (caused(ValueError("unknown city"), KeyError("Oz")), C.VALIDATION_ERROR),
        (RuntimeError(PermissionError(13, "x")), C.FORBIDDEN),
        (caused(RuntimeError("sync failed"), RuntimeError("rate limit exceeded")), C.RATE_LIMITED),
        (caused(RuntimeError("rate limit exceeded"), RuntimeError("not found")), C.RATE_LIMITED),
        (ExceptionGroup("a", [TimeoutError(), subprocess.TimeoutExpired("x", 1)]), C.TIMEOUT),
        (ExceptionGroup("a", [TimeoutError(), FileNotFoundError()]), C.INTERNAL_ERROR),
        (ExceptionGroup("not found", [ExceptionGroup("b", [TimeoutError()]), TimeoutError()]), C.TIMEOUT),
        (ExceptionGroup("not found", [RuntimeError("boom")]), C.INTERNAL_ERROR),
        (caused(RuntimeError("not found"), ExceptionGroup("a", [TimeoutError()])), C.TIMEOUT),
        (BaseExceptionGroup("a", [asyncio.CancelledError()]), C.REQUEST_CANCELLED),
    ],
)
def test_an_exception_is_searched_for_what_is_inside_it(exc: BaseException, code: ErrorCode) -> None:
    """Causes, contexts unless suppressed, arguments and groups: specific beats message, outside beats inside."""
    assert code is classify(exc)


def test_retry_errors_are_searched_for_the_last_failure() -> None:
    """The final errors of retrying libraries keep the failure in special attributes."""
    import tenacity
    import urllib3

    attempt = tenacity.Future.construct(1, TimeoutError("slow"), has_exception=True)
    assert C.TIMEOUT is classify(tenacity.RetryError(attempt))
    pool = urllib3.HTTPConnectionPool("h")
    reason = urllib3.exceptions.ReadTimeoutError(pool, "/", "slow")
    assert C.TIMEOUT is classify(urllib3.exceptions.MaxRetryError(pool, "/", reason))
    assert C.SERVICE_UNAVAILABLE is classify(urllib3.exceptions.MaxRetryError(pool, "/", Exception("x")))


def test_a_coded_error_keeps_its_code_and_advice() -> None:
    """A failure with a code is not classified again, even inside a plain error."""
    coded = CodedError(C.CONFLICT, "not found", retry=Retry.after(seconds=3))
    assert (C.CONFLICT, Retry.after(seconds=3), "coded") == (*explain(coded)[:2], explain(coded).matched.layer)
    assert C.CONFLICT is classify(caused(RuntimeError("timed out"), coded))
    custom = CustomCode(
        "CLASSIFY_TEST", 71_001, http_status=402, category="client", retry=Retry.never(), sentence="No."
    )
    assert custom is classify(CodedError(custom, "x"))


def test_a_pydantic_error_is_a_validation_error() -> None:
    """Only the boundary knows of arguments; elsewhere pydantic's error is about the operation's own rules."""
    with pytest.raises(pydantic.ValidationError) as caught:
        pydantic.TypeAdapter(int).validate_python("x")
    assert C.VALIDATION_ERROR is classify(caught.value)


def test_a_syntax_error_of_text_is_the_callers_and_of_a_module_the_programs() -> None:
    """Text given to a parser has no file; a module that does not parse has."""
    for source, code in (("<string>", C.VALIDATION_ERROR), (str(Path(__file__).resolve()), C.INTERNAL_ERROR)):
        with pytest.raises(SyntaxError) as caught:
            compile("1 +", source, "eval")
        assert code is classify(caught.value)


def test_the_explanation_says_what_matched_and_where() -> None:
    """`matched` names the layer, the row, the exception of the chain, and the way to it."""
    inner = carrying(status_code=503)
    explanation = explain(caused(RuntimeError("a"), ExceptionGroup("b", [inner])))
    assert (C.SERVICE_UNAVAILABLE, 503) == (explanation.code, explanation.status)
    assert ("carried", "HTTP 503", inner, ("__cause__", "exceptions[0]")) == explanation.matched
    assert ("default", "") == explain(Exception("boom")).matched[:2]
    with pytest.raises(AttributeError):
        explanation.code = C.TIMEOUT  # type: ignore[misc]


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, C.INVALID_PARAMS), (401, C.UNAUTHORIZED), (402, C.FORBIDDEN), (403, C.FORBIDDEN), (404, C.NOT_FOUND),
        (408, C.TIMEOUT), (425, C.TIMEOUT), (504, C.TIMEOUT), (409, C.CONFLICT), (423, C.CONFLICT), (424, C.CONFLICT),
        (422, C.VALIDATION_ERROR), (429, C.RATE_LIMITED), (405, C.INVALID_REQUEST), (406, C.INVALID_REQUEST),
        (410, C.INVALID_REQUEST), (412, C.INVALID_REQUEST), (418, C.INVALID_REQUEST), (451, C.INVALID_REQUEST),
        (301, C.INVALID_REQUEST), (304, C.INVALID_REQUEST), (500, C.SERVICE_UNAVAILABLE), (501, C.SERVICE_UNAVAILABLE),
        (502, C.SERVICE_UNAVAILABLE), (503, C.SERVICE_UNAVAILABLE), (599, C.SERVICE_UNAVAILABLE),
        (999, C.SERVICE_UNAVAILABLE),
    ],
)  # fmt: skip
def test_a_status_has_the_code_of_the_table(status: int, code: ErrorCode) -> None:
    """The table of statuses holds for numbers, for exceptions and for sentences alike."""
    assert code is code_for_status(status)
    if status <= 599:
        assert code is classify(carrying(status_code=status))
        assert code is classify(RuntimeError(f"request failed with status code {status}"))


def test_a_status_that_is_no_failure_is_refused() -> None:
    """`code_for_status` is for failures, and says so."""
    for status in (0, 100, 200, 204, 299, 1000, -404):
        with pytest.raises(ValueError, match="failed response"):
            code_for_status(status)
    for odd in ("404", True, 404.0, None):
        with pytest.raises(TypeError, match="HTTP status"):
            code_for_status(odd)  # type: ignore[arg-type]
    assert not retry_for_status(501).retryable
    assert retry_for_status(500).retryable


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("GadgetInvalidStateException", C.CONFLICT), ("InvalidStateTransition", C.CONFLICT),
        ("NoSuchGadgetPermission", C.NOT_FOUND), ("GadgetPermissionAlreadyExists", C.CONFLICT),
        ("GadgetServerException", C.SERVICE_UNAVAILABLE), ("InsufficientGadgetCapacity", C.SERVICE_UNAVAILABLE),
        ("TransactionCanceledException", C.CONFLICT), ("GadgetSizeExceededException", C.VALIDATION_ERROR),
        ("InvalidGadgetConfigurationException", C.VALIDATION_ERROR), ("GadgetKeyDisabledException", C.CONFLICT),
    ],
)  # fmt: skip
def test_the_name_of_a_services_error_is_read_as_the_services_own(name: str, code: ErrorCode) -> None:
    """What would be a mistake of this program by its name is a state or a refusal where a service says it."""
    response = {"Error": {"Code": name, "Message": "as it says"}, "ResponseMetadata": {"HTTPStatusCode": 400}}
    assert code is classify(carrying(response=response))


def test_what_a_fault_of_xml_rpc_has_for_a_number_is_read_where_the_specification_has_it() -> None:
    """A procedure that nobody serves is METHOD_NOT_FOUND; a number of the server's own says nothing."""
    assert C.METHOD_NOT_FOUND is classify(xmlrpc.client.Fault(-32601, "who?"))
    assert C.SERVICE_UNAVAILABLE is classify(xmlrpc.client.Fault(17, "who?"))


@pytest.mark.parametrize(
    "message",
    [
        "unknown key",
        "Invalid key 'colour'",
        "missing keys: a, b and c",
        "bad key",
        "the key is wrong",
        "the key was invalidated",
        "the key was not provided",
    ],
)
def test_a_key_alone_is_no_credential(message: str) -> None:
    """It may be that of a mapping or of a store; only one that is called a key of an API or of an account is a secret."""
    assert classify(RuntimeError(message)) is not C.UNAUTHORIZED
    assert classify(RuntimeError(message.replace("key", "API key"))) is C.UNAUTHORIZED
