"""Corners of the standard library, databases and services, and mistakes that are easily taken for failures."""

# The cases do on purpose what the rules forbid, each in one line.
# ruff: noqa: ARG001, ARG005, E501, PLW0108, PT009, PTH102, PTH211, SIM117, SLF001
from __future__ import annotations

import asyncio
import os
import socket
import sqlite3
import subprocess
import tempfile
import types
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.classify.case import Case, bug, case, said
from bench.classify.raising import named, throw
from bench.classify.sets.databases import through_psycopg
from mcpcore.contract.codes import ErrorCode as C

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.classify.servers import Peers


def _from(outer: BaseException, cause: Callable[[], object]) -> None:
    try:
        cause()
    except BaseException as caught:
        raise outer from caught


def _loop() -> None:
    folder = Path(tempfile.mkdtemp())
    (folder / "a").symlink_to(folder / "a")
    (folder / "a").read_text()


def _header() -> None:
    from email.message import EmailMessage
    from email.policy import strict

    message = EmailMessage(policy=strict)
    message.set_content("x")
    named("email").message_from_string("Content-Type: multipart/mixed\n\nx", policy=strict)


def _argparse() -> None:
    parser = named("argparse").ArgumentParser(exit_on_error=False)
    parser.add_argument("--n", type=int)
    parser.parse_args(["--n", "x"])


def _not_utf8() -> None:
    path = Path(tempfile.mkdtemp()) / "a"
    path.write_bytes(b"\xff\xfe\xfa")
    path.read_text("utf-8")


def _http_client(p: Peers) -> None:
    connection = named("http.client").HTTPConnection(p.http.removeprefix("http://").rstrip("/"))
    connection.request("GET", "/hangup")
    connection.getresponse()


def _pipe() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    os.write(writer, b"x")


def _communicate() -> None:
    process = subprocess.Popen(["sleep", "5"])
    try:
        process.communicate(timeout=0.05)
    finally:
        process.kill()
        process.wait()


async def _cancelled() -> None:
    task = asyncio.ensure_future(asyncio.sleep(5))
    await asyncio.sleep(0)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError as exc:
        raise exc from None


async def _await_none() -> None:
    await None  # type: ignore[misc]


def _set_changed() -> None:
    values = {1}
    for value in values:
        values.add(value + 1)


async def _nested_run() -> None:
    coroutine = asyncio.sleep(0)
    try:
        asyncio.run(coroutine)
    finally:
        coroutine.close()


def _no_yield() -> None:
    import contextlib

    @contextlib.contextmanager
    def manager() -> Any:
        return
        yield

    with manager():
        pass


def _stop() -> Any:
    yield next(iter(()))


def _super() -> None:
    super().__init__()  # type: ignore[misc]


# Databases
def _sqlite(statement: str, *parameters: object, script: str = "") -> Callable[[Peers], None]:
    def run(p: Peers) -> None:
        connection = sqlite3.connect(":memory:")
        connection.executescript(script)
        try:
            connection.execute(statement, parameters)
        finally:
            connection.close()

    return run


def _closed_connection() -> None:
    connection = sqlite3.connect(":memory:")
    connection.close()
    connection.execute("SELECT 1")


def _read_only() -> None:
    path = Path(tempfile.mkdtemp()) / "a.db"
    sqlite3.connect(path).close()
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as connection:
        try:
            connection.execute("CREATE TABLE t (a)")
        finally:
            connection.close()


def _pymysql(statement: str) -> Callable[[Peers], None]:
    def run(p: Peers) -> None:
        connection = named("pymysql").connect(host="127.0.0.1", port=p.port("mysql"), user="a")
        try:
            connection.cursor().execute(statement)
        finally:
            connection._force_close()

    return run


def _alchemy(make: Callable[[Any], object], url: str = "sqlite://") -> Callable[[Peers], None]:
    def run(p: Peers) -> None:
        sa = named("sqlalchemy")
        engine = sa.create_engine(url.format(dead=p.dead_port, mysql=p.port("mysql")))
        try:
            with engine.connect() as connection:
                make(connection)
        finally:
            engine.dispose()

    return run


# Services
def _status(library: str, status: int) -> Callable[[Peers], object]:
    def run(p: Peers) -> object:
        named(library).get(p.url(status)).raise_for_status()
        raise AssertionError

    return run


def _closed_client(p: Peers) -> None:
    client = named("httpx").Client()
    client.close()
    client.get(p.url(200))


def _exhausted(p: Peers) -> None:
    httpx = named("httpx")
    with httpx.Client(limits=httpx.Limits(max_connections=1), timeout=httpx.Timeout(2, pool=0.05)) as client:
        with client.stream("GET", p.url("slow/0.2")):
            client.get(p.url(200))


def _aws_nobody(p: Peers) -> None:
    os.environ["AWS_EC2_METADATA_DISABLED"] = "true"
    named("botocore.session").Session().create_client("s3", region_name="eu-west-1", endpoint_url=p.dead).list_buckets()


def _google_nobody() -> None:
    os.environ["NO_GCE_CHECK"] = "true"
    named("google.auth").default()


def _oauth(p: Peers) -> None:
    client = named("authlib.integrations.httpx_client").OAuth2Client("a", "b")
    client.fetch_token(p.answering(400, {"error": "invalid_grant", "error_description": "expired"}))


def _settings() -> None:
    settings = named("pydantic_settings")
    type("S", (settings.BaseSettings,), {"__annotations__": {"needed_value_x": int}})()


def _click() -> None:
    click = named("click")
    click.Command("a", params=[click.Option(["--n"], type=int)]).main(["--n", "x"], standalone_mode=False)


CASES: list[Case] = [
    # The standard library, elsewhere
    case(
        C.NOT_FOUND,
        "a module resource that is missing",
        lambda p: named("importlib.resources").files("json").joinpath("none.txt").read_text(),
    ),
    case(C.NOT_FOUND, "os.scandir of a missing folder", lambda p: os.scandir("/no/such")),
    case(C.CONFLICT, "symlink over a file", lambda p: os.symlink("x", __file__)),
    case(C.VALIDATION_ERROR, "a folder under a file", lambda p: os.mkdir(__file__ + "/x")),
    case(C.VALIDATION_ERROR, "a loop of symlinks", lambda p: _loop()),
    case(C.NOT_FOUND, "shutil.copytree of nothing", lambda p: named("shutil").copytree("/no/such", "/tmp/never")),
    case(C.SERIALIZATION_ERROR, "an e-mail header that cannot be written", lambda p: _header()),
    case(C.VALIDATION_ERROR, "a colour that is no hex", lambda p: int("#ff", 16)),
    case(C.VALIDATION_ERROR, "a network with host bits", lambda p: named("ipaddress").ip_network("10.0.0.1/8")),
    case(C.VALIDATION_ERROR, "bytes.fromhex of a word", lambda p: bytes.fromhex("xyz")),
    case(C.VALIDATION_ERROR, "shlex of an open quote", lambda p: named("shlex").split("a 'b")),
    case(C.VALIDATION_ERROR, "a wrong strftime of a locale", lambda p: named("time").strptime("x", "%H")),
    case(C.VALIDATION_ERROR, "an IPv6 URL that is cut short", lambda p: named("urllib.parse").urlsplit("http://[::1")),
    case(C.VALIDATION_ERROR, "argparse with exit_on_error=False", lambda p: _argparse()),
    case(
        C.VALIDATION_ERROR,
        "a cycle given to a sorter",
        lambda p: list(named("graphlib").TopologicalSorter({"a": {"b"}, "b": {"a"}}).static_order()),
    ),
    case(C.SERIALIZATION_ERROR, "a file that is not UTF-8", lambda p: _not_utf8()),
    case(C.SERIALIZATION_ERROR, "bz2 cut short", lambda p: named("bz2").decompress(b"BZh9")),
    case(C.SERIALIZATION_ERROR, "an unknown value in marshal", lambda p: named("marshal").loads(b"")),
    case(C.SERVICE_UNAVAILABLE, "http.client on a server that hangs up", lambda p: _http_client(p)),
    case(C.SERVICE_UNAVAILABLE, "smtplib on a dead port", lambda p: named("smtplib").SMTP("127.0.0.1", p.dead_port)),
    case(
        C.SERVICE_UNAVAILABLE,
        "ftplib on a dead port",
        lambda p: named("ftplib").FTP().connect("127.0.0.1", p.dead_port),
    ),
    case(
        C.SERVICE_UNAVAILABLE,
        "asyncio.open_connection on a dead port",
        lambda p: asyncio.open_connection("127.0.0.1", p.dead_port),
    ),
    case(C.SERVICE_UNAVAILABLE, "send on a broken pipe", lambda p: _pipe()),
    case(
        C.SERVICE_UNAVAILABLE,
        "urlopen of https on a dead port",
        lambda p: urllib.request.urlopen(p.dead.replace("http", "https")),
    ),
    case(C.SERVICE_UNAVAILABLE, "gethostbyname", lambda p: socket.gethostbyname("none.invalid")),
    case(C.TIMEOUT, "communicate with a timeout", lambda p: _communicate()),
    case(
        C.TIMEOUT,
        "a group of two kinds of timeout",
        lambda p: throw(ExceptionGroup("a", [TimeoutError(), subprocess.TimeoutExpired("a", 1)])),
    ),
    case(C.REQUEST_CANCELLED, "a task cancelled by its owner", lambda p: _cancelled()),
    case(C.INTERNAL_ERROR, "a shell command killed", lambda p: subprocess.run(["sh", "-c", "kill -9 $$"], check=True)),
    case(
        C.SERVICE_UNAVAILABLE,
        "three errors deep",
        lambda p: _from(
            RuntimeError("a"),
            lambda: _from(Exception("b"), lambda: socket.create_connection(("127.0.0.1", p.dead_port))),
        ),
    ),
    case(
        C.FORBIDDEN,
        "a permission behind a sentence",
        lambda p: _from(RuntimeError("cannot find the thing"), lambda: throw(PermissionError(13, "x"))),
    ),
    # Mistakes in the program
    *(
        bug(name, make)
        for name, make in {
            "a method of a number": lambda p: (5).append(1),  # type: ignore[attr-defined]
            "a slice of a number": lambda p: p.dead_port[1:2],  # type: ignore[index]
            "a set as a mapping": lambda p: p.dead_port["missing required field"],  # type: ignore[index]
            "pop from an empty list": lambda p: [].pop(),
            "popitem of an empty dict": lambda p: {}.popitem(),
            "a shift by a negative": lambda p: 1 << "a",
            "an unknown keyword": lambda p: dict.fromkeys([1], invalid=1),  # type: ignore[call-arg]
            "await of None": lambda p: _await_none(),
            "iteration over None": lambda p: list(None),  # type: ignore[call-overload]
            "a circular import's attribute": lambda p: types.ModuleType("a").not_found,
            "del of a missing key": lambda p: {}.__delitem__("token expired"),
            "an assertion of unittest": lambda p: named("unittest").TestCase().assertEqual(1, 2),
            "a mock called wrongly": lambda p: named("unittest.mock").Mock().assert_called_once(),
            "an f-string of a missing name": lambda p: eval("f'{nobody}'"),
            "a set that changed while read": lambda p: _set_changed(),
            "asyncio.run inside a loop": lambda p: _nested_run(),
            "a context manager that does not yield": lambda p: _no_yield(),
            "a generator that raised StopIteration": lambda p: list(_stop()),
            "a negative factorial of a float": lambda p: named("math").factorial(2.5),
            "super() outside a class": lambda p: _super(),
        }.items()
    ),
    case(
        C.CONFLICT,
        "an upsert that fails",
        _sqlite(
            "INSERT INTO t VALUES (1, 2)", script="CREATE TABLE t (a, b, UNIQUE (a, b)); INSERT INTO t VALUES (1, 2);"
        ),
        "sqlite3",
    ),
    case(
        C.VALIDATION_ERROR,
        "a trigger that refuses",
        _sqlite(
            "INSERT INTO t VALUES (1)",
            script="CREATE TABLE t (a); CREATE TRIGGER r BEFORE INSERT ON t BEGIN SELECT RAISE(ABORT, 'no more than ten'); END;",
        ),
        "sqlite3",
    ),
    case(C.DATABASE_ERROR, "a missing function", _sqlite("SELECT nosuch(1)"), "sqlite3"),
    case(C.DATABASE_ERROR, "a closed connection", lambda p: _closed_connection(), "sqlite3"),
    case(
        C.DATABASE_ERROR,
        "two statements at once",
        lambda p: sqlite3.connect(":memory:").execute("SELECT 1; SELECT 2"),
        "sqlite3",
    ),
    case(C.DATABASE_ERROR, "a read-only database", lambda p: _read_only(), "sqlite3"),
    *(
        case(label, f"SQLSTATE {state}", through_psycopg(state), "psycopg")
        for state, label in (
            ("23P01", C.CONFLICT),
            ("23001", C.VALIDATION_ERROR),
            ("22012", C.VALIDATION_ERROR),
            ("25P02", C.DATABASE_ERROR),
            ("53100", C.DATABASE_ERROR),
            ("57P03", C.SERVICE_UNAVAILABLE),
            ("XX000", C.DATABASE_ERROR),
            ("P0001", C.DATABASE_ERROR),
            ("54001", C.DATABASE_ERROR),
            ("42883", C.DATABASE_ERROR),
        )
    ),
    *(
        case(label, f"error {number}", _pymysql(f"{number} as asked"), "pymysql")
        for number, label in (
            (1451, C.VALIDATION_ERROR),
            (1054, C.DATABASE_ERROR),
            (1044, C.FORBIDDEN),
            (1366, C.VALIDATION_ERROR),
            (1290, C.DATABASE_ERROR),
            (1317, C.REQUEST_CANCELLED),
        )
    ),
    case(
        C.SERVICE_UNAVAILABLE,
        "pymysql on a dead port",
        _alchemy(lambda c: None, "mysql+pymysql://a@127.0.0.1:{dead}/a"),
        "pymysql",
    ),
    case(
        C.INTERNAL_ERROR,
        "a session that was closed",
        _alchemy(lambda c: (c.close(), c.execute(named("sqlalchemy").text("SELECT 1")))),
        "sqlalchemy",
        bug=True,
    ),
    case(
        C.DATABASE_ERROR,
        "reflecting a missing table",
        _alchemy(lambda c: named("sqlalchemy").Table("none", named("sqlalchemy").MetaData(), autoload_with=c)),
        "sqlalchemy",
    ),
    case(
        C.NOT_FOUND,
        "scalar_one without a row",
        _alchemy(lambda c: c.execute(named("sqlalchemy").text("SELECT 1 WHERE 0")).scalar_one()),
        "sqlalchemy",
    ),
    *(
        case(label, f"answered {status}", _status(library, status), library)
        for library in ("httpx", "requests", "httpx2")
        for status, label in (
            (402, C.FORBIDDEN),
            (408, C.TIMEOUT),
            (410, C.INVALID_REQUEST),
            (413, C.INVALID_REQUEST),
            (423, C.CONFLICT),
            (451, C.INVALID_REQUEST),
            (502, C.SERVICE_UNAVAILABLE),
            (520, C.SERVICE_UNAVAILABLE),
        )
    ),
    case(C.SERVICE_UNAVAILABLE, "nonsense for an answer", lambda p: named("httpx").get(p.url("garbage")), "httpx"),
    case(
        C.SERVICE_UNAVAILABLE,
        "nonsense for an answer",
        lambda p: named("requests").get(p.url("garbage"), timeout=3),
        "requests",
    ),
    bug("a client that was closed", lambda p: _closed_client(p), "httpx"),
    case(
        C.SERVICE_UNAVAILABLE,
        "a websocket on a dead port",
        lambda p: named("websockets.sync.client").connect(p.dead.replace("http", "ws")),
        "websockets",
    ),
    case(
        C.NOT_FOUND,
        "a websocket that is not there",
        lambda p: named("websockets.sync.client").connect(p.url(404).replace("http", "ws")),
        "websockets",
    ),
    case(
        C.VALIDATION_ERROR,
        "a websocket of another scheme",
        lambda p: named("websockets.sync.client").connect("gopher://x"),
        "websockets",
    ),
    case(
        C.SERVICE_UNAVAILABLE,
        "httpcore on a dead port",
        lambda p: named("httpcore").request("GET", p.dead),
        "httpcore",
    ),
    case(C.TIMEOUT, "pool of httpx exhausted", lambda p: _exhausted(p), "httpx"),
    case(
        C.NOT_FOUND,
        "HTTPException of Starlette",
        lambda p: throw(named("starlette.exceptions").HTTPException(404)),
        "starlette",
    ),
    case(C.CONFIGURATION_ERROR, "credentials of AWS that are missing", lambda p: _aws_nobody(p), "botocore"),
    case(
        C.CONFIGURATION_ERROR,
        "a profile of AWS that is missing",
        lambda p: named("botocore.session").Session(profile="none").create_client("s3"),
        "botocore",
    ),
    case(C.CONFIGURATION_ERROR, "credentials of Google that are missing", lambda p: _google_nobody(), "google.auth"),
    case(C.UNAUTHORIZED, "a grant of OAuth that was refused", lambda p: _oauth(p), "authlib"),
    case(
        C.VALIDATION_ERROR,
        "a requirement that is none",
        lambda p: named("packaging.requirements").Requirement("a b c"),
        "packaging",
    ),
    case(
        C.INTERNAL_ERROR,
        "a model of pydantic misused",
        lambda p: named("pydantic").create_model("A", model_config=5)(),
        "pydantic",
        bug=True,
    ),
    case(C.VALIDATION_ERROR, "settings that are missing", lambda p: _settings(), "pydantic_settings"),
    case(C.VALIDATION_ERROR, "a usage error of click", lambda p: _click(), "click"),
    case(
        C.NOT_FOUND,
        "a resource of MCP that is unknown",
        lambda p: throw(named("mcp").MCPError(code=-32002, message="Resource not found")),
        "mcp",
    ),
    case(
        C.INVALID_PARAMS,
        "parameters of MCP that are wrong",
        lambda p: throw(named("mcp").MCPError(code=-32602, message="no")),
        "mcp",
    ),
    case(
        C.SERIALIZATION_ERROR,
        "Python that libcst cannot read",
        lambda p: named("libcst").parse_module("def f(:"),
        "libcst",
    ),
    case(C.SERIALIZATION_ERROR, "a grammar's input", lambda p: named("lark").Lark('start: "a"').parse("b"), "lark"),
    case(
        C.SERVICE_UNAVAILABLE,
        "redis refused, behind a sentence",
        lambda p: _from(
            RuntimeError("cache lookup failed: key not found"),
            lambda: named("redis").Redis(port=p.dead_port, retry=None).get("a"),
        ),
        "redis",
    ),
    # Sentences
    *(
        said(C.INTERNAL_ERROR, RuntimeError, sentence)
        for sentence in ("timeoutless mode", "cancellable", "invalidated cache entry 7")
    ),
]
