"""The standard library and smaller libraries with bad input: git, mail, FTP, tokens, pickles."""

# The cases do on purpose what the rules forbid, each in one line.
# ruff: noqa: ARG001, ARG005
from __future__ import annotations

import subprocess
import tempfile
from typing import TYPE_CHECKING, Any, NoReturn

from bench.classify.case import Case, case
from bench.classify.raising import GitError
from mcpcore.contract.codes import ErrorCode as E

if TYPE_CHECKING:
    from bench.classify.servers import Peers


# The standard library and smaller libraries, on what the world gives them.


def _copy(peers: Peers) -> None:
    import shutil

    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(f"{folder}/a", f"{folder}/b")


def _exclusive(peers: Peers) -> None:
    from pathlib import Path

    with tempfile.NamedTemporaryFile() as file:
        Path(file.name).open("x").close()


def _hanging(peers: Peers) -> None:
    subprocess.run(["sleep", "5"], timeout=0.1, check=True)


def _git_branch(peers: Peers) -> None:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["git", "init", "-q", folder], check=True)
        ran = subprocess.run(["git", "-C", folder, "checkout", "nonesuch"], capture_output=True, text=True, check=False)
        if ran.returncode:
            raise GitError(f"git checkout failed: {ran.stderr.strip()}")


def _git_remote(peers: Peers) -> None:
    with tempfile.TemporaryDirectory() as folder:
        ran = subprocess.run(
            ["git", "clone", peers.dead + "x.git", folder], capture_output=True, text=True, check=False
        )
        if ran.returncode:
            raise RuntimeError(f"git clone failed ({ran.returncode}): {ran.stderr.strip()}")


def _smtp(peers: Peers) -> None:
    import smtplib

    smtplib.SMTP("127.0.0.1", peers.dead_port, timeout=2)


def _smtp_login(peers: Peers) -> NoReturn:
    import smtplib

    raise smtplib.SMTPAuthenticationError(
        535, b"5.7.8 Username and Password not accepted. For more information, go to https://support.google.com"
    )


def _smtp_gone(peers: Peers) -> NoReturn:
    import smtplib

    raise smtplib.SMTPServerDisconnected("Connection unexpectedly closed")


def _imap(peers: Peers) -> NoReturn:
    import imaplib

    raise imaplib.IMAP4.error(b"[AUTHENTICATIONFAILED] Invalid credentials (Failure)")


def _ftp_login(peers: Peers) -> NoReturn:
    import ftplib

    raise ftplib.error_perm("530 Login incorrect.")


def _ftp_file(peers: Peers) -> NoReturn:
    import ftplib

    raise ftplib.error_perm("550 /exports/today.csv: No such file or directory")


def _pickle(peers: Peers) -> None:
    import pickle

    pickle.loads(b"\x80\x04\x95nonsense-not-a-frame")


def _pydantic(peers: Peers) -> None:
    import pydantic

    pydantic.TypeAdapter(list[pydantic.PositiveInt]).validate_python([1, 0, "x"])


def _jwt(claims: dict[str, Any], key: str = "a" * 32, **checks: Any) -> None:
    import jwt

    jwt.decode(jwt.encode(claims, "a" * 32, "HS256"), key, ["HS256"], **checks)


def _dns(peers: Peers) -> NoReturn:
    import dns.resolver

    raise dns.resolver.NoNameservers(request=dns.message.make_query("api.acme.test", "A"), errors=[])


def _silent(peers: Peers) -> None:
    import socket

    with socket.create_connection(("127.0.0.1", peers.port("silent")), timeout=0.2) as connection:
        connection.recv(1)


async def _fail_after(peers: Peers) -> None:
    import anyio

    with anyio.fail_after(0.01):
        await anyio.sleep(1)


async def _cancelled(peers: Peers) -> None:
    import asyncio

    task = asyncio.ensure_future(asyncio.sleep(1))
    task.cancel("the client went away")
    await task


def _future(peers: Peers) -> None:
    from concurrent.futures import Future

    future: Future[int] = Future()
    future.cancel()
    future.result()


def _trio(peers: Peers) -> None:
    import trio

    kept: list[BaseException] = []

    async def main() -> None:
        with trio.CancelScope() as scope:
            scope.cancel()
            try:
                await trio.sleep(1)
            except BaseException as failure:
                kept.append(failure)
                raise

    trio.run(main)
    raise kept[0]


def _settings(peers: Peers) -> None:
    import pydantic_settings

    raise pydantic_settings.SettingsError('error parsing value for field "ports" from source "EnvSettingsSource"')


def _mcp_method(peers: Peers) -> NoReturn:
    from mcp.shared.exceptions import MCPError

    raise MCPError(-32601, "Method not found: completion/complete")


def _xmlrpc(peers: Peers) -> NoReturn:
    import xmlrpc.client

    raise xmlrpc.client.Fault(-32601, "server error. requested method not found")


CASES: list[Case] = [
    case(E.NOT_FOUND, "shutil: source that is not there", _copy),
    case(E.CONFLICT, "pathlib: exclusive creation", _exclusive),
    case(E.TIMEOUT, "subprocess: a formatter that hangs", _hanging),
    case(E.NOT_FOUND, "git: branch that nobody made", _git_branch),
    case(E.SERVICE_UNAVAILABLE, "git: remote on a dead port", _git_remote),
    case(E.SERVICE_UNAVAILABLE, "smtplib: relay that refuses", _smtp),
    case(E.UNAUTHORIZED, "smtplib: 535", _smtp_login),
    case(E.SERVICE_UNAVAILABLE, "smtplib: hung up", _smtp_gone),
    case(E.UNAUTHORIZED, "imaplib: login", _imap),
    case(E.UNAUTHORIZED, "ftplib: 530", _ftp_login),
    case(E.NOT_FOUND, "ftplib: 550", _ftp_file),
    case(E.SERIALIZATION_ERROR, "pickle: cache file of something else", _pickle),
    case(E.SERIALIZATION_ERROR, "str.encode: name that Latin-1 lacks", lambda peers: "Łódź".encode("latin-1")),
    case(E.SERIALIZATION_ERROR, "bytes.decode: half a character", lambda peers: b"caf\xc3".decode()),
    case(E.VALIDATION_ERROR, "ipaddress: 5 parts", lambda peers: __import__("ipaddress").ip_address("10.0.0.1.7")),
    case(E.VALIDATION_ERROR, "uuid: from a title", lambda peers: __import__("uuid").UUID("quarterly report")),
    case(
        E.VALIDATION_ERROR, "datetime: month 13", lambda peers: __import__("datetime").date.fromisoformat("2024-13-01")
    ),
    case(
        E.VALIDATION_ERROR,
        "enum: colour that is none",
        lambda peers: __import__("enum").Enum("Colour", {"RED": "red", "BLUE": "blue"})("mauve"),
    ),
    case(
        E.VALIDATION_ERROR,
        "email without a domain",
        lambda peers: __import__("email_validator").validate_email("bob@"),
        "email_validator",
    ),
    case(
        E.VALIDATION_ERROR,
        "date in words",
        lambda peers: __import__("dateutil.parser").parser.parse("the day after"),
        "dateutil",
    ),
    case(
        E.VALIDATION_ERROR,
        "value outside the enum of a schema",
        lambda peers: __import__("jsonschema").validate(
            {"unit": "stone"}, {"properties": {"unit": {"enum": ["kg", "lb"]}}}
        ),
        "jsonschema",
    ),
    case(E.VALIDATION_ERROR, "settings of a request that do not agree", _pydantic, "pydantic"),
    case(E.UNAUTHORIZED, "expired", lambda peers: _jwt({"exp": 1}), "jwt"),
    case(E.UNAUTHORIZED, "signed by somebody else", lambda peers: _jwt({"sub": "a"}, "b" * 32), "jwt"),
    case(E.SERVICE_UNAVAILABLE, "no server answers the question", _dns, "dns"),
    case(
        E.SERVICE_UNAVAILABLE,
        "socket: name that nobody has",
        lambda peers: __import__("socket").getaddrinfo("nosuch.invalid", 443),
    ),
    case(E.TIMEOUT, "socket: peer that says nothing", _silent),
    case(E.TIMEOUT, "fail_after", _fail_after, "anyio"),
    case(E.REQUEST_CANCELLED, "asyncio: task cancelled from outside", _cancelled),
    case(E.REQUEST_CANCELLED, "concurrent.futures: future cancelled", _future),
    case(E.REQUEST_CANCELLED, "trio: scope of the caller cancelled", _trio, "trio"),
    case(E.CONFIGURATION_ERROR, "environment variable that does not parse", _settings, "pydantic_settings"),
    case(E.METHOD_NOT_FOUND, "peer without the method", _mcp_method, "mcp"),
    case(E.METHOD_NOT_FOUND, "xmlrpc: procedure that nobody serves", _xmlrpc),
]
