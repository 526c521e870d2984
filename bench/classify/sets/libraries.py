"""Exceptions of libraries, labelled by what their documentation says of them.

Each table holds a class, its arguments and the label. Libraries that are not installed are left out. Exceptions to
which two codes apply are not in the set.
"""

# The cases do on purpose what the rules forbid, each in one line.
# ruff: noqa: ARG005, E501
from __future__ import annotations

import asyncio
import errno
import io
import json
import math
import os
import socket
import sqlite3
import ssl
import struct
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bench.classify.case import Case, bug, case
from bench.classify.raising import named, throw, wrapped
from mcpcore.contract.codes import ErrorCode as E

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.classify.servers import Peers


def _rows(library: str, table: dict[E, list[tuple[Any, ...]]], make: Callable[..., BaseException]) -> list[Case]:
    return [
        case(label, repr(row)[1:-1][:100], lambda p, row=row: throw(make(*row)), library)
        for label, rows in table.items()
        for row in rows
    ]


def _listed(library: str, table: dict[E, str], make: Callable[[str], BaseException]) -> list[Case]:
    return _rows(library, {label: [(word,) for word in words.split()] for label, words in table.items()}, make)


def _class_of(prefix: str) -> Callable[..., BaseException]:
    def make(name: str, *args: Any, **facts: Any) -> BaseException:
        failure: BaseException = named(f"{prefix}.{name}")(*args)
        for fact, value in facts.items():
            setattr(failure, fact, value)
        return failure

    return make


# Clouds


def _aws(code: str, status: int = 400) -> BaseException:
    failure: BaseException = named("botocore.exceptions.ClientError")(
        {"Error": {"Code": code, "Message": "m"}, "ResponseMetadata": {"HTTPStatusCode": status}}, "Operation"
    )
    return failure


def _rpc(name: str) -> BaseException:
    import grpc

    return grpc.aio.AioRpcError(
        grpc.StatusCode[name], grpc.aio.Metadata(), grpc.aio.Metadata(), "invalid text not found"
    )


# HTTP


def _answered(library: str) -> Callable[[int], BaseException]:
    def make(status: int) -> BaseException:
        httpx = named(library)
        request = httpx.Request("GET", "http://peer/")
        failure: BaseException = httpx.HTTPStatusError(
            "m", request=request, response=httpx.Response(status, request=request)
        )
        return failure

    return make


_STATUSES: Final[dict[E, list[tuple[int]]]] = {
    E.INVALID_PARAMS: [(400,)],
    E.FORBIDDEN: [(402,)],
    E.TIMEOUT: [(408,), (425,), (504,)],
    E.CONFLICT: [(409,), (423,), (424,)],
    E.VALIDATION_ERROR: [(422,)],
    E.RATE_LIMITED: [(429,)],
    E.INVALID_REQUEST: [
        (number,) for number in (302, 304, 405, 410, 411, 412, 414, 415, 416, 417, 418, 421, 426, 428, 431, 444, 451)
    ],
    E.SERVICE_UNAVAILABLE: [(number,) for number in (500, 501, 502, 505, 507, 508, 511, 520, 529, 530, 599)],
}


def _retried(p: Peers) -> None:
    import urllib3

    with urllib3.PoolManager(retries=urllib3.Retry(1, status_forcelist=[429])) as pool:
        pool.request("GET", p.url("429"))


def _retried_session(p: Peers) -> None:
    import requests
    import urllib3

    with requests.Session() as session:
        session.mount("http://", requests.adapters.HTTPAdapter(max_retries=urllib3.Retry(1, status_forcelist=[429])))
        session.get(p.url("429"))


def _mysql(number: str) -> BaseException:
    import pymysql

    try:
        pymysql.err.raise_mysql_exception(b"\xff" + struct.pack("<h", int(number)) + b"#HY000it failed")
    except pymysql.err.MySQLError as failure:
        return failure
    raise AssertionError(number)


def _wrapped(kind: str, path: str, *args: Any) -> BaseException:
    failure: BaseException = named(f"sqlalchemy.exc.{kind}")("SELECT 1", {}, named(path)(*args))
    return failure


def _tls(p: Peers) -> None:
    host, _, port = p.http.removeprefix("http://").rstrip("/").partition(":")
    with socket.create_connection((host, int(port)), 2) as plain:
        ssl.create_default_context().wrap_socket(plain, server_hostname="localhost")


# The standard library, in other ways than the first part
_FOLDER: Final = Path(tempfile.gettempdir())


def _nested() -> list[Any]:
    inner: list[Any] = []
    for _ in range(100_000):
        inner = [inner]
    return inner


def _with_status() -> TypeError:
    failure = TypeError("x")
    vars(failure)["status_code"] = 404
    return failure


# Wrappers, and facts in unusual places
class OddError(Exception):
    """A small client's exception, with whatever facts it keeps."""

    def __init__(self, message: str = "it failed", **facts: object) -> None:
        super().__init__(message)
        vars(self).update(facts)


class Answer:
    """An answer as a small client keeps it."""

    def __init__(self, **facts: object) -> None:
        vars(self).update(facts)


CASES: list[Case] = [
    *_listed(
        "botocore",
        {
            E.NOT_FOUND: "NoSuchUpload NoSuchEntity InvalidInstanceID.NotFound DBInstanceNotFoundFault StateMachineDoesNotExist"
            " NoSuchHostedZone InvalidVpcID.NotFound FileSystemNotFound AccountNotFound GlobalTableNotFoundException"
            " UserGroupNotFoundFault NoSuchBucketPolicy AuthorizationNotFound",
            E.CONFLICT: "BucketAlreadyOwnedByYou ConditionalCheckFailedException InvalidGroup.Duplicate DependencyViolation"
            " KMSInvalidStateException ExecutionAlreadyExists HostedZoneAlreadyExists RestoreAlreadyInProgress"
            " InvalidKeyPair.Duplicate IncorrectInstanceState InvalidSnapshot.InUse StackSetNotEmptyException"
            " TokenAlreadyRedeemedException DocumentAlreadyExists ClusterAlreadyExistsFault BackupInUseException",
            E.RATE_LIMITED: "ProvisionedThroughputExceededException ServiceQuotaExceededException RequestLimitExceeded"
            " Throttled TooManyFailedAttemptsException",
            E.UNAUTHORIZED: "InvalidAccessKeyId ExpiredToken UnrecognizedClientException NotAuthorizedException AuthFailure",
            E.FORBIDDEN: "UnauthorizedOperation AccessDeniedException ForbiddenException",
            E.VALIDATION_ERROR: "ValidationException InvalidCiphertextException MalformedPolicyDocument KeyTooLongError"
            " MaxMessageLengthExceeded InvalidChangeBatch ReceiptHandleIsInvalid",
            E.SERVICE_UNAVAILABLE: "InsufficientInstanceCapacity InternalFailure ServerException InsufficientDBInstanceCapacity",
            E.TIMEOUT: "ModelTimeoutException RequestTimeout",
        },
        _aws,
    ),
    *_rows(
        "botocore",
        {
            E.NOT_FOUND: [("404", 404)],
            E.FORBIDDEN: [("403", 403)],
            E.INVALID_REQUEST: [("304", 304)],
            E.CONFLICT: [("LockedException", 423), ("LambdaConflict", 409)],
        },
        _aws,
    ),
    *_listed(
        "google.api_core",
        {
            E.NOT_FOUND: "NotFound",
            E.FORBIDDEN: "PermissionDenied Forbidden",
            E.UNAUTHORIZED: "Unauthenticated Unauthorized",
            E.RATE_LIMITED: "ResourceExhausted TooManyRequests",
            E.CONFLICT: "AlreadyExists Aborted Conflict",
            E.VALIDATION_ERROR: "OutOfRange",
            E.TIMEOUT: "DeadlineExceeded GatewayTimeout",
            E.SERVICE_UNAVAILABLE: "InternalServerError MethodNotImplemented BadGateway ServiceUnavailable",
            E.REQUEST_CANCELLED: "Cancelled",
            E.INVALID_REQUEST: "MethodNotAllowed MovedPermanently",
        },
        lambda name: named(f"google.api_core.exceptions.{name}")("m"),
    ),
    *_listed(
        "grpc",
        {
            E.REQUEST_CANCELLED: "CANCELLED",
            E.TIMEOUT: "DEADLINE_EXCEEDED",
            E.NOT_FOUND: "NOT_FOUND",
            E.CONFLICT: "ALREADY_EXISTS ABORTED",
            E.FORBIDDEN: "PERMISSION_DENIED",
            E.RATE_LIMITED: "RESOURCE_EXHAUSTED",
            E.VALIDATION_ERROR: "OUT_OF_RANGE",
            E.SERVICE_UNAVAILABLE: "UNAVAILABLE",
            E.UNAUTHORIZED: "UNAUTHENTICATED",
        },
        _rpc,
    ),
    *_rows(
        "azure.core",
        {
            E.NOT_FOUND: [("ResourceNotFoundError", "The specified container is missing")],
            E.CONFLICT: [("ResourceExistsError", "there")],
            E.INVALID_REQUEST: [("ResourceNotModifiedError", "x")],
            E.UNAUTHORIZED: [("ClientAuthenticationError", "the client secret is invalid")],
            E.SERVICE_UNAVAILABLE: [
                ("ServiceRequestError", "x"),
                ("ServiceResponseError", "reset"),
                ("IncompleteReadError", "x"),
            ],
            E.TIMEOUT: [("ServiceRequestTimeoutError", "x"), ("ServiceResponseTimeoutError", "x")],
            E.SERIALIZATION_ERROR: [("SerializationError", "x"), ("DeserializationError", "x"), ("DecodeError", "x")],
        },
        _class_of("azure.core.exceptions"),
    ),
    *_rows("httpx", _STATUSES, _answered("httpx")),
    *_rows("httpx2", _STATUSES, _answered("httpx2")),
    *_rows(
        "requests",
        {
            E.TIMEOUT: [("ConnectTimeout", "m"), ("ReadTimeout", "m")],
            E.SERVICE_UNAVAILABLE: [
                ("SSLError", "m"),
                ("ProxyError", "m"),
                ("RetryError", "m"),
                ("ConnectionError", "m"),
            ],
            E.SERIALIZATION_ERROR: [("InvalidJSONError", "m"), ("ContentDecodingError", "m")],
            E.VALIDATION_ERROR: [("InvalidSchema", "m"), ("MissingSchema", "m")],
        },
        _class_of("requests.exceptions"),
    ),
    *_rows(
        "aiohttp",
        {
            E.TIMEOUT: [("ServerTimeoutError", "m"), ("ConnectionTimeoutError", "m"), ("SocketTimeoutError", "m")],
            E.SERVICE_UNAVAILABLE: [
                ("ClientPayloadError", "m"),
                ("ServerConnectionError", "m"),
                ("ClientOSError", 104, "reset"),
            ],
            E.VALIDATION_ERROR: [("InvalidURL", "m")],
        },
        _class_of("aiohttp"),
    ),
    case(E.RATE_LIMITED, "a pool that gave up after answers of 429", _retried, "urllib3"),
    case(E.RATE_LIMITED, "a session that gave up after answers of 429", _retried_session, "requests"),
    # Databases
    *_listed(
        "psycopg",
        {
            E.CONFLICT: "23505",
            E.VALIDATION_ERROR: "23503 23502 23514 22P02 22001 22003 22007 22023 22008 44000",
            E.DATABASE_ERROR: "42P01 42703 42601 40P01 42883 26000 42804 40003 XX000",
            E.FORBIDDEN: "42501",
            E.UNAUTHORIZED: "28P01 28000",
            E.SERVICE_UNAVAILABLE: "57P03 08006 08001",
            E.REQUEST_CANCELLED: "57014",
        },
        lambda state: named("psycopg.errors").lookup(state)("relation not found, or something"),
    ),
    *_listed(
        "asyncpg",
        {
            E.CONFLICT: "UniqueViolationError",
            E.VALIDATION_ERROR: "ForeignKeyViolationError NotNullViolationError CheckViolationError"
            " StringDataRightTruncationError NumericValueOutOfRangeError InvalidTextRepresentationError",
            E.DATABASE_ERROR: "UndefinedTableError UndefinedColumnError PostgresSyntaxError DeadlockDetectedError",
            E.UNAUTHORIZED: "InvalidPasswordError InvalidAuthorizationSpecificationError",
            E.FORBIDDEN: "InsufficientPrivilegeError",
            E.SERVICE_UNAVAILABLE: "CannotConnectNowError ConnectionDoesNotExistError ConnectionFailureError",
        },
        lambda name: named(f"asyncpg.{name}")("text"),
    ),
    *_listed(
        "psycopg2",
        {
            E.CONFLICT: "UniqueViolation",
            E.VALIDATION_ERROR: "ForeignKeyViolation NotNullViolation CheckViolation",
            E.DATABASE_ERROR: "UndefinedTable DeadlockDetected",
            E.FORBIDDEN: "InsufficientPrivilege",
            E.REQUEST_CANCELLED: "QueryCanceled",
        },
        lambda name: named(f"psycopg2.errors.{name}")("x"),
    ),
    *_listed(
        "pymysql",
        {
            E.CONFLICT: "1062",
            E.VALIDATION_ERROR: "1048 1216 1264 1292 1364 1366 1406 1452 3819",
            E.DATABASE_ERROR: "1054 1064 1146 1213",
            E.UNAUTHORIZED: "1045 1698",
            E.FORBIDDEN: "1142 1227",
            E.SERVICE_UNAVAILABLE: "1129 2003 2013",
        },
        _mysql,
    ),
    *_rows(
        "redis",
        {
            E.SERVICE_UNAVAILABLE: [
                ("BusyLoadingError", "x"),
                ("ClusterDownError", "x"),
                ("ResponseError", "LOADING the dataset"),
            ],
            E.UNAUTHORIZED: [("AuthenticationError", "x"), ("ResponseError", "NOAUTH Authentication required.")],
            E.FORBIDDEN: [("NoPermissionError", "x"), ("ResponseError", "NOPERM it may not")],
            E.CONFLICT: [
                ("WatchError", "x"),
                ("LockNotOwnedError", "x"),
                ("ResponseError", "BUSYGROUP the name exists"),
            ],
            E.NOT_FOUND: [("ResponseError", "NOGROUP no such group")],
            E.TIMEOUT: [("TimeoutError", "x")],
            E.DATABASE_ERROR: [("ExecAbortError", "x")],
        },
        _class_of("redis.exceptions"),
    ),
    *_rows(
        "pymongo",
        {
            E.CONFLICT: [("DuplicateKeyError", "x", 11000)],
            E.VALIDATION_ERROR: [("WriteError", "x", 121), ("DocumentTooLarge", "x"), ("InvalidName", "x")],
            E.UNAUTHORIZED: [("OperationFailure", "x", 18), ("OperationFailure", "x", 8000)],
            E.FORBIDDEN: [("OperationFailure", "x", 13)],
            E.TIMEOUT: [("ExecutionTimeout", "x", 50), ("NetworkTimeout", "x")],
            E.SERVICE_UNAVAILABLE: [("AutoReconnect", "x"), ("ConnectionFailure", "x")],
            E.CONFIGURATION_ERROR: [("ConfigurationError", "x")],
        },
        _class_of("pymongo.errors"),
    ),
    *_rows(
        "sqlalchemy",
        {
            E.VALIDATION_ERROR: [
                ("IntegrityError", "asyncpg.CheckViolationError", "x"),
                ("DataError", "psycopg.errors.InvalidTextRepresentation", "x"),
            ],
            E.FORBIDDEN: [("ProgrammingError", "psycopg.errors.InsufficientPrivilege", "x")],
            E.CONFLICT: [
                ("IntegrityError", "pymysql.err.IntegrityError", 1062, "x"),
                ("IntegrityError", "psycopg.errors.UniqueViolation", "x"),
            ],
            E.TIMEOUT: [("DBAPIError", "asyncpg.QueryCanceledError", "canceling statement due to statement timeout")],
            E.REQUEST_CANCELLED: [
                ("DBAPIError", "asyncpg.QueryCanceledError", "canceling statement due to user request")
            ],
        },
        _wrapped,
    ),
    *_listed(
        "duckdb",
        {
            E.DATABASE_ERROR: "ParserException SyntaxException CatalogException BinderException",
            E.VALIDATION_ERROR: "ConversionException",
            E.REQUEST_CANCELLED: "InterruptException",
        },
        lambda name: named(f"duckdb.{name}")("x"),
    ),
    # Protocols, parsers and queues
    *_rows(
        "jwt",
        {
            E.UNAUTHORIZED: [
                ("ExpiredSignatureError", "x"),
                ("InvalidIssuerError", "x"),
                ("DecodeError", "x"),
                ("ImmatureSignatureError", "x"),
            ],
            E.SERVICE_UNAVAILABLE: [("PyJWKClientConnectionError", "x")],
        },
        _class_of("jwt.exceptions"),
    ),
    *_rows(
        "anyio",
        {
            E.SERVICE_UNAVAILABLE: [("BrokenResourceError",), ("EndOfStream",), ("IncompleteRead",)],
            E.INTERNAL_ERROR: [("BusyResourceError", "using")],
        },
        _class_of("anyio"),
    ),
    *_rows(
        "paramiko",
        {
            E.UNAUTHORIZED: [("AuthenticationException", "x"), ("PasswordRequiredException", "x")],
            E.SERVICE_UNAVAILABLE: [
                ("SSHException", "Error reading SSH protocol banner"),
                ("SSHException", "Server 'h' not found in known_hosts"),
            ],
        },
        _class_of("paramiko.ssh_exception"),
    ),
    *_listed(
        "kafka",
        {
            E.SERVICE_UNAVAILABLE: "NotLeaderForPartitionError BrokerNotAvailableError",
            E.NOT_FOUND: "UnknownTopicOrPartitionError",
            E.CONFLICT: "TopicAlreadyExistsError",
            E.FORBIDDEN: "TopicAuthorizationFailedError GroupAuthorizationFailedError",
            E.VALIDATION_ERROR: "MessageSizeTooLargeError InvalidTopicError",
            E.TIMEOUT: "RequestTimedOutError",
            E.RATE_LIMITED: "ThrottlingQuotaExceededError",
        },
        lambda name: named(f"kafka.errors.{name}")(),
    ),
    *_rows(
        "pika",
        {
            E.NOT_FOUND: [("ChannelClosedByBroker", 404, "NOT_FOUND - no queue")],
            E.FORBIDDEN: [("ChannelClosedByBroker", 403, "ACCESS_REFUSED"), ("ProbableAccessDeniedError",)],
            E.UNAUTHORIZED: [("ProbableAuthenticationError",)],
            E.SERVICE_UNAVAILABLE: [("StreamLostError", "reset"), ("ConnectionClosedByBroker", 320, "shutdown")],
        },
        _class_of("pika.exceptions"),
    ),
    *_listed(
        "neo4j",
        {
            E.SERVICE_UNAVAILABLE: "ServiceUnavailable SessionExpired",
            E.UNAUTHORIZED: "AuthError TokenExpired",
            E.FORBIDDEN: "Forbidden",
            E.DATABASE_ERROR: "CypherSyntaxError TransientError",
            E.CONFIGURATION_ERROR: "ConfigurationError",
        },
        lambda name: named(f"neo4j.exceptions.{name}")("x"),
    ),
    *_rows(
        "slack_sdk",
        {
            E.NOT_FOUND: [("channel_not_found",)],
            E.RATE_LIMITED: [("ratelimited",)],
            E.UNAUTHORIZED: [("invalid_auth",), ("token_revoked",)],
            E.FORBIDDEN: [("missing_scope",)],
            E.VALIDATION_ERROR: [("msg_too_long",)],
            E.CONFLICT: [("name_taken",)],
            E.SERVICE_UNAVAILABLE: [("internal_error",)],
        },
        lambda error: named("slack_sdk.errors.SlackApiError")("it failed", {"ok": False, "error": error}),
    ),
    *_rows(
        "",
        {
            E.CONFLICT: [(errno.ENOTEMPTY,), (errno.EBUSY,), (errno.EADDRINUSE,)],
            E.VALIDATION_ERROR: [(errno.ENAMETOOLONG,), (errno.EFBIG,)],
            E.FORBIDDEN: [(errno.EROFS,), (errno.EPERM,)],
            E.SERVICE_UNAVAILABLE: [(errno.ENETUNREACH,), (errno.ECONNABORTED,), (errno.ECONNRESET,), (errno.EPIPE,)],
            E.TIMEOUT: [(errno.ETIMEDOUT,)],
            E.NOT_FOUND: [(errno.ENODEV,)],
            E.REQUEST_CANCELLED: [(errno.ECANCELED,)],
            E.INTERNAL_ERROR: [(errno.EBADF,)],
        },
        lambda number: OSError(number, os.strerror(number)),
    ),
    case(E.NOT_FOUND, "unlink what is not there", lambda p: (_FOLDER / "no-such-file-here").unlink()),
    case(E.NOT_FOUND, "chdir to nowhere", lambda p: os.chdir(_FOLDER / "no-such-folder")),
    case(E.VALIDATION_ERROR, "read a folder", lambda p: _FOLDER.read_text()),
    case(E.VALIDATION_ERROR, "a date that is none", lambda p: named("datetime").date(2024, 2, 30)),
    case(E.VALIDATION_ERROR, "a network with host bits", lambda p: named("ipaddress").ip_network("10.0.0.1/8")),
    case(
        E.VALIDATION_ERROR,
        "a cycle in a graph",
        lambda p: named("graphlib").TopologicalSorter({1: {2}, 2: {1}}).prepare(),
    ),
    case(E.VALIDATION_ERROR, "an unknown hash", lambda p: named("hashlib").new("no-such-hash")),
    case(E.VALIDATION_ERROR, "an unclosed group", lambda p: named("re").compile("(unclosed")),
    case(E.SERVICE_UNAVAILABLE, "TLS to a plain port", _tls),
    case(
        E.SERVICE_UNAVAILABLE,
        "a lookup that fails for now",
        lambda p: throw(socket.gaierror(-3, "Temporary failure in name resolution")),
    ),
    case(
        E.SERVICE_UNAVAILABLE,
        "TLS that ends early",
        lambda p: throw(ssl.SSLEOFError(8, "EOF occurred in violation of protocol")),
    ),
    case(
        E.UNAUTHORIZED,
        "XML-RPC answered 401",
        lambda p: named("xmlrpc.client").ServerProxy(p.url("401")).ping(),
    ),
    case(E.TIMEOUT, "a future that is late", lambda p: named("concurrent.futures").Future().result(timeout=0.01)),
    case(
        E.REQUEST_CANCELLED,
        "a query that was interrupted",
        lambda p: throw(sqlite3.OperationalError("interrupted")),
    ),
    case(
        E.DATABASE_ERROR,
        "a column that is not there",
        lambda p: sqlite3.connect(":memory:").execute("select nope from (select 1 a)"),
    ),
    # Mistakes of the program, whatever is said around them
    bug("a sum of unlike things", lambda p: 1 + "a"),  # type: ignore[operator]
    bug("a key that reads like a message", lambda p: {}["user not found"]),
    bug("an attribute of None", lambda p: None.permission_denied),  # type: ignore[attr-defined]
    bug(
        "an assertion with a client's words",
        lambda p: throw(AssertionError("invalid input: permission denied")),
    ),
    bug("a recursion without end", lambda p: json.dumps(_nested())),
    bug(
        "a member that is not in the archive",
        lambda p: zipfile.ZipFile(io.BytesIO(b"PK\x05\x06" + b"\0" * 18)).read("not_found"),
    ),
    bug("too large a power", lambda p: math.exp(10_000)),
    bug("a thread's lock released twice", lambda p: named("threading").Lock().release()),
    bug("a mistake behind a message", lambda p: wrapped(RuntimeError("invalid request"), TypeError("x"))),
    bug(
        "a mistake behind a message about what is missing",
        lambda p: wrapped(Exception("user not found"), AttributeError("x")),
    ),
    bug(
        "a mistake in a group behind a message",
        lambda p: wrapped(RuntimeError("forbidden"), ExceptionGroup("g", [AssertionError("x")])),
    ),
    bug(
        "a mistake among others",
        lambda p: throw(ExceptionGroup("validation failed", [TypeError("a"), ValueError("b")])),
    ),
    bug("a mistake with a status", lambda p: throw(_with_status())),
    bug(
        "a mistake in a retried call",
        lambda p: wrapped(RuntimeError("bad request after 3 attempts"), NameError("x")),
    ),
    *(
        case(_label, f"carried: {_name}", lambda p, failure=_failure: throw(failure))
        for _label, _name, _failure in (
            (E.NOT_FOUND, "statusCode", OddError(statusCode=404)),
            (E.NOT_FOUND, "http_code", OddError(http_code=404)),
            (E.NOT_FOUND, "a code in words", OddError(code="not_found")),
            (E.NOT_FOUND, "the name of an errno", OddError(code="ENOENT")),
            (E.FORBIDDEN, "resp", OddError(resp=Answer(status=403))),
            (E.FORBIDDEN, "a code of gRPC in words", OddError(code="PERMISSION_DENIED")),
            (E.CONFLICT, "an answer that is a mapping", OddError(response={"status": 409})),
            (E.CONFLICT, "a reason in capitals", OddError(reason="ALREADY_EXISTS")),
            (E.CONFLICT, "an SQLSTATE of what it wraps", OddError(orig=OddError(sqlstate="23505"))),
            (E.UNAUTHORIZED, "an error code", OddError(error_code="invalid_token")),
            (E.UNAUTHORIZED, "a status in digits", OddError(status="401")),
            (E.RATE_LIMITED, "a type", OddError(type="rate_limit_error")),
            (E.TIMEOUT, "what it wraps", OddError(original_error=TimeoutError("x"))),
            (E.INTERNAL_ERROR, "a code of its own", OddError(code=7)),
            (E.INTERNAL_ERROR, "a status of success", OddError(status_code=200)),
            (E.INTERNAL_ERROR, "a status that is a flag", OddError(status_code=True)),
            (E.INTERNAL_ERROR, "a status that is none", OddError(status_code=99_999)),
            (E.REQUEST_CANCELLED, "a cancellation in a group", BaseExceptionGroup("g", [asyncio.CancelledError()])),
            (
                E.NOT_FOUND,
                "files in a group",
                ExceptionGroup("g", [FileNotFoundError(2, "a"), FileNotFoundError(2, "b")]),
            ),
            (
                E.INTERNAL_ERROR,
                "a group of two minds",
                ExceptionGroup("g", [FileNotFoundError(2, "a"), TimeoutError()]),
            ),
        )
    ),
]
