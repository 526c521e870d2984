"""Facts in attributes of exceptions: statuses, states, numbers and names of codes, wherever libraries keep them.

Foreign objects may have methods that raise or lie, so they are read without calling these methods where possible.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Callable
from typing import Any, Final, TypeAlias, cast

from mcpcore.classification import code_tables
from mcpcore.classification.code_tables import Fact
from mcpcore.classification.matcher import Matcher, bound, fold, name_words
from mcpcore.classification.phrases import NAMES, SERVICE_NAMES
from mcpcore.classification.status import STATUS_RETRY, code_for_status, parse_retry_after
from mcpcore.contract.codes import ErrorCode
from mcpcore.values.jsonable import text_of
from mcpcore.values.unwrapping import cause_of, context_of

# An exception or its class may define attributes of these names that raise or lie.
mro_of: Final = type.__dict__["__mro__"].__get__
module_of: Final = type.__dict__["__module__"].__get__
qualname_of: Final = type.__dict__["__qualname__"].__get__
name_of: Final = type.__dict__["__name__"].__get__
namespace_of: Final = type.__dict__["__dict__"].__get__
args_of: Final = cast("Any", BaseException.__dict__["args"]).__get__
attributes_of: Final = cast("Any", BaseException.__dict__["__dict__"]).__get__
_class_attribute = type.__getattribute__


def is_exception(value: object) -> bool:
    """Whether a value is an exception; `isinstance` would call the `__class__` of the value."""
    return BaseException in mro_of(type(value))


def full_name(kind: type) -> str:
    """A class's module and qualified name."""
    return f"{module_of(kind)}.{qualname_of(kind)}"


def get(holder: object, name: str) -> Any:
    """An attribute, or None if it is missing or raises."""
    try:
        return getattr(holder, name, None)
    except BaseException:  # noqa: BLE001  # a property may raise anything
        return None


def as_int(value: object) -> int | None:
    """The number, or None for anything else: a bool, a string of digits."""
    kind = type(value)
    if kind is int:
        return cast("int", value)
    if kind is not bool and int in mro_of(kind):
        return int.__index__(cast("int", value))
    return None


def raw_text(exc: BaseException) -> str:
    """The bounded message, without the repr of arguments, which may be huge."""
    try:
        if _class_attribute(type(exc), "__str__") is BaseException.__str__:
            args = args_of(exc)
            if len(args) != 1:
                return bound(" ".join(arg[:400] if type(arg) is str else str(arg) if type(arg) is int else ""
                                      for arg in args[:6]))  # fmt: skip
            if type(args[0]) is str:
                return bound(args[0])
            if is_exception(args[0]):
                return ""
        text = text_of(exc, 100_000)
        return bound(text if type(text) is str else str.__str__(text))
    except BaseException:  # noqa: BLE001  # __str__ may raise anything
        return ""


def folded_text(exc: BaseException) -> str:
    """The bounded message in lower case."""
    return fold(raw_text(exc))


Carried: TypeAlias = tuple[Fact, str, "int | None"]
"""A fact, its name in the table, and the HTTP status if the fact is one."""
Reader: TypeAlias = "Callable[[BaseException], Carried | None]"

_SERVICE_MATCHER: Final = Matcher((*SERVICE_NAMES, *(row for row in NAMES if row.code is not ErrorCode.INTERNAL_ERROR)))

_STATUS_NAMES: Final = (
    "status_code", "status", "http_status", "errcode", "statusCode", "http_code", "http_status_code", "httpStatus",
)  # fmt: skip
_HOLDERS: Final = ("response", "meta", "resp")
_CODE_NAMES: Final = ("code", "error_code", "errorCode", "error_type", "type", "reason", "error", "status")
CARRIERS: Final = frozenset({
    "__getattr__", "__getattribute__", "__slots__", "grpc_status_code", "sqlstate", "pgcode", "errno",
    *_STATUS_NAMES, *_HOLDERS, *_CODE_NAMES,
})  # fmt: skip
"""Names in a class whose instances may carry a fact without an instance attribute."""


def carried_by(exc: BaseException, numbers: Reader | None) -> Carried | None:
    """The fact in the attributes of an exception, its name in the table, and the HTTP status if it is one."""
    if numbers is not None:
        carried = numbers(exc)
        if carried is not None:
            return carried
    name = _code_in(get(exc, "response"))
    if name is not None:
        fact = code_tables.SERVICE_CODES.get(name) or _by_words(name)
        if fact is not None:
            return fact, f"service code {name}", status_of(exc)
    code = get(exc, "code")
    if callable(code):
        try:
            code = code()
        except BaseException:  # noqa: BLE001  # a foreign method may raise anything
            code = None
    if type(code) is str:
        fact = code_tables.SERVICE_CODES.get(code) or _by_system(code)
        if fact is not None:
            return fact, f"service code {code}", status_of(exc)
    called = _grpc(code) or _grpc(get(exc, "grpc_status_code"))
    if called is not None:
        return called
    for name in ("sqlstate", "pgcode"):
        state = get(exc, name)
        if type(state) is str and len(state) == 5:
            fact = _by_sqlstate(state.upper(), exc)
            if fact is not None:
                return fact, f"SQLSTATE {state}", None
    status = status_of(exc)
    if status is None or status == 400:
        for name in _CODE_NAMES:
            code = get(exc, name)
            if type(code) is str:
                fact = code_tables.SERVICE_CODES.get(code) or _by_system(code)
                if fact is None and _CODE.match(code):
                    fact = _by_words(code)
                # HTTP status 400 says as much as a name for bad input in general.
                if fact is not None and not (status and fact.code in _BAD_INPUT):
                    return fact, f"code {code}", status
    if status is not None:
        return Fact(cast("ErrorCode", code_for_status(status)), STATUS_RETRY.get(status)), f"HTTP {status}", status
    number = as_int(get(exc, "errno"))
    # A number in the class belongs to a scheme of the library, like the numbers of Kafka.
    if number is not None and (OSError in mro_of(type(exc)) or "errno" in (attributes_of(exc) or ())):
        fact = code_tables.ERRNO.get(number)
        if fact is not None:
            return fact, f"errno {number}", None
    number = as_int(get(exc, "code"))
    if number in code_tables.JSONRPC_OF_ANY:
        return code_tables.JSONRPC[number], f"JSON-RPC {number}", None
    return None


_BAD_INPUT: Final = frozenset({ErrorCode.VALIDATION_ERROR, ErrorCode.SERIALIZATION_ERROR})
_CODE = re.compile(
    r"(?=.{4,80}\Z)[A-Za-z](?:[A-Za-z0-9]*(?:[._-][A-Za-z0-9]+)+|[a-z0-9]*[A-Z][A-Za-z0-9]*)\Z", re.ASCII
)
"""The name of a code: several words joined, so that a plain word does not count."""


def _code_in(response: object) -> str | None:
    """The name of the code in a response that was read already, in the form of AWS or of Slack."""
    if type(response) is not dict:
        response = get(response, "data")
    if type(response) is not dict:
        return None
    error = response.get("Error")
    name = error.get("Code") if type(error) is dict else response.get("error")
    return name if type(name) is str and " " not in name else None


def _by_words(name: str) -> Fact | None:
    """The fact of a code that is in no table, by the words of its name."""
    match = _SERVICE_MATCHER.find(name_words(name))
    return None if match is None else Fact(cast("ErrorCode", match.code), match.retry)


def _by_system(name: str) -> Fact | None:
    """The fact of a code with a name of gRPC, or with the name of an errno."""
    if not name.isupper():
        return None
    fact = code_tables.GRPC.get(name)
    return fact or (code_tables.ERRNO.get(getattr(errno, name, -1)) if name.startswith("E") else None)


def _by_sqlstate(state: str, exc: BaseException) -> Fact | None:
    """The fact of an SQLSTATE; two of them are ambiguous, and the message decides."""
    if state == "57014":
        return Fact(ErrorCode.TIMEOUT if "timeout" in folded_text(exc) else ErrorCode.REQUEST_CANCELLED)
    fact = code_tables.by_sqlstate(state)
    if state.startswith("08") and _REFUSED_LOGIN.search(folded_text(exc)):
        return Fact(ErrorCode.UNAUTHORIZED)
    return fact


_REFUSED_LOGIN = re.compile(r"\b(?:password|authentication|credentials)\b")


def _status(value: object) -> int | None:
    """An HTTP status in any form that clients use: a number, three digits, or a member of an enumeration."""
    number = as_int(value)
    if number is None:
        kind = type(value)
        if kind is str:
            text = cast("str", value)
            number = int(text) if len(text) == 3 and text.isascii() and text.isdigit() else None
        elif kind is not bool and any(base.__name__ == "Enum" for base in mro_of(kind)):
            number = as_int(get(value, "value"))
    return number


def _grpc(status: object) -> Carried | None:
    name = get(status, "name") if status is not None else None
    fact = code_tables.GRPC.get(name) if type(name) is str else None
    return None if fact is None else (fact, f"gRPC {name}", None)


def status_of(exc: BaseException) -> int | None:
    """The HTTP status of a failed response that an exception is or holds."""
    status = _status_in(exc)
    if status is not None:
        return status
    code = get(exc, "code")
    status = as_int(code)
    # A plain number below 400 is seldom a status; a member of `HTTPStatus` always is.
    if status is not None and (400 if type(code) is int else 300) <= status <= 599:
        return status
    for name in _HOLDERS:
        holder = get(exc, name)
        if holder is not None:
            status = _status_in(holder) if type(holder) is not dict else _status_among(holder)
            if status is not None:
                return status
    return None


def _status_in(holder: object) -> int | None:
    for name in _STATUS_NAMES:
        value = get(holder, name)
        if value is not None:
            status = _status(value)
            if status is not None and 300 <= status <= 599:
                return status
    return None


def _status_among(response: dict[Any, Any]) -> int | None:
    """The status in a response that is a mapping, as in botocore and many thin clients."""
    metadata = response.get("ResponseMetadata")
    values = [metadata.get("HTTPStatusCode")] if type(metadata) is dict else map(response.get, _STATUS_NAMES)
    return next((number for value in values if (number := _status(value)) is not None and 300 <= number <= 599), None)


def retry_after(exc: BaseException) -> float | None:
    """The wait that an exception carries, in seconds: in an attribute, a header, or a detail of gRPC."""
    for name in ("retry_after", "retryAfter", "retry_after_seconds"):
        seconds = parse_retry_after(get(exc, name))
        if seconds is not None:
            return seconds
    milliseconds = parse_retry_after(get(exc, "retry_after_ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    response = get(exc, "response")
    if type(response) is dict:
        metadata = response.get("ResponseMetadata")
        holders = [metadata.get("HTTPHeaders")] if type(metadata) is dict else [response.get("headers")]
    else:
        holders = [get(holder, "headers") for holder in (exc, response, get(exc, "meta")) if holder is not None]
    for headers in holders:
        milliseconds = parse_retry_after(_header(headers, "retry-after-ms"))
        if milliseconds is not None:
            return milliseconds / 1000
        seconds = parse_retry_after(_header(headers, "retry-after"))
        if seconds is not None:
            return seconds
    details = get(exc, "details")
    if type(details) in {list, tuple}:
        for detail in details[:16]:
            delay = get(detail, "retry_delay")
            whole, nanos = as_int(get(delay, "seconds")), as_int(get(delay, "nanos"))
            if whole is not None:
                return parse_retry_after(whole + (nanos or 0) / 1e9)
    return None


def _header(headers: Any, name: str) -> object:
    """One header in the headers of any client, case-sensitive or not."""
    for spelling in (name, name.title()):
        try:
            value = headers.get(spelling)
        except BaseException:  # noqa: BLE001  # headers are a foreign object
            return None
        if value is not None:
            return cast("object", value)
    return None


def _by_value(value_in: Callable[[BaseException], Any], table: Callable[[Any], Fact | None], label: str) -> Reader:
    """A reader of a number or a name that `table` has, wherever `value_in` finds it; `label` names the match."""

    def read(exc: BaseException) -> Carried | None:
        value = value_in(exc)
        fact = None if value is None else table(value)
        return None if fact is None else (fact, label.format(value), None)

    return read


def _first_arg(exc: BaseException) -> Any:
    args = args_of(exc)
    return args[0] if args else None


def _mysql_number(exc: BaseException) -> int | None:
    number = as_int(get(exc, "errno"))
    return as_int(_first_arg(exc)) if number is None else number


def _redis_word(exc: BaseException) -> str | None:
    said = _first_arg(exc)
    return said[:40].partition(" ")[0].rstrip(":") if type(said) is str else None


def _odbc_state(exc: BaseException) -> str | None:
    state = _first_arg(exc)
    return state if type(state) is str and len(state) == 5 else None


def _mongo(exc: BaseException) -> Carried | None:
    number = as_int(get(exc, "code"))
    details = get(exc, "details")
    errors = details.get("writeErrors") if type(details) is dict else None
    if type(errors) is list and errors and type(errors[0]) is dict:
        number = as_int(errors[0].get("code"))
    fact = None if number is None else code_tables.MONGO.get(number)
    if fact is not None:
        return fact, f"MongoDB {number}", None
    # Other codes are numbers of the server, never HTTP statuses.
    return None if number is None else (Fact(ErrorCode.DATABASE_ERROR), f"MongoDB {number}", None)


def _aiohttp(exc: BaseException) -> Carried | None:
    """An answer that is not HTTP: the client gives it status 400, though the server is at fault."""
    inner = cause_of(exc) or context_of(exc)
    if inner is not None and "aiohttp.http_exceptions.HttpProcessingError" in map(full_name, mro_of(type(inner))):
        return Fact(ErrorCode.SERVICE_UNAVAILABLE), "an answer that is not HTTP", None
    return None


def _elastic(exc: BaseException) -> Carried | None:
    name = get(exc, "error")
    fact = code_tables.SERVICE_CODES.get(name) if type(name) is str else None
    return None if fact is None else (fact, f"service code {name}", status_of(exc))


def _syntax(exc: BaseException) -> Carried | None:
    filename = get(exc, "filename")
    if type(filename) is str and not filename.startswith("<"):
        # A module of the program does not parse; text for compile() has a file name such as <string>.
        return Fact(ErrorCode.INTERNAL_ERROR), "SyntaxError in a file", None
    return None


_MYSQL: Final = _by_value(_mysql_number, code_tables.MYSQL.get, "MySQL {}")
_ORACLE: Final = _by_value(lambda exc: as_int(get(_first_arg(exc), "code")), code_tables.ORACLE.get, "ORA-{:05}")
_REDIS: Final = _by_value(_redis_word, code_tables.REDIS.get, "Redis {}")

NUMBERS: Final[dict[str, Reader]] = {
    "sqlite3": _by_value(lambda exc: as_int(get(exc, "sqlite_errorcode")), code_tables.by_sqlite, "SQLite {}"),
    **dict.fromkeys(("pymysql", "MySQLdb", "mysql", "mariadb", "aiomysql"), _MYSQL),
    "pymongo": _mongo,
    "oracledb": _ORACLE,
    "cx_Oracle": _ORACLE,
    "smtplib": _by_value(lambda exc: as_int(get(exc, "smtp_code")), code_tables.SMTP.get, "SMTP {}"),
    "redis": _REDIS,
    "valkey": _REDIS,
    "pyodbc": _by_value(_odbc_state, code_tables.by_sqlstate, "SQLSTATE {}"),
    "aiohttp": _aiohttp,
    # Only the numbers in the specification; each server defines other fault codes for itself.
    "xmlrpc.Fault": _by_value(
        lambda exc: as_int(get(exc, "faultCode")),
        {number: code_tables.JSONRPC[number] for number in code_tables.JSONRPC_OF_ANY}.get,
        "XML-RPC {}",
    ),
    "elasticsearch": _elastic,
    "opensearchpy": _elastic,
    "mcp": _by_value(lambda exc: as_int(get(get(exc, "error"), "code")), code_tables.JSONRPC.get, "JSON-RPC {}"),
    "builtins.SyntaxError": _syntax,
}
"""Where a family of exceptions keeps numbers that only it has, by the first part of the row's name or the whole."""
