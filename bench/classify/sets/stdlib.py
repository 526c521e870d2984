"""The interpreter and the standard library, on bad input and in trouble."""

# The cases do on purpose what the rules forbid, each in one line.
# ruff: noqa: ARG001, ARG005, B904, DTZ007, F821, PLC3002, PLE0643, PLE1307, PLW0108, PLW1510, PTH102, PTH106, PTH107, PTH116, PTH123, PTH208, SIM115, UP031
from __future__ import annotations

import ast
import asyncio
import base64
import binascii
import concurrent.futures
import configparser
import csv
import dataclasses
import decimal
import enum
import errno
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

from bench.classify.case import Case, bug, case
from bench.classify.raising import throw, wrapped
from mcpcore.contract.codes import ErrorCode as C

if TYPE_CHECKING:
    from bench.classify.servers import Peers

HERE = Path(__file__).parent
TMP = Path(tempfile.gettempdir())


def _during(outer: BaseException, inner: BaseException) -> None:
    try:
        raise inner
    except BaseException:
        raise outer


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


def _cycle() -> None:
    value: list[object] = []
    value.append(value)
    json.dumps(value)


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


def _json_behind() -> None:
    try:
        json.loads("{")
    except json.JSONDecodeError as exc:
        raise RuntimeError("bad answer") from exc


CASES: list[Case] = [
    # Files and processes
    case(C.NOT_FOUND, "open a missing file", lambda p: open("/no/such/file")),
    case(C.NOT_FOUND, "Path.read_text of a missing file", lambda p: Path("/no/such/file").read_text()),
    case(C.NOT_FOUND, "list a missing folder", lambda p: os.listdir("/no/such/folder")),
    case(C.NOT_FOUND, "stat a missing file", lambda p: os.stat("/no/such")),
    case(C.NOT_FOUND, "remove a missing file", lambda p: os.remove("/no/such/file")),
    case(C.NOT_FOUND, "kill a process that is gone", lambda p: os.kill(2**22 - 3, 0)),
    case(C.CONFLICT, "make a folder that exists", lambda p: os.mkdir(TMP)),
    case(C.CONFLICT, "create exclusively what exists", lambda p: open(__file__, "x")),
    case(C.CONFLICT, "remove a folder that is not empty", lambda p: os.rmdir("/usr")),
    case(C.VALIDATION_ERROR, "open a folder as a file", lambda p: open(TMP)),
    case(C.VALIDATION_ERROR, "list a file as a folder", lambda p: os.listdir(__file__)),
    case(C.VALIDATION_ERROR, "a name that is too long", lambda p: open("/tmp/" + "x" * 300)),
    case(C.VALIDATION_ERROR, "a null byte in a path", lambda p: open("a\0b")),
    case(C.FORBIDDEN, "a hard link to a folder", lambda p: os.link(TMP, TMP / "never")),
    case(
        C.FORBIDDEN,
        "a permission error of the system",
        lambda p: throw(OSError(errno.EACCES, os.strerror(errno.EACCES))),
    ),
    case(C.FORBIDDEN, "a read-only file system", lambda p: throw(OSError(errno.EROFS, os.strerror(errno.EROFS)))),
    case(C.SERVICE_UNAVAILABLE, "a full disk", lambda p: open("/dev/full", "w", buffering=1).write("x\n")),
    case(C.NOT_FOUND, "run a program that is missing", lambda p: subprocess.run(["no-such-program-x"])),
    case(
        C.INTERNAL_ERROR,
        "a program that fails",
        lambda p: subprocess.run([sys.executable, "-c", "exit(3)"], check=True),
    ),
    case(C.TIMEOUT, "a program that hangs", lambda p: subprocess.run(["sleep", "5"], timeout=0.05)),
    case(C.CONFLICT, "copy a file onto itself", lambda p: shutil.copyfile(__file__, __file__)),
    case(C.CONFLICT, "a port that is taken", lambda p: socket.create_server(("127.0.0.1", p.port("silent")))),
    bug("use a closed descriptor", lambda p: os.read(987_654, 1)),
    case(
        C.INTERNAL_ERROR, "seek before the start", lambda p: os.lseek(os.open(__file__, os.O_RDONLY), -5, 0), bug=True
    ),
    bug("read a file opened for writing", lambda p: open("/dev/null", "w").read()),
    # Networks
    case(
        C.SERVICE_UNAVAILABLE, "connect to a dead port", lambda p: socket.create_connection(("127.0.0.1", p.dead_port))
    ),
    case(
        C.SERVICE_UNAVAILABLE,
        "resolve a name that is not one",
        lambda p: socket.getaddrinfo("no-such-host.invalid", 80),
    ),
    case(C.TIMEOUT, "a socket that stays silent", lambda p: _silent(p)),
    case(C.SERVICE_UNAVAILABLE, "TLS with a server that has none", lambda p: _tls(p)),
    case(C.SERVICE_UNAVAILABLE, "urlopen on a dead port", lambda p: urllib.request.urlopen(p.dead)),
    case(
        C.SERVICE_UNAVAILABLE,
        "urlopen of an unknown host",
        lambda p: urllib.request.urlopen("http://no-such-host.invalid/"),
    ),
    case(C.TIMEOUT, "urlopen of a slow server", lambda p: urllib.request.urlopen(p.url("slow/1"), timeout=0.05)),
    case(C.SERVICE_UNAVAILABLE, "urlopen of a server that hangs up", lambda p: urllib.request.urlopen(p.url("hangup"))),
    case(
        C.SERVICE_UNAVAILABLE,
        "urlopen of a server that talks nonsense",
        lambda p: urllib.request.urlopen(p.url("garbage")),
    ),
    case(C.SERVICE_UNAVAILABLE, "a body that ends early", lambda p: urllib.request.urlopen(p.url("short")).read()),
    case(C.VALIDATION_ERROR, "an URL without a scheme", lambda p: urllib.request.urlopen("no-scheme")),
    case(
        C.VALIDATION_ERROR,
        "an URL with a blank in it",
        lambda p: http.client.HTTPConnection("h").request("GET", "/a b"),
    ),
    case(
        C.SERVICE_UNAVAILABLE,
        "XML-RPC on a server that has none",
        lambda p: xmlrpc.client.ServerProxy(p.url(503)).ask(),
    ),
    case(C.NOT_FOUND, "XML-RPC at a path that is not there", lambda p: xmlrpc.client.ServerProxy(p.url(404)).ask()),
    *(
        case(
            label,
            f"urlopen answered {status}",
            lambda p, status=status: urllib.request.urlopen(p.url(f"{status}?after=3")),
        )
        for status, label in (
            (400, C.INVALID_PARAMS),
            (401, C.UNAUTHORIZED),
            (403, C.FORBIDDEN),
            (404, C.NOT_FOUND),
            (409, C.CONFLICT),
            (410, C.INVALID_REQUEST),
            (429, C.RATE_LIMITED),
            (500, C.SERVICE_UNAVAILABLE),
            (504, C.TIMEOUT),
        )
    ),
    case(C.SERVICE_UNAVAILABLE, "a stream that ends early", lambda p: _incomplete(p)),
    # Parsers
    case(C.SERIALIZATION_ERROR, "JSON that is not", lambda p: json.loads("{not json")),
    case(C.SERIALIZATION_ERROR, "empty JSON", lambda p: json.loads("")),
    case(C.SERIALIZATION_ERROR, "bytes that are not UTF-8", lambda p: b"\xff\xfe\xfa".decode()),
    case(C.SERIALIZATION_ERROR, "text that is not ASCII", lambda p: "\u00e9".encode("ascii")),
    case(C.SERIALIZATION_ERROR, "XML with a wrong tag", lambda p: ET.fromstring("<a><b></a>")),
    case(C.SERIALIZATION_ERROR, "empty XML", lambda p: ET.fromstring("")),
    case(C.SERIALIZATION_ERROR, "XML read by minidom", lambda p: minidom.parseString("<a")),
    case(
        C.SERIALIZATION_ERROR,
        "XML read by SAX",
        lambda p: parseString("<a>", None or __import__("xml.sax.handler", fromlist=["x"]).ContentHandler()),
    ),
    case(C.SERIALIZATION_ERROR, "TOML that is not", lambda p: tomllib.loads("a = ")),
    case(C.SERIALIZATION_ERROR, "a pickle cut short", lambda p: pickle.loads(pickle.dumps([1, 2, 3])[:-3])),
    case(C.SERIALIZATION_ERROR, "a pickle that is none", lambda p: pickle.loads(b"not a pickle")),
    case(C.SERIALIZATION_ERROR, "base64 with wrong padding", lambda p: base64.b64decode("abc")),
    case(C.SERIALIZATION_ERROR, "hex that is not", lambda p: binascii.unhexlify("zz")),
    case(C.SERIALIZATION_ERROR, "gzip that is not", lambda p: gzip.decompress(b"not gzip at all")),
    case(C.SERIALIZATION_ERROR, "zlib that is not", lambda p: zlib.decompress(b"nope")),
    case(C.SERIALIZATION_ERROR, "xz that is not", lambda p: lzma.decompress(b"nope, not xz")),
    case(C.SERIALIZATION_ERROR, "a zip file that is not", lambda p: zipfile.ZipFile(io.BytesIO(b"not a zip"))),
    case(C.SERIALIZATION_ERROR, "a tar file that is not", lambda p: tarfile.open(fileobj=io.BytesIO(b"not a tar"))),
    case(C.SERIALIZATION_ERROR, "a struct of the wrong size", lambda p: struct.unpack("<I", b"abc")),
    case(C.SERIALIZATION_ERROR, "a property list that is not", lambda p: plistlib.loads(b"nope")),
    case(
        C.SERIALIZATION_ERROR,
        "CSV with a line break in quotes",
        lambda p: list(csv.reader(["a\0b,\n\r\nc", '"a\n'], strict=True)),
    ),
    case(C.SERIALIZATION_ERROR, "JSON of a cycle", lambda p: _cycle()),
    case(
        C.CONFIGURATION_ERROR,
        "an INI file without sections",
        lambda p: configparser.ConfigParser().read_string("a = 1"),
    ),
    case(
        C.CONFIGURATION_ERROR,
        "an INI option that is missing",
        lambda p: configparser.ConfigParser({"a": "1"}).get("DEFAULT", "b"),
    ),
    case(C.VALIDATION_ERROR, "a literal that does not parse", lambda p: ast.literal_eval("[1, 2")),
    case(C.VALIDATION_ERROR, "an expression given by the caller", lambda p: compile("1 +", "<string>", "eval")),
    case(C.VALIDATION_ERROR, "a regular expression given by the caller", lambda p: re.compile("(unclosed")),
    # Values
    case(C.VALIDATION_ERROR, "int of a word", lambda p: int("twelve")),
    case(C.VALIDATION_ERROR, "float of a word", lambda p: float("1,5")),
    case(C.VALIDATION_ERROR, "Decimal of a word", lambda p: decimal.Decimal("abc")),
    case(C.VALIDATION_ERROR, "Fraction of a word", lambda p: Fraction("a/b")),
    case(C.VALIDATION_ERROR, "a date that is none", lambda p: date.fromisoformat("2026-02-30")),
    case(C.VALIDATION_ERROR, "a date in another format", lambda p: datetime.strptime("yesterday", "%Y-%m-%d")),
    case(C.VALIDATION_ERROR, "an address that is none", lambda p: ipaddress.ip_address("300.1.1.1")),
    case(C.VALIDATION_ERROR, "an UUID that is none", lambda p: uuid.UUID("nope")),
    case(C.VALIDATION_ERROR, "an enum value that is none", lambda p: enum.Enum("Colour", "RED GREEN")(7)),
    case(C.VALIDATION_ERROR, "a square root of a negative", lambda p: __import__("math").sqrt(-1)),
    case(C.VALIDATION_ERROR, "the mean of nothing", lambda p: statistics.mean([])),
    case(C.VALIDATION_ERROR, "a plain ValueError of the tool", lambda p: throw(ValueError("start must be before end"))),
    case(C.NOT_FOUND, "a time zone that is none", lambda p: zoneinfo.ZoneInfo("Mars/Olympus")),
    case(C.NOT_FOUND, "a package that is not installed", lambda p: importlib.metadata.version("no-such-package-x")),
    # Time, cancellation, concurrency
    case(C.TIMEOUT, "asyncio.timeout", lambda p: _timeout()),
    case(C.TIMEOUT, "asyncio.wait_for", lambda p: asyncio.wait_for(asyncio.sleep(5), 0.01)),
    case(C.TIMEOUT, "Future.result with a timeout", lambda p: concurrent.futures.Future().result(timeout=0.01)),
    case(C.REQUEST_CANCELLED, "a cancelled future", lambda p: _cancelled_future()),
    case(C.REQUEST_CANCELLED, "a cancelled task", lambda p: throw(asyncio.CancelledError())),
    case(C.RATE_LIMITED, "a full queue", lambda p: _full(queue.Queue(1))),
    case(C.RATE_LIMITED, "a full asyncio queue", lambda p: _full(asyncio.Queue(1))),
    bug("an empty queue", lambda p: queue.Queue().get_nowait()),
    case(C.TIMEOUT, "a group of timeouts", lambda p: _group(TimeoutError(), TimeoutError())),
    case(
        C.INTERNAL_ERROR,
        "a group of a timeout and a missing file",
        lambda p: _group(TimeoutError(), FileNotFoundError("a")),
    ),
    case(
        C.NOT_FOUND,
        "a group in a group",
        lambda p: throw(ExceptionGroup("outer", [ExceptionGroup("inner", [FileNotFoundError("a")])])),
    ),
    case(
        C.INTERNAL_ERROR, "a group of a bug and a timeout", lambda p: _group(TypeError("x"), TimeoutError()), bug=True
    ),
    bug("a missing key", lambda p: {}["user_id not found"]),
    bug("an index out of range", lambda p: [][3]),
    bug("None has no such attribute", lambda p: None.get("x")),  # type: ignore[attr-defined]
    bug("an attribute misspelt", lambda p: "x".lenght),  # type: ignore[attr-defined]
    bug("a name misspelt", lambda p: undefined_name),  # type: ignore[name-defined]
    bug("a variable before its value", lambda p: _unbound()),
    bug("adding a number to a text", lambda p: "1" + 1),  # type: ignore[operator]
    bug("a missing argument", lambda p: open()),  # type: ignore[call-overload]
    bug("an argument that is not allowed", lambda p: int("1", base_="invalid")),  # type: ignore[call-overload]
    bug("an assertion with a sentence", lambda p: throw(AssertionError("user not found: invalid token"))),
    bug("a type error with a sentence", lambda p: throw(TypeError("permission denied: invalid value"))),
    bug("division by zero", lambda p: 1 / 0),
    bug("a number too large for a float", lambda p: 10.0**1000),
    bug("recursion without end", lambda p: _deep()),
    bug("memory", lambda p: bytearray(2**62)),
    bug("not implemented", lambda p: _Abstract().method()),
    bug("a frozen instance", lambda p: setattr(_Frozen(), "a", 2)),
    bug("a module that is missing", lambda p: __import__("no_such_module_x")),
    bug("an import of a name that is missing", lambda p: exec("from os import no_such_name")),
    bug("JSON of an object that has none", lambda p: json.dumps(object())),
    bug("unpacking too few", lambda p: (lambda a, b: None)(*[1])),
    bug("unpacking into too many", lambda p: exec("a, b = [1]")),
    bug("unpacking too many", lambda p: exec("a, b = [1, 2, 3]")),
    bug("a dict changed while read", lambda p: _changed()),
    bug("a file that is closed", lambda p: _closed()),
    bug("no running event loop", lambda p: asyncio.get_running_loop()),
    bug("a lock released twice", lambda p: threading.Lock().release()),
    bug("a thread started twice", lambda p: _twice()),
    bug("an executor that was shut down", lambda p: _shut()),
    bug("a coroutine awaited twice", lambda p: _awaited_twice()),
    bug("an asyncio lock released twice", lambda p: asyncio.Lock().release()),
    bug("a future without a result", lambda p: asyncio.new_event_loop().create_future().result()),
    bug("an unhashable key", lambda p: {[]: 1}),
    bug("an iterator at its end", lambda p: next(iter([]))),
    bug("an operator for other types", lambda p: operator.add(1, "x")),
    bug(
        "a bug behind a general sentence",
        lambda p: wrapped(RuntimeError("could not validate the invalid request"), TypeError("x")),
    ),
    bug("a bug while handling another", lambda p: _during(AttributeError("no such user"), ConnectionError("refused"))),
    bug("an exit", lambda p: sys.exit("not found")),
    bug("a missing member of a tuple", lambda p: (1, 2)[5]),
    bug("a call of None", lambda p: HERE()),  # type: ignore[misc]
    bug("a wrong format string", lambda p: "%d" % "x"),
    bug("a broken module of the program", lambda p: _broken_module()),
    # Wrapped
    case(C.TIMEOUT, "a sentence outside a timeout", lambda p: wrapped(RuntimeError("user not found"), TimeoutError())),
    case(C.NOT_FOUND, "a missing file outside a timeout", lambda p: wrapped(FileNotFoundError("a"), TimeoutError())),
    case(
        C.SERVICE_UNAVAILABLE,
        "a refused connection inside a plain error",
        lambda p: wrapped(Exception("sync failed"), ConnectionRefusedError(111, "Connection refused")),
    ),
    case(
        C.SERVICE_UNAVAILABLE,
        "a refused connection while handling",
        lambda p: _during(RuntimeError("sync failed"), ConnectionResetError(104, "reset")),
    ),
    case(
        C.VALIDATION_ERROR,
        "a ValueError made of a KeyError",
        lambda p: wrapped(ValueError("unknown city: Oz"), KeyError("Oz")),
    ),
    case(
        C.FORBIDDEN, "an error as an argument", lambda p: throw(RuntimeError(PermissionError(13, "Permission denied")))
    ),
    case(C.SERIALIZATION_ERROR, "JSON behind a plain error", lambda p: _json_behind()),
]
