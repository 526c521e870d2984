"""The interpreter and the standard library, on bad input and in trouble."""

# The cases do on purpose what the rules forbid, each in one line.
# ruff: noqa: ARG001, ARG005, B904, DTZ007, E501, F821, PLC3002, PLE0643, PLE1307, PLW0108, PLW1510, PTH102, PTH106, PTH107, PTH116, PTH123, PTH208, SIM115, UP031
from __future__ import annotations

import ast
import asyncio
import base64
import binascii
import concurrent.futures
import configparser
import contextlib
import csv
import dataclasses
import decimal
import enum
import errno
import functools
import gzip
import http.client
import importlib.metadata
import io
import ipaddress
import json
import lzma
import operator
import os
import pickle
import plistlib
import queue
import re
import shutil
import socket
import ssl
import statistics
import struct
import subprocess
import sys
import tarfile
import tempfile
import threading
import tomllib
import urllib.request
import uuid
import xml.etree.ElementTree as ET
import xmlrpc.client
import zipfile
import zlib
import zoneinfo
from datetime import date, datetime
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING
from xml.dom import minidom
from xml.sax import parseString

from bench.classify.case import Cases
from mcpcore.contract.codes import ErrorCode as C

if TYPE_CHECKING:
    from bench.classify.servers import Peers

CASES = Cases()
add = CASES.add
HERE = Path(__file__).parent
TMP = Path(tempfile.gettempdir())


def _raise(exc: BaseException) -> None:
    raise exc


def _chain(outer: BaseException, inner: BaseException) -> None:
    try:
        raise inner
    except BaseException as caught:
        raise outer from caught


def _during(outer: BaseException, inner: BaseException) -> None:
    try:
        raise inner
    except BaseException:
        raise outer


# Files and processes
add(C.NOT_FOUND, "open a missing file", lambda p: open("/no/such/file"))
add(C.NOT_FOUND, "Path.read_text of a missing file", lambda p: Path("/no/such/file").read_text())
add(C.NOT_FOUND, "list a missing folder", lambda p: os.listdir("/no/such/folder"))
add(C.NOT_FOUND, "stat a missing file", lambda p: os.stat("/no/such"))
add(C.NOT_FOUND, "remove a missing file", lambda p: os.remove("/no/such/file"))
add(C.NOT_FOUND, "kill a process that is gone", lambda p: os.kill(2**22 - 3, 0))
add(C.CONFLICT, "make a folder that exists", lambda p: os.mkdir(TMP))
add(C.CONFLICT, "create exclusively what exists", lambda p: open(__file__, "x"))
add(C.CONFLICT, "remove a folder that is not empty", lambda p: os.rmdir("/usr"))
add(C.VALIDATION_ERROR, "open a folder as a file", lambda p: open(TMP))
add(C.VALIDATION_ERROR, "list a file as a folder", lambda p: os.listdir(__file__))
add(C.VALIDATION_ERROR, "a name that is too long", lambda p: open("/tmp/" + "x" * 300))
add(C.VALIDATION_ERROR, "a null byte in a path", lambda p: open("a\0b"))
add(C.FORBIDDEN, "a hard link to a folder", lambda p: os.link(TMP, TMP / "never"))
add(C.FORBIDDEN, "a permission error of the system", lambda p: _raise(OSError(errno.EACCES, os.strerror(errno.EACCES))))
add(C.FORBIDDEN, "a read-only file system", lambda p: _raise(OSError(errno.EROFS, os.strerror(errno.EROFS))))
add(C.SERVICE_UNAVAILABLE, "a full disk", lambda p: open("/dev/full", "w", buffering=1).write("x\n"))
add(C.NOT_FOUND, "run a program that is missing", lambda p: subprocess.run(["no-such-program-x"]))
add(C.INTERNAL_ERROR, "a program that fails", lambda p: subprocess.run([sys.executable, "-c", "exit(3)"], check=True))
add(C.TIMEOUT, "a program that hangs", lambda p: subprocess.run(["sleep", "5"], timeout=0.05))
add(C.CONFLICT, "copy a file onto itself", lambda p: shutil.copyfile(__file__, __file__))
add(C.CONFLICT, "a port that is taken", lambda p: socket.create_server(("127.0.0.1", p.port("silent"))))
add(C.INTERNAL_ERROR, "use a closed descriptor", lambda p: os.read(987_654, 1), bug=True)
add(C.INTERNAL_ERROR, "seek before the start", lambda p: os.lseek(os.open(__file__, os.O_RDONLY), -5, 0), bug=True)
add(C.INTERNAL_ERROR, "read a file opened for writing", lambda p: open("/dev/null", "w").read(), bug=True)

# Networks
add(C.SERVICE_UNAVAILABLE, "connect to a dead port", lambda p: socket.create_connection(("127.0.0.1", p.dead_port)))
add(C.SERVICE_UNAVAILABLE, "resolve a name that is not one", lambda p: socket.getaddrinfo("no-such-host.invalid", 80))
add(C.TIMEOUT, "a socket that stays silent", lambda p: _silent(p))
add(C.SERVICE_UNAVAILABLE, "TLS with a server that has none", lambda p: _tls(p))
add(C.SERVICE_UNAVAILABLE, "urlopen on a dead port", lambda p: urllib.request.urlopen(p.dead))
add(
    C.SERVICE_UNAVAILABLE,
    "urlopen of an unknown host",
    lambda p: urllib.request.urlopen("http://no-such-host.invalid/"),
)
add(C.TIMEOUT, "urlopen of a slow server", lambda p: urllib.request.urlopen(p.url("slow/1"), timeout=0.05))
add(C.SERVICE_UNAVAILABLE, "urlopen of a server that hangs up", lambda p: urllib.request.urlopen(p.url("hangup")))
add(
    C.SERVICE_UNAVAILABLE, "urlopen of a server that talks nonsense", lambda p: urllib.request.urlopen(p.url("garbage"))
)
add(C.SERVICE_UNAVAILABLE, "a body that ends early", lambda p: urllib.request.urlopen(p.url("short")).read())
add(C.VALIDATION_ERROR, "an URL without a scheme", lambda p: urllib.request.urlopen("no-scheme"))
add(C.VALIDATION_ERROR, "an URL with a blank in it", lambda p: http.client.HTTPConnection("h").request("GET", "/a b"))
add(C.SERVICE_UNAVAILABLE, "XML-RPC on a server that has none", lambda p: xmlrpc.client.ServerProxy(p.url(503)).ask())
add(C.NOT_FOUND, "XML-RPC at a path that is not there", lambda p: xmlrpc.client.ServerProxy(p.url(404)).ask())
for status, label in ((400, C.INVALID_PARAMS), (401, C.UNAUTHORIZED), (403, C.FORBIDDEN), (404, C.NOT_FOUND), (409, C.CONFLICT),
                      (410, C.INVALID_REQUEST), (429, C.RATE_LIMITED), (500, C.SERVICE_UNAVAILABLE), (504, C.TIMEOUT)):  # fmt: skip
    add(
        label, f"urlopen answered {status}", lambda p, status=status: urllib.request.urlopen(p.url(f"{status}?after=3"))
    )
add(C.SERVICE_UNAVAILABLE, "a stream that ends early", lambda p: _incomplete(p))


def _silent(p: Peers) -> None:
    with socket.create_connection(("127.0.0.1", p.port("silent")), timeout=0.05) as connection:
        connection.recv(1)


def _tls(p: Peers) -> None:
    with socket.create_connection(("127.0.0.1", int(p.http.rsplit(":", 1)[1].strip("/"))), timeout=2) as connection:
        ssl.create_default_context().wrap_socket(connection, server_hostname="localhost")


async def _incomplete(p: Peers) -> None:
    reader = asyncio.StreamReader()
    reader.feed_data(b"ab")
    reader.feed_eof()
    await reader.readexactly(5)


# Parsers
add(C.SERIALIZATION_ERROR, "JSON that is not", lambda p: json.loads("{not json"))
add(C.SERIALIZATION_ERROR, "empty JSON", lambda p: json.loads(""))
add(C.SERIALIZATION_ERROR, "bytes that are not UTF-8", lambda p: b"\xff\xfe\xfa".decode())
add(C.SERIALIZATION_ERROR, "text that is not ASCII", lambda p: "\u00e9".encode("ascii"))
add(C.SERIALIZATION_ERROR, "XML with a wrong tag", lambda p: ET.fromstring("<a><b></a>"))
add(C.SERIALIZATION_ERROR, "empty XML", lambda p: ET.fromstring(""))
add(C.SERIALIZATION_ERROR, "XML read by minidom", lambda p: minidom.parseString("<a"))
add(
    C.SERIALIZATION_ERROR,
    "XML read by SAX",
    lambda p: parseString("<a>", None or __import__("xml.sax.handler", fromlist=["x"]).ContentHandler()),
)
add(C.SERIALIZATION_ERROR, "TOML that is not", lambda p: tomllib.loads("a = "))
add(C.SERIALIZATION_ERROR, "a pickle cut short", lambda p: pickle.loads(pickle.dumps([1, 2, 3])[:-3]))
add(C.SERIALIZATION_ERROR, "a pickle that is none", lambda p: pickle.loads(b"not a pickle"))
add(C.SERIALIZATION_ERROR, "base64 with wrong padding", lambda p: base64.b64decode("abc"))
add(C.SERIALIZATION_ERROR, "hex that is not", lambda p: binascii.unhexlify("zz"))
add(C.SERIALIZATION_ERROR, "gzip that is not", lambda p: gzip.decompress(b"not gzip at all"))
add(C.SERIALIZATION_ERROR, "zlib that is not", lambda p: zlib.decompress(b"nope"))
add(C.SERIALIZATION_ERROR, "xz that is not", lambda p: lzma.decompress(b"nope, not xz"))
add(C.SERIALIZATION_ERROR, "a zip file that is not", lambda p: zipfile.ZipFile(io.BytesIO(b"not a zip")))
add(C.SERIALIZATION_ERROR, "a tar file that is not", lambda p: tarfile.open(fileobj=io.BytesIO(b"not a tar")))
add(C.SERIALIZATION_ERROR, "a struct of the wrong size", lambda p: struct.unpack("<I", b"abc"))
add(C.SERIALIZATION_ERROR, "a property list that is not", lambda p: plistlib.loads(b"nope"))
add(
    C.SERIALIZATION_ERROR,
    "CSV with a line break in quotes",
    lambda p: list(csv.reader(["a\0b,\n\r\nc", '"a\n'], strict=True)),
)
add(C.SERIALIZATION_ERROR, "JSON of a cycle", lambda p: _cycle())
add(C.CONFIGURATION_ERROR, "an INI file without sections", lambda p: configparser.ConfigParser().read_string("a = 1"))
add(
    C.CONFIGURATION_ERROR,
    "an INI option that is missing",
    lambda p: configparser.ConfigParser({"a": "1"}).get("DEFAULT", "b"),
)
add(C.VALIDATION_ERROR, "a literal that does not parse", lambda p: ast.literal_eval("[1, 2"))
add(C.VALIDATION_ERROR, "an expression given by the caller", lambda p: compile("1 +", "<string>", "eval"))
add(C.VALIDATION_ERROR, "a regular expression given by the caller", lambda p: re.compile("(unclosed"))


def _cycle() -> None:
    value: list[object] = []
    value.append(value)
    json.dumps(value)


# Values
add(C.VALIDATION_ERROR, "int of a word", lambda p: int("twelve"))
add(C.VALIDATION_ERROR, "float of a word", lambda p: float("1,5"))
add(C.VALIDATION_ERROR, "Decimal of a word", lambda p: decimal.Decimal("abc"))
add(C.VALIDATION_ERROR, "Fraction of a word", lambda p: Fraction("a/b"))
add(C.VALIDATION_ERROR, "a date that is none", lambda p: date.fromisoformat("2026-02-30"))
add(C.VALIDATION_ERROR, "a date in another format", lambda p: datetime.strptime("yesterday", "%Y-%m-%d"))
add(C.VALIDATION_ERROR, "an address that is none", lambda p: ipaddress.ip_address("300.1.1.1"))
add(C.VALIDATION_ERROR, "an UUID that is none", lambda p: uuid.UUID("nope"))
add(C.VALIDATION_ERROR, "an enum value that is none", lambda p: enum.Enum("Colour", "RED GREEN")(7))
add(C.VALIDATION_ERROR, "a square root of a negative", lambda p: __import__("math").sqrt(-1))
add(C.VALIDATION_ERROR, "the mean of nothing", lambda p: statistics.mean([]))
add(C.VALIDATION_ERROR, "a plain ValueError of the tool", lambda p: _raise(ValueError("start must be before end")))
add(C.NOT_FOUND, "a time zone that is none", lambda p: zoneinfo.ZoneInfo("Mars/Olympus"))
add(C.NOT_FOUND, "a package that is not installed", lambda p: importlib.metadata.version("no-such-package-x"))

# Time, cancellation, concurrency
add(C.TIMEOUT, "asyncio.timeout", lambda p: _timeout())
add(C.TIMEOUT, "asyncio.wait_for", lambda p: asyncio.wait_for(asyncio.sleep(5), 0.01))
add(C.TIMEOUT, "Future.result with a timeout", lambda p: concurrent.futures.Future().result(timeout=0.01))
add(C.REQUEST_CANCELLED, "a cancelled future", lambda p: _cancelled_future())
add(C.REQUEST_CANCELLED, "a cancelled task", lambda p: _raise(asyncio.CancelledError()))
add(C.RATE_LIMITED, "a full queue", lambda p: _full(queue.Queue(1)))
add(C.RATE_LIMITED, "a full asyncio queue", lambda p: _full(asyncio.Queue(1)))
add(C.INTERNAL_ERROR, "an empty queue", lambda p: queue.Queue().get_nowait(), bug=True)
add(C.TIMEOUT, "a group of timeouts", lambda p: _group(TimeoutError(), TimeoutError()))
add(
    C.INTERNAL_ERROR,
    "a group of a timeout and a missing file",
    lambda p: _group(TimeoutError(), FileNotFoundError("a")),
)
add(
    C.NOT_FOUND,
    "a group in a group",
    lambda p: _raise(ExceptionGroup("outer", [ExceptionGroup("inner", [FileNotFoundError("a")])])),
)
add(C.INTERNAL_ERROR, "a group of a bug and a timeout", lambda p: _group(TypeError("x"), TimeoutError()), bug=True)


async def _timeout() -> None:
    async with asyncio.timeout(0.01):
        await asyncio.sleep(5)


def _cancelled_future() -> None:
    future: concurrent.futures.Future[None] = concurrent.futures.Future()
    future.cancel()
    future.result()


def _full(q: queue.Queue[int] | asyncio.Queue[int]) -> None:
    q.put_nowait(1)
    q.put_nowait(2)


async def _group(*members: Exception) -> None:
    async def fail(member: Exception) -> None:
        raise member

    async with asyncio.TaskGroup() as group:
        for member in members:
            group.create_task(fail(member))


# Mistakes in the program
@dataclasses.dataclass(frozen=True)
class _Frozen:
    a: int = 1


class _Abstract:
    def method(self) -> None:
        raise NotImplementedError("subclasses must provide a valid method: invalid use")


def _unbound() -> object:
    if HERE is None:
        value = 1
    return value  # type: ignore[possibly-undefined]


def _changed() -> None:
    d = {1: 1}
    for k in d:
        d[k + 1] = 1


def _deep() -> None:
    _deep()


def _loop_in_loop() -> None:
    async def inner() -> None:
        asyncio.run(asyncio.sleep(0))

    with contextlib.closing(inner()) as coroutine:
        asyncio.get_running_loop()
        coroutine.send(None)


BUG = functools.partial(add, C.INTERNAL_ERROR, bug=True)
BUG("a missing key", lambda p: {}["user_id not found"])
BUG("an index out of range", lambda p: [][3])
BUG("None has no such attribute", lambda p: None.get("x"))  # type: ignore[attr-defined]
BUG("an attribute misspelt", lambda p: "x".lenght)  # type: ignore[attr-defined]
BUG("a name misspelt", lambda p: undefined_name)  # type: ignore[name-defined]
BUG("a variable before its value", lambda p: _unbound())
BUG("adding a number to a text", lambda p: "1" + 1)  # type: ignore[operator]
BUG("a missing argument", lambda p: open())  # type: ignore[call-overload]
BUG("an argument that is not allowed", lambda p: int("1", base_="invalid"))  # type: ignore[call-overload]
BUG("an assertion with a sentence", lambda p: _raise(AssertionError("user not found: invalid token")))
BUG("a type error with a sentence", lambda p: _raise(TypeError("permission denied: invalid value")))
BUG("division by zero", lambda p: 1 / 0)
BUG("a number too large for a float", lambda p: 10.0**1000)
BUG("recursion without end", lambda p: _deep())
BUG("memory", lambda p: bytearray(2**62))
BUG("not implemented", lambda p: _Abstract().method())
BUG("a frozen instance", lambda p: setattr(_Frozen(), "a", 2))
BUG("a module that is missing", lambda p: __import__("no_such_module_x"))
BUG("an import of a name that is missing", lambda p: exec("from os import no_such_name"))
BUG("JSON of an object that has none", lambda p: json.dumps(object()))
BUG("unpacking too few", lambda p: (lambda a, b: None)(*[1]))
BUG("unpacking into too many", lambda p: exec("a, b = [1]"))
BUG("unpacking too many", lambda p: exec("a, b = [1, 2, 3]"))
BUG("a dict changed while read", lambda p: _changed())
BUG("a file that is closed", lambda p: _closed())
BUG("no running event loop", lambda p: asyncio.get_running_loop())
BUG("a lock released twice", lambda p: threading.Lock().release())
BUG("a thread started twice", lambda p: _twice())
BUG("an executor that was shut down", lambda p: _shut())
BUG("a coroutine awaited twice", lambda p: _awaited_twice())
BUG("an asyncio lock released twice", lambda p: asyncio.Lock().release())
BUG("a future without a result", lambda p: asyncio.new_event_loop().create_future().result())
BUG("an unhashable key", lambda p: {[]: 1})
BUG("an iterator at its end", lambda p: next(iter([])))
BUG("an operator for other types", lambda p: operator.add(1, "x"))
BUG(
    "a bug behind a general sentence",
    lambda p: _chain(RuntimeError("could not validate the invalid request"), TypeError("x")),
)
BUG("a bug while handling another", lambda p: _during(AttributeError("no such user"), ConnectionError("refused")))
BUG("an exit", lambda p: sys.exit("not found"))
BUG("a missing member of a tuple", lambda p: (1, 2)[5])
BUG("a call of None", lambda p: HERE())  # type: ignore[misc]
BUG("a wrong format string", lambda p: "%d" % "x")
BUG("a broken module of the program", lambda p: _broken_module())


def _closed() -> None:
    stream = io.StringIO()
    stream.close()
    stream.read()


def _twice() -> None:
    thread = threading.Thread(target=int)
    thread.start()
    thread.join()
    thread.start()


def _shut() -> None:
    executor = concurrent.futures.ThreadPoolExecutor(1)
    executor.shutdown()
    executor.submit(int)


async def _awaited_twice() -> None:
    coroutine = asyncio.sleep(0)
    await coroutine
    await coroutine


def _broken_module() -> None:
    compile("def f(:", str(HERE / "broken.py"), "exec")


# Wrapped
add(C.TIMEOUT, "a sentence outside a timeout", lambda p: _chain(RuntimeError("user not found"), TimeoutError()))
add(C.NOT_FOUND, "a missing file outside a timeout", lambda p: _chain(FileNotFoundError("a"), TimeoutError()))
add(
    C.SERVICE_UNAVAILABLE,
    "a refused connection inside a plain error",
    lambda p: _chain(Exception("sync failed"), ConnectionRefusedError(111, "Connection refused")),
)
add(
    C.SERVICE_UNAVAILABLE,
    "a refused connection while handling",
    lambda p: _during(RuntimeError("sync failed"), ConnectionResetError(104, "reset")),
)
add(
    C.VALIDATION_ERROR,
    "a ValueError made of a KeyError",
    lambda p: _chain(ValueError("unknown city: Oz"), KeyError("Oz")),
)
add(C.FORBIDDEN, "an error as an argument", lambda p: _raise(RuntimeError(PermissionError(13, "Permission denied"))))
add(C.SERIALIZATION_ERROR, "JSON behind a plain error", lambda p: _json_behind())


def _json_behind() -> None:
    try:
        json.loads("{")
    except json.JSONDecodeError as exc:
        raise RuntimeError("bad answer") from exc


__all__ = ["CASES"]
