"""Drivers and protocols whose exceptions carry a number that only they have, and exceptions that lie about theirs."""

from __future__ import annotations

import re
from typing import Any

import pytest

from mcpcore import ErrorCode, Retry, classify, explain
from mcpcore.classification import classifies, classifies_message, registry

C = ErrorCode


_BASES = {"pymongo.errors.BulkWriteError": ["pymongo.errors.OperationFailure"]}


def raised(path: str, *args: object, **facts: object) -> Exception:
    """An exception of a class of that name, as an instance of the library's own looks."""
    base = Exception
    for qualified_name in (*_BASES.get(path, ()), path):
        module, _, name = qualified_name.rpartition(".")
        base = type(name, (base,), {"__module__": module})
    exc = base(*args)
    vars(exc).update(facts)
    return exc


class Status:
    """A status of gRPC."""

    def __init__(self, name: str) -> None:
        self.name = name


class Closing:
    """What a client hands out for an error of the protocol."""

    code = -32000


def unanswerable() -> Status:
    raise RuntimeError("the channel is closed")


@pytest.mark.parametrize(
    ("exc", "code", "row"),
    [
        (raised("pymysql.err.IntegrityError", 1062, "Duplicate entry 'a' for key 'b'"), C.CONFLICT, "MySQL 1062"),
        (raised("MySQLdb.OperationalError", 2003, "Can't connect"), C.SERVICE_UNAVAILABLE, "MySQL 2003"),
        (raised("mysql.connector.errors.DatabaseError", "x", errno=1045), C.UNAUTHORIZED, "MySQL 1045"),
        (raised("mariadb.ProgrammingError", "x", errno=1142), C.FORBIDDEN, "MySQL 1142"),
        (raised("pymysql.err.OperationalError"), C.DATABASE_ERROR, ""),
        (raised("pymysql.err.OperationalError", 999_999, "?"), C.DATABASE_ERROR, ""),
        (raised("pymongo.errors.OperationFailure", "x", code=13), C.FORBIDDEN, "MongoDB 13"),
        (raised("pymongo.errors.OperationFailure", "x", code=404_404), C.DATABASE_ERROR, "MongoDB 404404"),
        (raised("pymongo.errors.OperationFailure", "x", code=None), C.DATABASE_ERROR, ""),
        (
            raised("pymongo.errors.BulkWriteError", "x", code=65, details={"writeErrors": [{"code": 11000}]}),
            C.CONFLICT,
            "MongoDB 11000",
        ),
        (raised("pymongo.errors.BulkWriteError", "x", code=13, details={"writeErrors": []}), C.FORBIDDEN, "MongoDB 13"),
        (raised("redis.exceptions.ResponseError", "WRONGPASS invalid username"), C.UNAUTHORIZED, "Redis WRONGPASS"),
        (raised("valkey.exceptions.ResponseError", "NOGROUP no such key"), C.NOT_FOUND, "Redis NOGROUP"),
        (raised("redis.exceptions.ResponseError", "unheard-of"), C.DATABASE_ERROR, ""),
        (raised("redis.exceptions.ResponseError", 7), C.DATABASE_ERROR, ""),
        (raised("pyodbc.Error", "23505", "[23505] duplicate"), C.CONFLICT, "SQLSTATE 23505"),
        (raised("pyodbc.OperationalError", "08001", "[08001] no"), C.SERVICE_UNAVAILABLE, "SQLSTATE 08001"),
        (raised("pyodbc.Error", "ZZ999", "?"), C.DATABASE_ERROR, ""),
        (raised("pyodbc.Error", "no state"), C.DATABASE_ERROR, ""),
        (raised("psycopg2.errors.QueryCanceled", "by user request", pgcode="57014"), C.REQUEST_CANCELLED, "57014"),
        (raised("psycopg2.Error", "statement timeout", pgcode="57014"), C.TIMEOUT, "SQLSTATE 57014"),
        (raised("mcp.shared.exceptions.MCPError", "closed", error=Closing()), C.SERVICE_UNAVAILABLE, "JSON-RPC -32000"),
        (raised("grpc.aio.AioRpcError", "x", code=lambda: Status("NOT_FOUND")), C.NOT_FOUND, "gRPC NOT_FOUND"),
        (raised("own.RpcError", "x", grpc_status_code=Status("ABORTED")), C.CONFLICT, "gRPC ABORTED"),
    ],
    ids=lambda value: repr(value)[:60],
)  # fmt: skip
def test_a_number_is_read_as_the_librarys_own(exc: Exception, code: ErrorCode, row: str) -> None:
    """The number decides; one that no table has leaves the type's own answer."""
    explanation = explain(exc)
    assert (code, code) == (explanation.code, classify(exc))
    assert row in explanation.matched.row


@pytest.mark.parametrize(
    "exc",
    [
        raised("own.Weird", "x", code=unanswerable),
        raised("own.Weird", "x", code=lambda: 7),
        raised("own.Weird", "x", response={"Error": "text", "ResponseMetadata": "none"}),
        raised("own.Weird", "x", response={"Error": {"Code": 5}}),
        raised("own.Weird", "x", sqlstate="toolong", pgcode=7, errno="ENOENT", status_code=7, code=700),
        raised("own.Weird", "x", meta=Closing(), response=Closing()),
        raised("own.Weird", "x", details=[Closing(), None, "x"], retry_after="never"),
    ],
    ids=lambda exc: ", ".join(vars(exc)),
)
def test_what_looks_like_a_number_and_is_none_decides_nothing(exc: Exception) -> None:
    """Attributes of the usual names may hold anything, and are nobody's status then."""
    explanation = explain(exc)
    assert (C.INTERNAL_ERROR, None) == (explanation.code, explanation.status)
    assert explanation.retry == Retry.never()


class _Unhashable(type):
    """A class named Odd that no table can be asked for."""

    def __hash__(cls) -> int:
        if cls.__name__ == "Odd":
            raise RuntimeError("no hash")
        return type.__hash__(cls)


class _Nameless(type):
    """A class that does not say where it comes from."""

    @property
    def __module__(cls) -> Any:  # type: ignore[override]
        raise RuntimeError("no module")


def test_a_class_that_answers_no_question_is_judged_without_it() -> None:
    """Neither the code nor the explanation raises, whatever a metaclass does, outside, as a base or as a cause."""
    odd: type[Exception] = _Unhashable("Odd", (Exception,), {})
    derived: type[Exception] = _Unhashable("Derived", (odd,), {})
    nameless: type[Exception] = _Nameless("Odd", (Exception,), {})
    for kind in (odd, derived, nameless):
        exc = kind("boom")
        assert (C.INTERNAL_ERROR, C.INTERNAL_ERROR) == (classify(exc), explain(exc).code)
        assert C.INTERNAL_ERROR is classify(ExceptionGroup("g", [exc, KeyError("x")]))
    late = TimeoutError("late")
    late.__cause__ = odd("x")
    assert (C.TIMEOUT, C.TIMEOUT.retry) == explain(late)[:2]


@pytest.fixture
def registered():
    yield
    registry.forget()


def test_the_applications_own_answers_may_leave_a_thing_open(registered) -> None:
    """A function that says nothing of an exception leaves it to the tables, as does a pattern that is not found."""

    @classifies(LookupError)
    def by_args(exc: LookupError) -> ErrorCode | tuple[ErrorCode, Retry] | None:
        return {("taken",): C.CONFLICT, ("soon",): (C.CONFLICT, Retry.after(seconds=3))}.get(exc.args)

    classifies_message("ledger .. closed", C.CONFLICT)
    classifies_message(re.compile("quantum (foam|flux)"), C.SERVICE_UNAVAILABLE, retry=Retry.now())
    assert C.CONFLICT is classify(LookupError("taken"))
    assert (C.CONFLICT, Retry.after(seconds=3)) == explain(LookupError("soon"))[:2]
    assert C.INTERNAL_ERROR is classify(LookupError("other"))
    assert C.CONFLICT is classify(Exception("the ledger is closed"))
    assert (C.SERVICE_UNAVAILABLE, Retry.now()) == explain(Exception("Quantum flux detected"))[:2]
    assert C.INTERNAL_ERROR is classify(Exception("xyzzy"))


@pytest.mark.parametrize(
    ("give", "says"),
    [
        (lambda: classifies(int, C.CONFLICT), "give an exception class"),  # type: ignore[type-var]
        (lambda: classifies("QuotaSpent", C.CONFLICT), "its module and name"),
        (lambda: classifies(KeyError, 7), "must be an ErrorCode"),
        (lambda: classifies(KeyError, C.CONFLICT, retry=3), "must be a Retry"),
        (lambda: classifies(KeyError, retry=Retry.now()), "needs a code"),
        (lambda: classifies(KeyError)(7), "decorates a function"),
        (lambda: classifies_message("a", 7), "must be an ErrorCode"),
        (lambda: classifies_message("a", C.CONFLICT, retry=7), "must be a Retry"),
        (lambda: classifies_message(re.compile(b"a"), C.CONFLICT), "not for bytes"),
        (lambda: classifies_message(7, C.CONFLICT), "give a phrase"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_registered_is_told_with_what_can(give: Any, says: str, registered) -> None:
    """A mistake is an error where it is made, not a rule that never applies."""
    with pytest.raises(TypeError, match=says):
        give()
