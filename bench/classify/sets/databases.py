"""Databases: SQLite for real, the others refused on a dead port or by a server that speaks their protocol."""

# The cases do on purpose what the rules forbid, each in one line.
# ruff: noqa: ARG001, ARG005, PLW0108, SLF001
from __future__ import annotations

import sqlite3
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.classify.case import Case, bug, case
from mcpcore.contract.codes import ErrorCode as C

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.classify.servers import Peers


SCHEMA = """
CREATE TABLE parent (id INTEGER PRIMARY KEY, email TEXT UNIQUE NOT NULL, age INTEGER CHECK (age >= 0));
CREATE TABLE child (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES parent (id));
CREATE TABLE typed (n INTEGER) STRICT;
INSERT INTO parent VALUES (1, 'a@b', 3);
"""


def _sqlite(statement: str, *parameters: object) -> Callable[[Peers], None]:
    def run(p: Peers) -> None:
        connection = sqlite3.connect(":memory:")
        connection.executescript(SCHEMA)
        connection.execute("PRAGMA foreign_keys = ON")
        try:
            connection.execute(statement, parameters)
            connection.commit()
        finally:
            connection.close()

    return run


def _locked(p: Peers) -> None:
    path = Path(tempfile.mkdtemp()) / "a.db"
    holder, waiting = sqlite3.connect(path), sqlite3.connect(path, timeout=0)
    try:
        holder.execute("CREATE TABLE t (a)")
        holder.execute("BEGIN EXCLUSIVE")
        waiting.execute("INSERT INTO t VALUES (1)")
    finally:
        holder.close()
        waiting.close()


def _interrupted(p: Peers) -> None:
    connection = sqlite3.connect(":memory:")
    connection.set_progress_handler(lambda: 1, 10)
    try:
        connection.execute(
            "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT max(x) FROM c"
        ).fetchall()
    finally:
        connection.close()


def _denied(p: Peers) -> None:
    connection = sqlite3.connect(":memory:")
    connection.set_authorizer(lambda *a: sqlite3.SQLITE_DENY)
    try:
        connection.execute("SELECT 1")
    finally:
        connection.close()


def _not_a_database(p: Peers) -> None:
    path = Path(tempfile.mkdtemp()) / "a.db"
    path.write_bytes(b"this is not a database, not at all" * 50)
    connection = sqlite3.connect(path)
    try:
        connection.execute("SELECT * FROM t")
    finally:
        connection.close()


# SQLAlchemy
def _alchemy(statement: str, **parameters: object) -> Callable[[Peers], None]:
    def run(p: Peers) -> None:
        import sqlalchemy as sa
        from sqlalchemy.pool import StaticPool

        engine = sa.create_engine("sqlite://", poolclass=StaticPool)
        try:
            with engine.connect() as connection:
                connection.connection.dbapi_connection.executescript(SCHEMA)  # type: ignore[union-attr]
                connection.execute(sa.text("PRAGMA foreign_keys = ON"))
                connection.execute(sa.text(statement), parameters)
        finally:
            engine.dispose()

    return run


def _orm(action: Callable[[Any, Any], object]) -> Callable[[Peers], None]:
    def run(p: Peers) -> None:
        import sqlalchemy as sa
        from sqlalchemy.orm import Session

        engine = sa.create_engine("sqlite://")
        table = sa.Table("t", sa.MetaData(), sa.Column("id", sa.Integer, primary_key=True))
        table.create(engine)
        try:
            with Session(engine) as session:
                session.execute(table.insert(), [{"id": 1}, {"id": 2}])
                action(session, table)
        finally:
            engine.dispose()

    return run


def _pool(p: Peers) -> None:
    import sqlalchemy as sa
    from sqlalchemy.pool import QueuePool

    engine = sa.create_engine("sqlite://", poolclass=QueuePool, pool_size=1, max_overflow=0, pool_timeout=0.05)
    held = engine.connect()
    try:
        engine.connect()
    finally:
        held.close()
        engine.dispose()


STATES = (
    ("23505", C.CONFLICT), ("23503", C.VALIDATION_ERROR), ("23502", C.VALIDATION_ERROR), ("23514", C.VALIDATION_ERROR),
    ("42P01", C.DATABASE_ERROR), ("42703", C.DATABASE_ERROR), ("42601", C.DATABASE_ERROR), ("40P01", C.DATABASE_ERROR),
    ("40001", C.DATABASE_ERROR), ("55P03", C.DATABASE_ERROR), ("42501", C.FORBIDDEN), ("22P02", C.VALIDATION_ERROR),
    ("22001", C.VALIDATION_ERROR), ("57P01", C.SERVICE_UNAVAILABLE), ("53300", C.SERVICE_UNAVAILABLE),
)  # fmt: skip


def through_psycopg(statement: str) -> Callable[[Peers], None]:
    """Return what runs a statement on the server of PostgreSQL."""

    def run(p: Peers) -> None:
        import psycopg

        with psycopg.connect(
            f"host=127.0.0.1 port={p.port('postgres')} user=a dbname=a", autocommit=True
        ) as connection:
            connection.execute(statement)

    return run


def _asyncpg(statement: str) -> Callable[[Peers], Any]:
    async def run(p: Peers) -> None:
        import asyncpg

        connection = await asyncpg.connect(host="127.0.0.1", port=p.port("postgres"), user="a", database="a", ssl=False)
        try:
            await connection.execute(statement)
        finally:
            connection.terminate()

    return run


def _alchemy_psycopg(statement: str) -> Callable[[Peers], None]:
    def run(p: Peers) -> None:
        import sqlalchemy as sa
        from sqlalchemy.pool import NullPool

        url = f"postgresql+psycopg://a@127.0.0.1:{p.port('postgres') if statement else p.dead_port}/a"
        engine = sa.create_engine(url, poolclass=NullPool, isolation_level="AUTOCOMMIT", use_native_hstore=False)
        with engine.connect() as connection:
            connection.exec_driver_sql(statement)

    return run


def _pymysql(statement: str, user: str = "a") -> Callable[[Peers], None]:
    def run(p: Peers) -> None:
        import pymysql

        connection = pymysql.connect(host="127.0.0.1", port=p.port("mysql"), user=user, connect_timeout=3)
        try:
            connection.cursor().execute(statement)
        finally:
            connection._force_close()

    return run


def _redis(key: str, **options: Any) -> Callable[[Peers], None]:
    def run(p: Peers) -> None:
        import redis
        from redis.backoff import NoBackoff
        from redis.retry import Retry

        client = redis.Redis(
            port=options.pop("port", None) or p.port("redis"), protocol=2, retry=Retry(NoBackoff(), 0), **options
        )
        try:
            client.get(key)
        finally:
            client.close()

    return run


def _redis_set(p: Peers) -> None:
    import redis

    with redis.Redis(port=p.port("redis"), protocol=2) as client:
        client.set("a", {"a": 1})  # type: ignore[arg-type]


def _mongo(action: Callable[[Any], object], port: int | None = None) -> Callable[[Peers], None]:
    def run(p: Peers) -> None:
        import pymongo

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            client: Any = pymongo.MongoClient(
                "127.0.0.1", port or p.port("mongo"), serverSelectionTimeoutMS=300, retryReads=False, retryWrites=False
            )
            try:
                action(client.db.things)
            finally:
                client.close()

    return run


CASES: list[Case] = [
    case(C.CONFLICT, "a value that must be unique", _sqlite("INSERT INTO parent VALUES (2, 'a@b', 1)"), "sqlite3"),
    case(C.CONFLICT, "a primary key that exists", _sqlite("INSERT INTO parent VALUES (1, 'c@d', 1)"), "sqlite3"),
    case(C.VALIDATION_ERROR, "a foreign key", _sqlite("INSERT INTO child VALUES (1, 99)"), "sqlite3"),
    case(C.VALIDATION_ERROR, "NOT NULL", _sqlite("INSERT INTO parent (id) VALUES (5)"), "sqlite3"),
    case(C.VALIDATION_ERROR, "CHECK", _sqlite("INSERT INTO parent VALUES (6, 'x', -1)"), "sqlite3"),
    case(C.VALIDATION_ERROR, "a strict type", _sqlite("INSERT INTO typed VALUES ('x')"), "sqlite3"),
    case(C.DATABASE_ERROR, "a missing table", _sqlite("SELECT * FROM nowhere"), "sqlite3"),
    case(C.DATABASE_ERROR, "a missing column", _sqlite("SELECT nothing FROM parent"), "sqlite3"),
    case(C.DATABASE_ERROR, "a syntax error", _sqlite("SELEKT 1"), "sqlite3"),
    case(C.DATABASE_ERROR, "too few parameters", _sqlite("SELECT ?"), "sqlite3"),
    case(C.DATABASE_ERROR, "a table that exists", _sqlite("CREATE TABLE parent (a)"), "sqlite3"),
    case(C.DATABASE_ERROR, "a lock held by another", _locked, "sqlite3"),
    case(C.REQUEST_CANCELLED, "an interrupted query", _interrupted, "sqlite3"),
    case(C.FORBIDDEN, "a statement that is not authorised", _denied, "sqlite3"),
    case(C.DATABASE_ERROR, "a file that is no database", _not_a_database, "sqlite3"),
    case(C.DATABASE_ERROR, "a folder that is missing", lambda p: sqlite3.connect("/no/such/folder/a.db"), "sqlite3"),
    case(C.DATABASE_ERROR, "a type that it cannot hold", _sqlite("SELECT ?", object()), "sqlite3"),
    bug("a number that it cannot hold", _sqlite("SELECT ?", 2**70), "sqlite3"),
    case(C.CONFLICT, "a value that must be unique", _alchemy("INSERT INTO parent VALUES (2, 'a@b', 1)"), "sqlalchemy"),
    case(C.VALIDATION_ERROR, "a foreign key", _alchemy("INSERT INTO child VALUES (1, 99)"), "sqlalchemy"),
    case(C.VALIDATION_ERROR, "NOT NULL", _alchemy("INSERT INTO parent (id) VALUES (5)"), "sqlalchemy"),
    case(C.VALIDATION_ERROR, "CHECK", _alchemy("INSERT INTO parent VALUES (6, 'x', -1)"), "sqlalchemy"),
    case(
        C.DATABASE_ERROR, "a missing table", _alchemy("SELECT * FROM nowhere WHERE a = 'user not found'"), "sqlalchemy"
    ),
    case(C.DATABASE_ERROR, "a syntax error", _alchemy("SELEKT 1"), "sqlalchemy"),
    bug("a parameter left out", _alchemy("SELECT :a"), "sqlalchemy"),
    case(
        C.NOT_FOUND,
        "one() without a row",
        _orm(lambda s, t: s.execute(t.select().where(t.c.id == 9)).one()),
        "sqlalchemy",
    ),
    case(C.CONFLICT, "one() with two rows", _orm(lambda s, t: s.execute(t.select()).one()), "sqlalchemy"),
    bug("a column misspelt", _orm(lambda s, t: t.c.nothing), "sqlalchemy"),
    case(C.INTERNAL_ERROR, "a string as a statement", _orm(lambda s, t: s.execute("SELECT 1")), "sqlalchemy", bug=True),
    case(C.TIMEOUT, "no connection free in the pool", _pool, "sqlalchemy"),
    case(
        C.CONFIGURATION_ERROR,
        "an unknown dialect",
        lambda p: __import__("sqlalchemy").create_engine("nosuch://"),
        "sqlalchemy",
    ),
    *(case(label, f"SQLSTATE {state}", through_psycopg(state), "psycopg") for state, label in STATES),
    *(case(label, f"SQLSTATE {state}", _asyncpg(state), "asyncpg") for state, label in STATES[::3]),
    case(
        C.TIMEOUT,
        "a statement timeout",
        through_psycopg("57014 canceling statement due to statement timeout"),
        "psycopg",
    ),
    case(
        C.REQUEST_CANCELLED,
        "a cancelled query",
        through_psycopg("57014 canceling statement due to user request"),
        "psycopg",
    ),
    case(C.SERVICE_UNAVAILABLE, "a server that hangs up", through_psycopg("00HUP"), "psycopg"),
    case(
        C.SERVICE_UNAVAILABLE,
        "a dead port",
        lambda p: __import__("psycopg").connect(f"host=127.0.0.1 port={p.dead_port} user=a"),
        "psycopg",
    ),
    case(
        C.SERVICE_UNAVAILABLE,
        "an unknown host",
        lambda p: __import__("psycopg").connect("host=no-such-host.invalid user=a"),
        "psycopg",
    ),
    case(
        C.UNAUTHORIZED,
        "a wrong password",
        lambda p: __import__("psycopg").connect(f"host=127.0.0.1 port={p.port('postgres')} user=wrong_password"),
        "psycopg",
    ),
    case(
        C.SERVICE_UNAVAILABLE,
        "too many clients",
        lambda p: __import__("psycopg").connect(f"host=127.0.0.1 port={p.port('postgres')} user=too_many"),
        "psycopg",
    ),
    case(
        C.SERVICE_UNAVAILABLE,
        "a dead port",
        lambda p: __import__("asyncpg").connect(host="127.0.0.1", port=p.dead_port, user="a"),
        "asyncpg",
    ),
    case(
        C.UNAUTHORIZED,
        "a wrong password",
        lambda p: __import__("asyncpg").connect(
            host="127.0.0.1", port=p.port("postgres"), user="wrong_password", database="a", ssl=False
        ),
        "asyncpg",
    ),
    case(
        C.TIMEOUT,
        "a server that stays silent",
        lambda p: __import__("asyncpg").connect(
            host="127.0.0.1", port=p.port("silent"), user="a", database="a", timeout=0.1, ssl=False
        ),
        "asyncpg",
    ),
    case(C.SERVICE_UNAVAILABLE, "psycopg on a dead port", _alchemy_psycopg(""), "psycopg"),
    *(
        case(label, f"error {number}", _pymysql(f"{number} as asked"), "pymysql")
        for number, label in (
            (1062, C.CONFLICT),
            (1452, C.VALIDATION_ERROR),
            (1048, C.VALIDATION_ERROR),
            (3819, C.VALIDATION_ERROR),
            (1146, C.DATABASE_ERROR),
            (1064, C.DATABASE_ERROR),
            (1213, C.DATABASE_ERROR),
            (1205, C.DATABASE_ERROR),
            (1142, C.FORBIDDEN),
            (1406, C.VALIDATION_ERROR),
            (3024, C.TIMEOUT),
        )
    ),
    case(C.UNAUTHORIZED, "a wrong password", _pymysql("", "wrong_password"), "pymysql"),
    case(C.SERVICE_UNAVAILABLE, "too many connections", _pymysql("", "too_many"), "pymysql"),
    case(C.SERVICE_UNAVAILABLE, "a server that hangs up", _pymysql("hangup"), "pymysql"),
    case(
        C.SERVICE_UNAVAILABLE,
        "a dead port",
        lambda p: __import__("pymysql").connect(host="127.0.0.1", port=p.dead_port, user="a"),
        "pymysql",
    ),
    *(
        case(label, reply.split(" ")[0] + " " + reply.split(" ")[-1], _redis(reply), "redis")
        for reply, label in (
            ("WRONGTYPE Operation against a key holding the wrong kind of value", C.DATABASE_ERROR),
            ("NOAUTH Authentication required.", C.UNAUTHORIZED),
            ("WRONGPASS invalid username-password pair or user is disabled.", C.UNAUTHORIZED),
            ("NOPERM User default has no permissions to run the 'get' command", C.FORBIDDEN),
            ("LOADING Redis is loading the dataset in memory", C.SERVICE_UNAVAILABLE),
            ("READONLY You can't write against a read only replica.", C.SERVICE_UNAVAILABLE),
            ("OOM command not allowed when used memory > 'maxmemory'.", C.DATABASE_ERROR),
            (
                "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.",
                C.DATABASE_ERROR,
            ),
            ("CLUSTERDOWN The cluster is down", C.SERVICE_UNAVAILABLE),
            ("ERR unknown command 'FOO', with args beginning with:", C.DATABASE_ERROR),
            ("ERR max number of clients reached", C.SERVICE_UNAVAILABLE),
            (
                "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
                C.DATABASE_ERROR,
            ),
            ("hangup", C.SERVICE_UNAVAILABLE),
        )
    ),
    case(C.TIMEOUT, "a server that is slow", _redis("slow", socket_timeout=0.05), "redis"),
    case(C.SERVICE_UNAVAILABLE, "a dead port", lambda p: _redis("a", port=p.dead_port)(p), "redis"),
    case(C.SERVICE_UNAVAILABLE, "an unknown host", _redis("a", host="no-such-host.invalid"), "redis"),
    case(C.SERIALIZATION_ERROR, "a value that it cannot hold", lambda p: _redis_set(p), "redis"),
    *(
        case(
            label,
            f"code {number}",
            _mongo(lambda c, n=number, m=name: c.find_one({"code": n, "name": m, "say": f"{m}: as asked"})),
            "pymongo",
        )
        for number, name, label in (
            (13, "Unauthorized", C.FORBIDDEN),
            (18, "AuthenticationFailed", C.UNAUTHORIZED),
            (50, "MaxTimeMSExpired", C.TIMEOUT),
            (112, "WriteConflict", C.DATABASE_ERROR),
            (121, "DocumentValidationFailure", C.VALIDATION_ERROR),
            (2, "BadValue", C.DATABASE_ERROR),
            (91, "ShutdownInProgress", C.SERVICE_UNAVAILABLE),
            (11000, "DuplicateKey", C.CONFLICT),
        )
    ),
    case(C.CONFLICT, "a duplicate key", _mongo(lambda c: c.insert_one({"_id": 1})), "pymongo"),
    case(C.CONFLICT, "a duplicate key in bulk", _mongo(lambda c: c.insert_many([{"_id": 1}])), "pymongo"),
    case(C.SERVICE_UNAVAILABLE, "a dead port", lambda p: _mongo(lambda c: c.find_one({}), p.dead_port)(p), "pymongo"),
    case(
        C.SERIALIZATION_ERROR, "a value that it cannot hold", _mongo(lambda c: c.insert_one({"a": object()})), "pymongo"
    ),
    case(C.VALIDATION_ERROR, "an ObjectId that is none", lambda p: __import__("bson").ObjectId("nope"), "bson"),
    case(
        C.CONFIGURATION_ERROR,
        "an URI that is none",
        lambda p: __import__("pymongo").MongoClient("redis://x"),
        "pymongo",
    ),
]
