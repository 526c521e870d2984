"""The numbers and names of other error schemes that exceptions carry, and the classes of exceptions, with their codes.

Every table of numbers and names maps to a `Fact`. Classes are rows of `TYPES`, by name, so that no library has to be
imported to recognise its exceptions. A row is found by the module and the qualified name of a class, also without inner
parts of the module (`httpx._exceptions.ReadTimeout` is `httpx.ReadTimeout`), nearest base class first. The rule of a
row:

- "decides": the code applies whatever the attributes and the message are;
- "bug": like "decides", with INTERNAL_ERROR: a mistake in the program, never of the caller;
- "yields": the code applies unless an attribute or an inner exception is more specific;
- "falls back": like "yields", but the message is read first.
"""

from __future__ import annotations

import errno
import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias

from mcpcore.contract.codes import ErrorCode, Retry

_C: TypeAlias = ErrorCode


class Fact(NamedTuple):
    """A code, and the retry advice if it differs from that of the code."""

    code: ErrorCode
    retry: Retry | None = None


_SOON: Final = Retry.after(seconds=1)
BUSY: Final = Fact(_C.DATABASE_ERROR, _SOON)
"""A lock, a deadlock or a serialisation failure: the same transaction may pass a moment later."""


def _errnos(code: ErrorCode, names: str, retry: Retry | None = None) -> dict[int, Fact]:
    # Not every platform has every errno.
    return {getattr(errno, name): Fact(code, retry) for name in names.split() if hasattr(errno, name)}


ERRNO: Final[dict[int, Fact]] = {
    **_errnos(_C.NOT_FOUND, "ENOENT ESRCH ENXIO ENODEV"),
    **_errnos(_C.FORBIDDEN, "EACCES EPERM EROFS"),
    **_errnos(_C.CONFLICT, "EEXIST ENOTEMPTY EADDRINUSE"),
    **_errnos(_C.CONFLICT, "EBUSY ETXTBSY EDEADLK ENOLCK", _SOON),
    **_errnos(_C.VALIDATION_ERROR, "EISDIR ENOTDIR ENAMETOOLONG ELOOP EFBIG EILSEQ"),
    **_errnos(_C.TIMEOUT, "ETIMEDOUT ETIME"),
    **_errnos(_C.REQUEST_CANCELLED, "ECANCELED"),
    **_errnos(
        _C.SERVICE_UNAVAILABLE,
        "ECONNREFUSED ECONNRESET ECONNABORTED EPIPE ESHUTDOWN ENOTCONN ENETDOWN ENETUNREACH ENETRESET EHOSTDOWN"
        " EHOSTUNREACH EADDRNOTAVAIL EREMOTEIO ECOMM ESTALE EAGAIN EINPROGRESS EINTR EMFILE ENFILE ENOBUFS",
    ),
    **_errnos(_C.SERVICE_UNAVAILABLE, "ENOSPC EDQUOT", Retry.never()),
    # Mistakes in the program, or trouble of the machine; the caller is not to blame.
    **_errnos(_C.INTERNAL_ERROR, "EINVAL EBADF EFAULT ENOTTY ESPIPE EXDEV ENOSYS EOPNOTSUPP EIO ENOMEM ECHILD ENOEXEC"),
}
"""`errno` of an `OSError` without a more specific class in Python."""

SQLSTATE: Final[dict[str, Fact]] = {
    "02000": Fact(_C.NOT_FOUND),
    "23505": Fact(_C.CONFLICT),
    "23P01": Fact(_C.CONFLICT),
    "23000": Fact(_C.VALIDATION_ERROR),
    "25P03": Fact(_C.TIMEOUT),
    "25P04": Fact(_C.TIMEOUT),
    "40001": BUSY,
    "40P01": BUSY,
    "42501": Fact(_C.FORBIDDEN),
    "53100": Fact(_C.DATABASE_ERROR),
    "55006": BUSY,
    "55P03": BUSY,
    "57014": Fact(_C.REQUEST_CANCELLED),
    "57P04": Fact(_C.DATABASE_ERROR),
    "HY008": Fact(_C.REQUEST_CANCELLED),
    "HYT00": Fact(_C.TIMEOUT),
    "HYT01": Fact(_C.TIMEOUT),
    "P0002": Fact(_C.NOT_FOUND),
    "XX000": Fact(_C.DATABASE_ERROR),
}
"""SQLSTATE values (ISO/IEC 9075; PostgreSQL, appendix A) that differ from the code of their class."""

SQLSTATE_CLASSES: Final[dict[str, Fact]] = {
    "02": Fact(_C.NOT_FOUND),
    "08": Fact(_C.SERVICE_UNAVAILABLE),
    "22": Fact(_C.VALIDATION_ERROR),
    "23": Fact(_C.VALIDATION_ERROR),
    "28": Fact(_C.UNAUTHORIZED),
    "40": BUSY,
    "44": Fact(_C.VALIDATION_ERROR),
    "53": Fact(_C.SERVICE_UNAVAILABLE),
    "57": Fact(_C.SERVICE_UNAVAILABLE),
    "F0": Fact(_C.CONFIGURATION_ERROR),
    "IM": Fact(_C.CONFIGURATION_ERROR),
} | dict.fromkeys(
    ("03", "07", "09", "0A", "0B", "0F", "0L", "0P", "0Z", "20", "21", "24", "25", "26", "27", "2B", "2D", "2F", "34",
     "38", "39", "3B", "3D", "3F", "42", "54", "55", "58", "72", "HV", "HY", "P0", "XX", "S0", "S1"),
    Fact(_C.DATABASE_ERROR),
)  # fmt: skip
"""The code of a whole class of SQLSTATE values, by the first two characters."""

GRPC: Final[dict[str, Fact]] = {
    "CANCELLED": Fact(_C.REQUEST_CANCELLED),
    "UNKNOWN": Fact(_C.SERVICE_UNAVAILABLE),
    "INVALID_ARGUMENT": Fact(_C.VALIDATION_ERROR),
    "DEADLINE_EXCEEDED": Fact(_C.TIMEOUT),
    "NOT_FOUND": Fact(_C.NOT_FOUND),
    "ALREADY_EXISTS": Fact(_C.CONFLICT),
    "PERMISSION_DENIED": Fact(_C.FORBIDDEN),
    "RESOURCE_EXHAUSTED": Fact(_C.RATE_LIMITED),
    "FAILED_PRECONDITION": Fact(_C.CONFLICT),
    "ABORTED": Fact(_C.CONFLICT, _SOON),
    "OUT_OF_RANGE": Fact(_C.VALIDATION_ERROR),
    "UNIMPLEMENTED": Fact(_C.SERVICE_UNAVAILABLE, Retry.never()),
    "INTERNAL": Fact(_C.SERVICE_UNAVAILABLE),
    "UNAVAILABLE": Fact(_C.SERVICE_UNAVAILABLE),
    "DATA_LOSS": Fact(_C.SERVICE_UNAVAILABLE, Retry.never()),
    "UNAUTHENTICATED": Fact(_C.UNAUTHORIZED),
}
"""gRPC status names. A fault of the service called (UNKNOWN, INTERNAL) is to this server what a 500 is."""


def _named(fact: Fact, names: str) -> dict[str, Fact]:
    return dict.fromkeys(names.split(), fact)


SERVICE_CODES: Final[dict[str, Fact]] = {
    **_named(
        Fact(_C.RATE_LIMITED),
        "Throttling ThrottlingException ThrottledException RequestThrottled RequestThrottledException"
        " TooManyRequestsException TooManyRequests ProvisionedThroughputExceededException RequestLimitExceeded"
        " BandwidthLimitExceeded LimitExceededException ServiceQuotaExceededException SlowDown PriorRequestNotComplete"
        " TransactionInProgressException EC2ThrottledException rate_limit_exceeded rate_limit_error rateLimitExceeded"
        " userRateLimitExceeded RATE_LIMIT_EXCEEDED requests tokens",
    ),
    **_named(
        Fact(_C.RATE_LIMITED, Retry.never()),
        "insufficient_quota quota_exceeded quotaExceeded dailyLimitExceeded billing_hard_limit_reached",
    ),
    **_named(
        Fact(_C.FORBIDDEN),
        "AccessDenied AccessDeniedException UnauthorizedOperation UnauthorizedAccess AuthorizationError"
        " AuthorizationErrorException NotAuthorized OperationNotPermitted KMSAccessDeniedException AuthorizationFailure"
        " AllAccessDisabled AccountProblem OptInRequired permission_error InsufficientAccountPermissions"
        " billing_error",
    ),
    **_named(
        Fact(_C.UNAUTHORIZED),
        "UnrecognizedClientException InvalidClientTokenId InvalidAccessKeyId SignatureDoesNotMatch ExpiredToken"
        " ExpiredTokenException InvalidToken TokenRefreshRequired MissingAuthenticationToken"
        " MissingAuthenticationTokenException IncompleteSignature InvalidSignatureException RequestExpired"
        " NotAuthorizedException UserNotConfirmedException invalid_api_key AuthFailure AuthenticationFailed"
        " InvalidAuthenticationToken authentication_error RequestTimeTooSkewed",
    ),
    **_named(
        Fact(_C.NOT_FOUND),
        "ResourceNotFoundException ResourceNotFound NoSuchKey NoSuchBucket NoSuchUpload NoSuchVersion NoSuchEntity"
        " NoSuchEntityException NotFoundException NotFound 404 QueueDoesNotExist"
        " AWS.SimpleQueueService.NonExistentQueue"
        " DBInstanceNotFound ParameterNotFound StackNotFoundException UserNotFoundException InvalidInstanceID.NotFound"
        " TableNotFoundException FunctionNotFound BlobNotFound ContainerNotFound QueueNotFound model_not_found"
        " not_found_error EntityNotFoundException RepositoryNotFoundException ImageNotFoundException"
        " ClusterNotFoundException DeploymentNotFound",
    ),
    **_named(
        Fact(_C.CONFLICT),
        "ConditionalCheckFailedException ConflictException BucketAlreadyExists BucketAlreadyOwnedByYou"
        " EntityAlreadyExists"
        " ResourceInUseException ResourceInUse ResourceConflictException ResourceAlreadyExistsException"
        " AlreadyExistsException EntityAlreadyExistsException DBInstanceAlreadyExists UsernameExistsException"
        " QueueAlreadyExists QueueNameExists OperationAborted PreconditionFailed BlobAlreadyExists"
        " ContainerAlreadyExists"
        " BucketNotEmpty DeleteConflict ResourceExistsException DuplicateListener InvalidBucketState"
        " resource_already_exists_exception"
        " TableInUseException",
    ),
    **_named(Fact(_C.CONFLICT, _SOON), "TransactionCanceledException TransactionConflictException"
         " ConcurrentModificationException OptimisticLockException"),
    **_named(
        Fact(_C.VALIDATION_ERROR),
        "ValidationException ValidationError InvalidParameterException InvalidParameterValue"
        " InvalidParameterCombination"
        " InvalidParameter MissingParameter InvalidArgument InvalidRequestException InvalidInputException"
        " MissingParameterException InvalidQueryParameter MalformedXML MalformedPolicyDocument InvalidBucketName"
        " EntityTooLarge EntityTooSmall KeyTooLongError InvalidRange InvalidParameterValueException"
        " context_length_exceeded string_above_max_length invalid_image content_policy_violation"
        " ItemCollectionSizeLimitExceededException InvalidDigest BadDigest",
    ),
    **_named(
        Fact(_C.TIMEOUT),
        "RequestTimeout RequestTimeoutException TaskTimedOut OperationTimedOut ServerTimeout timeout_error"
        " ModelTimeoutException",
    ),
    **_named(
        Fact(_C.SERVICE_UNAVAILABLE),
        "ServiceUnavailable ServiceUnavailableException InternalFailure InternalError InternalServerError"
        " InternalServiceError InternalServiceErrorException InternalServerException InternalException ServerBusy"
        " InsufficientInstanceCapacity ModelNotReadyException server_error overloaded_error api_error backendError"
        " KMSInternalException",
    ),
    **_named(Fact(_C.SERVICE_UNAVAILABLE, Retry.never()), "NotImplemented"),
    **_named(Fact(_C.INVALID_REQUEST), "MethodNotAllowed InvalidAction UnknownOperationException UnsupportedOperation"
                                       " PermanentRedirect TemporaryRedirect IllegalLocationConstraintException"),
}  # fmt: skip
"""Error codes in words: AWS (`response["Error"]["Code"]`), Azure, Google, OpenAI and Anthropic; exact, no patterns."""

SQLITE: Final[dict[int, Fact]] = {
    2067: Fact(_C.CONFLICT),  # CONSTRAINT_UNIQUE
    1555: Fact(_C.CONFLICT),  # CONSTRAINT_PRIMARYKEY
    2579: Fact(_C.CONFLICT),  # CONSTRAINT_ROWID
    19: Fact(_C.VALIDATION_ERROR),  # CONSTRAINT: foreign key, NOT NULL, CHECK, trigger, type
    5: BUSY,
    6: BUSY,  # LOCKED
    9: Fact(_C.REQUEST_CANCELLED),  # INTERRUPT
    23: Fact(_C.FORBIDDEN),  # AUTH
    18: Fact(_C.VALIDATION_ERROR),  # TOOBIG
    20: Fact(_C.VALIDATION_ERROR),  # MISMATCH
}
"""SQLite result codes, extended ones first and then by their low byte (sqlite.org/rescode.html)."""

MYSQL: Final[dict[int, Fact]] = {
    **dict.fromkeys((1022, 1062, 1169, 1557, 1586, 1859), Fact(_C.CONFLICT)),
    **dict.fromkeys(
        (1048, 1138, 1215, 1216, 1217, 1263, 1264, 1265, 1292, 1364, 1366, 1367, 1406, 1411, 1425, 1426, 1438, 1451,
         1452, 1525, 1566, 1644, 1690, 1761, 1762, 3140, 3819, 4025),
        Fact(_C.VALIDATION_ERROR),
    ),
    **dict.fromkeys((1205, 1213, 1412, 1689, 3058, 3572), BUSY),
    **dict.fromkeys((1045, 1251, 1524, 1698, 1862, 2059), Fact(_C.UNAUTHORIZED)),
    **dict.fromkeys((1044, 1095, 1142, 1143, 1227, 1370, 1410, 3118), Fact(_C.FORBIDDEN)),
    **dict.fromkeys(
        (1040, 1042, 1043, 1053, 1080, 1129, 1130, 1152, 1158, 1160, 1184, 1203, 1218, 1226, 2000, 2001, 2002, 2003,
         2004, 2005, 2006, 2012, 2013, 2024, 2026, 2027, 2047, 2048, 2055),
        Fact(_C.SERVICE_UNAVAILABLE),
    ),
    **dict.fromkeys((1159, 1161, 1969, 3024, 4031), Fact(_C.TIMEOUT)),
    **dict.fromkeys((1317,), Fact(_C.REQUEST_CANCELLED)),
}  # fmt: skip
"""MySQL and MariaDB error numbers (the server's error reference; 2000 and up are the client library's)."""

ORACLE: Final[dict[int, Fact]] = {
    **dict.fromkeys((1,), Fact(_C.CONFLICT)),
    **dict.fromkeys(
        (1400, 1401, 1407, 1438, 1722, 1830, 1840, 1843, 1847, 1858, 1861, 2290, 2291, 2292, 12899),
        Fact(_C.VALIDATION_ERROR),
    ),
    **dict.fromkeys((54, 60, 8177, 30006), BUSY),
    **dict.fromkeys((1005, 1017, 28000, 28001, 28002, 28040), Fact(_C.UNAUTHORIZED)),
    **dict.fromkeys((990, 1031, 1045, 1720), Fact(_C.FORBIDDEN)),
    **dict.fromkeys((18, 20, 1012, 1033, 1034, 1089, 1090, 3113, 3114, 3135, 12154, 12505, 12514, 12516, 12518, 12519,
                     12520, 12537, 12541, 12545, 12547, 12560, 12571, 28547), Fact(_C.SERVICE_UNAVAILABLE)),
    **dict.fromkeys((12170, 12535, 12606, 12609, 40), Fact(_C.TIMEOUT)),
    **dict.fromkeys((1013,), Fact(_C.REQUEST_CANCELLED)),
    **dict.fromkeys((1403,), Fact(_C.NOT_FOUND)),
}  # fmt: skip
"""Oracle Database error numbers (its error messages guide), of drivers' exceptions and of ORA-… in messages."""

SMTP: Final[dict[int, Fact]] = {
    **dict.fromkeys((530, 534, 535, 538), Fact(_C.UNAUTHORIZED)),
    **dict.fromkeys((550, 551, 552, 553, 555), Fact(_C.VALIDATION_ERROR)),
    **dict.fromkeys((500, 501, 502, 503, 504), Fact(_C.INVALID_REQUEST)),
    **dict.fromkeys((554,), Fact(_C.FORBIDDEN)),
}
"""SMTP reply codes (RFC 5321, 4.2.3; RFC 4954, 6): any other is the server's trouble of the moment."""

MONGO: Final[dict[int, Fact]] = {
    **dict.fromkeys((11000, 11001, 12582, 48, 68, 85, 86), Fact(_C.CONFLICT)),
    **dict.fromkeys((24, 46, 112, 117, 244, 251), BUSY),
    **dict.fromkeys((121, 17419, 17280, 10334), Fact(_C.VALIDATION_ERROR)),
    **dict.fromkeys((18, 11, 8000), Fact(_C.UNAUTHORIZED)),
    **dict.fromkeys((13,), Fact(_C.FORBIDDEN)),
    **dict.fromkeys((50, 89, 202, 262), Fact(_C.TIMEOUT)),
    **dict.fromkeys((11601, 237), Fact(_C.REQUEST_CANCELLED)),
    **dict.fromkeys((16500,), Fact(_C.RATE_LIMITED)),
    **dict.fromkeys(
        (6, 7, 64, 91, 133, 134, 189, 317, 358, 9001, 10058, 10107, 11600, 11602, 13388, 13435, 13436, 14031),
        Fact(_C.SERVICE_UNAVAILABLE),
    ),
}  # fmt: skip
"""MongoDB server error codes (`error_codes.yml` of the server); 16500 is Cosmos DB's "request rate is large"."""

REDIS: Final[dict[str, Fact]] = {
    **_named(Fact(_C.UNAUTHORIZED), "NOAUTH WRONGPASS"),
    **_named(Fact(_C.FORBIDDEN), "NOPERM DENIED"),
    **_named(
        Fact(_C.SERVICE_UNAVAILABLE),
        "LOADING MASTERDOWN CLUSTERDOWN TRYAGAIN NOREPLICAS READONLY NOGOODSLAVE UNKILLABLE",
    ),
    **_named(BUSY, "BUSY"),
    **_named(Fact(_C.CONFLICT), "BUSYGROUP BUSYKEY"),
    **_named(Fact(_C.NOT_FOUND), "NOGROUP"),
    **_named(Fact(_C.DATABASE_ERROR), "OOM MISCONF WRONGTYPE NOSCRIPT EXECABORT CROSSSLOT MOVED ASK INPROG ERR"),
}
"""The first word of an error reply of Redis."""

JSONRPC: Final[dict[int, Fact]] = {
    -32700: Fact(_C.PARSE_ERROR),
    -32600: Fact(_C.INVALID_REQUEST),
    -32601: Fact(_C.METHOD_NOT_FOUND),
    -32602: Fact(_C.INVALID_PARAMS),
    -32603: Fact(_C.INTERNAL_ERROR),
    -32002: Fact(_C.NOT_FOUND),
    -32001: Fact(_C.TIMEOUT),
    -32000: Fact(_C.SERVICE_UNAVAILABLE),
    408: Fact(_C.TIMEOUT),
}
"""Error codes of the MCP SDK's `MCPError`: JSON-RPC 2.0's, and those that its sessions make (closed, timed out)."""
JSONRPC_OF_ANY: Final = frozenset((-32700, -32600, -32601, -32602))
"""Codes that mean the same for any server of JSON-RPC or XML-RPC."""


def by_sqlstate(state: str) -> Fact | None:
    """The fact of an SQLSTATE, or None if it is unknown or not a failure."""
    return SQLSTATE.get(state) or SQLSTATE_CLASSES.get(state[:2])


def by_sqlite(code: int) -> Fact | None:
    """The fact of an SQLite result code, plain or extended."""
    return SQLITE.get(code) or SQLITE.get(code & 0xFF)


# --- classes of exceptions --------------------------------------------------------------------------------------------

Rule = Literal["decides", "bug", "yields", "falls back"]


class TypeRow(NamedTuple):
    """An exception class by name, its code, and its rule."""

    name: str
    code: ErrorCode
    rule: Rule
    retry: Retry | None = None


RETRIES: Final = {None: None, "soon": Retry.after(seconds=1), "never": Retry.never()}


def _rows() -> Iterator[TypeRow]:
    for entry in json.loads(Path(__file__).with_name("types.json").read_bytes()):
        code, rule, retry = ErrorCode[entry["code"]], entry.get("rule", "decides"), RETRIES[entry.get("retry")]
        for module, name in product(entry["modules"], entry["names"]):
            yield TypeRow(f"{module}.{name}", code, rule, retry)


TYPES: Final[dict[str, TypeRow]] = {row.name: row for row in _rows()}
"""Every row by its name, read from types.json."""

PARTS: Final[dict[str, tuple[str, ...]]] = {
    "sqlalchemy.StatementError": ("orig",),
    "tenacity.RetryError": ("last_attempt",),
    "urllib3.MaxRetryError": ("reason",),
    "urllib.URLError": ("reason",),
    "aiohttp.ClientConnectorError": ("os_error",),
    "google.api_core.RetryError": ("cause",),
    "elastic_transport.TransportError": ("errors",),
    "elasticsearch.TransportError": ("errors",),
    "opensearchpy.TransportError": ("info",),
    "botocore.BotoCoreError": ("kwargs",),
    "pymongo.AutoReconnect": ("errors",),
}
"""Attributes of wrappers that hold exceptions, besides their causes and arguments."""

DEFINES_NAMES: Final = frozenset({
    "builtins.ValueError", "builtins.LookupError", "builtins.KeyError", "builtins.IndexError", "builtins.OSError",
    "builtins.RuntimeError", "builtins.ArithmeticError", "builtins.ConnectionError",
    "builtins.NotImplementedError",
})  # fmt: skip
"""Common base classes of an application's exceptions: the name of the derived class says more."""
