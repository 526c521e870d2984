"""Corners of libraries, and mistakes in the program."""

# The cases do on purpose what the rules forbid, each in one line.
# ruff: noqa: ARG005, F522, F524, PLW0108
from __future__ import annotations

import asyncio
import errno
import os
import socket
import sqlite3
import threading
from typing import TYPE_CHECKING, Any

from bench.classify.case import Case, bug, case
from bench.classify.raising import named, throw
from bench.classify.sets.corners import _from
from mcpcore.contract.codes import ErrorCode as C

if TYPE_CHECKING:
    from bench.classify.servers import Peers


def _union() -> None:
    named("pydantic").TypeAdapter(int | list[int]).validate_python("x")


def _stale() -> None:
    sa, orm = named("sqlalchemy"), named("sqlalchemy.orm")
    base = orm.declarative_base()
    thing = type(
        "Thing",
        (base,),
        {"__tablename__": "t", "id": sa.Column(sa.Integer, primary_key=True), "a": sa.Column(sa.Integer)},
    )
    engine = sa.create_engine("sqlite://")
    base.metadata.create_all(engine)
    with orm.Session(engine, expire_on_commit=False) as session:
        row = thing(id=1, a=1)
        session.add(row)
        session.commit()
        session.execute(sa.text("DELETE FROM t"))
        row.a = 2
        session.flush()


async def _async_aiohttp(p: Peers) -> None:
    async with named("aiohttp").request("GET", p.dead):
        pass


async def _async_httpx(p: Peers) -> None:
    async with named("httpx2").AsyncClient() as client:
        await client.get(p.dead)


def _joserfc() -> None:
    jwt, jwk = named("joserfc.jwt"), named("joserfc.jwk")
    key = jwk.OctKey.import_key("k" * 64)
    token = jwt.decode(jwt.encode({"alg": "HS256"}, {"exp": 1}, key), key)
    jwt.JWTClaimsRegistry().validate(token.claims)


def _stamina() -> None:
    stamina = named("stamina")

    @stamina.retry(on=TimeoutError, attempts=2, wait_initial=0, wait_jitter=0)
    def fail() -> None:
        raise TimeoutError

    fail()


def _would_block() -> None:
    near, far = socket.socketpair()
    with near, far:
        near.setblocking(False)
        near.recv(1)


def _vacuum() -> None:
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("BEGIN")
        connection.execute("VACUUM")
    finally:
        connection.close()


def _loop_closed() -> None:
    loop = asyncio.new_event_loop()
    loop.close()
    loop.call_soon(print)


def _barrier() -> None:
    barrier = threading.Barrier(2)
    barrier.abort()
    barrier.wait()


def _reentered() -> None:
    def generate() -> Any:
        yield next(generator)

    generator = generate()
    next(generator)


async def _coroutine_inner() -> str:
    return ""


def _coroutine() -> Any:
    coroutine = _coroutine_inner()
    coroutine.close()
    return coroutine


def _set_twice() -> None:
    future: Any = named("concurrent.futures").Future()
    future.set_result(1)
    future.set_result(1)


CASES: list[Case] = [
    # Libraries
    case(C.VALIDATION_ERROR, "a discriminated union without a match", lambda p: _union(), "pydantic"),
    case(
        C.VALIDATION_ERROR,
        "a date given as a list",
        lambda p: named("pydantic").TypeAdapter(named("datetime").date).validate_python([]),
        "pydantic",
    ),
    case(C.SERIALIZATION_ERROR, "an e-mail of bytes that are none", lambda p: b"\xe9".decode("ascii")),
    case(
        C.SERIALIZATION_ERROR,
        "XML by lxml's kin",
        lambda p: named("xml.etree.ElementTree").parse(named("io").StringIO("<a>&nope;</a>")),
    ),
    case(C.CONFLICT, "a row that changed meanwhile", lambda p: _stale(), "sqlalchemy"),
    case(
        C.CONFLICT,
        "a watched key that changed",
        lambda p: throw(named("redis").WatchError("Watched variable changed.")),
        "redis",
    ),
    case(
        C.CONFLICT,
        "a lock that is not ours",
        lambda p: throw(named("redis.exceptions").LockNotOwnedError("Cannot release a lock that's no longer owned")),
        "redis",
    ),
    case(
        C.TIMEOUT,
        "a silent server",
        lambda p: named("redis").Redis(port=p.port("silent"), protocol=2, socket_timeout=0.05, retry=None).get("a"),
        "redis",
    ),
    case(
        C.SERVICE_UNAVAILABLE,
        "an unknown host",
        lambda p: named("pymysql").connect(host="none.invalid", user="a"),
        "pymysql",
    ),
    case(
        C.SERVICE_UNAVAILABLE,
        "an unknown host",
        lambda p: named("asyncpg").connect(host="none.invalid", user="a", database="a"),
        "asyncpg",
    ),
    case(C.SERVICE_UNAVAILABLE, "a dead port", lambda p: _async_aiohttp(p), "aiohttp"),
    case(C.SERVICE_UNAVAILABLE, "a dead port, async", lambda p: _async_httpx(p), "httpx2"),
    case(C.NOT_FOUND, "HTTPNotFound of its server", lambda p: throw(named("aiohttp.web").HTTPNotFound()), "aiohttp"),
    case(
        C.FORBIDDEN,
        "AuthorizationError",
        lambda p: throw(named("fastmcp.exceptions").AuthorizationError("no")),
        "fastmcp",
    ),
    case(
        C.NOT_FOUND,
        "NotFoundError",
        lambda p: throw(named("fastmcp.exceptions").NotFoundError("Unknown resource: x")),
        "fastmcp",
    ),
    case(C.UNAUTHORIZED, "a bad claim", lambda p: _joserfc(), "joserfc"),
    case(
        C.UNAUTHORIZED,
        "a Fernet token that is none",
        lambda p: named("cryptography.fernet").Fernet(named("cryptography.fernet").Fernet.generate_key()).decrypt(b"x"),
        "cryptography",
    ),
    case(
        C.VALIDATION_ERROR,
        "a regular expression that is none",
        lambda p: named("jsonschema").validate(
            "a", {"format": "date"}, format_checker=named("jsonschema").FormatChecker()
        ),
        "jsonschema",
    ),
    case(
        C.CONFLICT,
        "error 423 of a WebDAV server",
        lambda p: named("requests").put(p.url(423), timeout=3).raise_for_status(),
        "requests",
    ),
    case(
        C.SERVICE_UNAVAILABLE,
        "a proxy that is dead",
        lambda p: named("httpx").get("http://example.com", proxy=p.dead),
        "httpx",
    ),
    case(
        C.SERVICE_UNAVAILABLE,
        "a proxy that is dead",
        lambda p: named("requests").get("http://example.com", proxies={"http": p.dead}, timeout=3),
        "requests",
    ),
    case(C.TIMEOUT, "stamina gives up on a timeout", lambda p: _stamina(), "stamina"),
    case(
        C.INTERNAL_ERROR,
        "a bug in a group in a plain error",
        lambda p: _from(RuntimeError("invalid request"), lambda: throw(ExceptionGroup("a", [KeyError("b")]))),
        bug=True,
    ),
    case(
        C.SERVICE_UNAVAILABLE,
        "errno 101 of a plain OSError",
        lambda p: throw(OSError(errno.ENETUNREACH, os.strerror(errno.ENETUNREACH))),
    ),
    case(C.CONFLICT, "errno 16", lambda p: throw(OSError(errno.EBUSY, os.strerror(errno.EBUSY)))),
    case(C.SERVICE_UNAVAILABLE, "a socket read when nothing is there", lambda p: _would_block()),
    case(
        C.DATABASE_ERROR,
        "a rollback to a savepoint that is none",
        lambda p: sqlite3.connect(":memory:").execute("ROLLBACK TO nothing"),
    ),
    case(C.DATABASE_ERROR, "VACUUM inside a transaction", lambda p: _vacuum()),
    # Mistakes in the program
    *(
        bug(name, make)
        for name, make in {
            "a loop that is closed": lambda p: _loop_closed(),
            "a barrier that is broken": lambda p: _barrier(),
            "an executor's thread that is the same": lambda p: threading.current_thread().join(),
            "a generator entered twice": lambda p: _reentered(),
            "a decimal trap of the program": lambda p: named("decimal").Decimal(1) / 0,
            "an array with too many bytes": lambda p: named("array").array("b", [300]),
            "a string formatted with a missing key": lambda p: "{a}".format(b=1),
            "a template without its value": lambda p: named("string").Template("$a").substitute(),
            "a named tuple with too few": lambda p: named("collections").namedtuple("A", "a b")(1),
            "a property without a setter": lambda p: setattr(type("A", (), {"a": property(lambda s: 1)})(), "a", 1),
            "a comparison of a number and a text": lambda p: sorted([1, "a"]),
            "a module's function misspelt": lambda p: os.pathh,  # type: ignore[attr-defined]
            "an async function called as if sync": lambda p: _coroutine().upper(),
            "a future set twice": lambda p: _set_twice(),
        }.items()
    ),
]
