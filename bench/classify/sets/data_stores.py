"""SQL databases, Redis and MongoDB, with real drivers where they are installed."""

# The cases do on purpose what the rules forbid, each in one line.
# ruff: noqa: ARG001, ARG005
from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING, Any

from bench.classify.case import Case, case
from mcpcore.contract.codes import ErrorCode as E

if TYPE_CHECKING:
    from bench.classify.servers import Peers


# Data stores.


def _sqlite(*statements: str) -> None:
    import contextlib
    import sqlite3

    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute(
            "CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, age INT CHECK (age >= 0))"
        )
        connection.execute("CREATE TABLE book (id INTEGER PRIMARY KEY, author INT REFERENCES author (id))")
        for statement in statements:
            connection.execute(statement)


def _not_a_database(peers: Peers) -> None:
    import sqlite3

    with tempfile.NamedTemporaryFile() as file:
        file.write(b"this is a text file, and a longer one than a header of a page" * 40)
        file.flush()
        connection = sqlite3.connect(file.name)
        try:
            connection.execute("SELECT * FROM sqlite_master")
        finally:
            connection.close()


def _sqlalchemy(statement: str, *, before: str = "SELECT 1") -> None:
    import sqlalchemy

    engine = sqlalchemy.create_engine("sqlite://")
    with engine.begin() as connection:
        connection.execute(sqlalchemy.text("CREATE TABLE tag (name TEXT NOT NULL PRIMARY KEY)"))
        connection.execute(sqlalchemy.text(before))
        connection.execute(sqlalchemy.text(statement))


def _no_row(peers: Peers) -> None:
    import sqlalchemy

    with sqlalchemy.create_engine("sqlite://").connect() as connection:
        connection.execute(sqlalchemy.text("SELECT 1 WHERE 1 = 0")).one()


def _psycopg(peers: Peers, query: str, user: str = "u") -> None:
    import psycopg

    with psycopg.connect(
        f"host=127.0.0.1 port={peers.port('postgres')} user={user} dbname=d sslmode=disable", autocommit=True
    ) as connection:
        psycopg.ClientCursor(connection).execute(query.encode())


def _pymysql(peers: Peers, query: str, user: str = "u") -> None:
    import pymysql

    connection = pymysql.connect(host="127.0.0.1", port=peers.port("mysql"), user=user, password="p")
    try:
        connection.cursor().execute(query)
    finally:
        connection.close()


async def _asyncpg(peers: Peers) -> None:
    import asyncpg

    await asyncpg.connect(host="127.0.0.1", port=peers.dead_port, user="u", password="p", database="d", timeout=2)


def _redis(peers: Peers, key: str, *, port: int = 0, **settings: Any) -> None:
    import redis
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    redis.Redis(port=port or peers.port("redis"), retry=Retry(NoBackoff(), 0), protocol=2, **settings).get(key)


def _mongo(peers: Peers, code: int, name: str, say: str) -> None:
    import pymongo

    client: Any = pymongo.MongoClient(
        "127.0.0.1", peers.port("mongo"), directConnection=True, retryReads=False, serverSelectionTimeoutMS=2000
    )
    try:
        client.shop.orders.find_one({"code": code, "name": name, "say": say})
    finally:
        client.close()


CASES: list[Case] = [
    case(
        E.CONFLICT,
        "sqlite3: upsert forgotten",
        lambda peers: _sqlite("INSERT INTO author (name) VALUES ('Eco')", "INSERT INTO author (name) VALUES ('Eco')"),
    ),
    case(
        E.VALIDATION_ERROR,
        "sqlite3: negative age",
        lambda peers: _sqlite("INSERT INTO author (name, age) VALUES ('Eco', -1)"),
    ),
    case(E.VALIDATION_ERROR, "sqlite3: book of nobody", lambda peers: _sqlite("INSERT INTO book (author) VALUES (99)")),
    case(
        E.DATABASE_ERROR,
        "sqlite3: table of a migration that never ran",
        lambda peers: _sqlite("SELECT * FROM publisher"),
    ),
    case(E.DATABASE_ERROR, "sqlite3: not a database at all", _not_a_database),
    case(E.VALIDATION_ERROR, "NOT NULL", lambda peers: _sqlalchemy("INSERT INTO tag VALUES (NULL)"), "sqlalchemy"),
    case(
        E.CONFLICT,
        "primary key",
        lambda peers: _sqlalchemy("INSERT INTO tag VALUES ('a')", before="INSERT INTO tag VALUES ('a')"),
        "sqlalchemy",
    ),
    case(E.DATABASE_ERROR, "missing table", lambda peers: _sqlalchemy("DELETE FROM label"), "sqlalchemy"),
    case(E.NOT_FOUND, "one row wanted, none there", _no_row, "sqlalchemy"),
    case(E.UNAUTHORIZED, "wrong password", lambda peers: _psycopg(peers, "", "wrong_password"), "psycopg"),
    case(
        E.FORBIDDEN, "privilege", lambda peers: _psycopg(peers, "42501 permission denied for table salaries"), "psycopg"
    ),
    case(E.DATABASE_ERROR, "deadlock", lambda peers: _psycopg(peers, "40P01 deadlock detected"), "psycopg"),
    case(
        E.VALIDATION_ERROR,
        "foreign key",
        lambda peers: _psycopg(
            peers, '23503 insert or update on table "book" violates foreign key constraint "book_author_fkey"'
        ),
        "psycopg",
    ),
    case(
        E.CONFLICT,
        "duplicate entry",
        lambda peers: _pymysql(peers, "1062 Duplicate entry 'eco' for key 'author.name'"),
        "pymysql",
    ),
    case(
        E.DATABASE_ERROR,
        "lock wait",
        lambda peers: _pymysql(peers, "1205 Lock wait timeout exceeded; try restarting transaction"),
        "pymysql",
    ),
    case(
        E.DATABASE_ERROR,
        "missing table",
        lambda peers: _pymysql(peers, "1146 Table 'shop.orders' doesn't exist"),
        "pymysql",
    ),
    case(E.SERVICE_UNAVAILABLE, "dead port", _asyncpg, "asyncpg"),
    case(E.SERVICE_UNAVAILABLE, "dead port", lambda peers: _redis(peers, "k", port=peers.dead_port), "redis"),
    case(E.TIMEOUT, "slow answer", lambda peers: _redis(peers, "slow", socket_timeout=0.2), "redis"),
    case(
        E.FORBIDDEN,
        "ACL",
        lambda peers: _redis(peers, "NOPERM this user has no permissions to run the 'get' command"),
        "redis",
    ),
    case(
        E.UNAUTHORIZED,
        "password",
        lambda peers: _redis(peers, "WRONGPASS invalid username-password pair or user is disabled."),
        "redis",
    ),
    case(
        E.UNAUTHORIZED,
        "authentication",
        lambda peers: _mongo(peers, 18, "AuthenticationFailed", "Authentication failed."),
        "pymongo",
    ),
    case(
        E.FORBIDDEN,
        "role",
        lambda peers: _mongo(peers, 13, "Unauthorized", 'not authorized on shop to execute command { find: "orders" }'),
        "pymongo",
    ),
    case(
        E.TIMEOUT,
        "maxTimeMS",
        lambda peers: _mongo(peers, 50, "MaxTimeMSExpired", "operation exceeded time limit"),
        "pymongo",
    ),
]
