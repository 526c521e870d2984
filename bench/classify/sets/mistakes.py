"""Mistakes in the program, whatever their message resembles."""

# The cases do on purpose what the rules forbid, each in one line.
# ruff: noqa: ARG001, ARG005, PLC0207, SIM905, UP032, B010
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.classify.case import Case, bug
from bench.classify.raising import throw, wrapped

if TYPE_CHECKING:
    from bench.classify.servers import Peers


# Mistakes in the program, whatever their message resembles.


class _Answer:
    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)


_NOTHING: Any = None


def _name(peers: Peers) -> Any:
    return rate_limit_exceeded  # type: ignore[name-defined]  # noqa: F821


def _unbound(peers: Peers) -> None:
    if peers is None:
        connection_refused = 1
    print(connection_refused)


def _assertion(peers: Peers) -> None:
    status = 503
    assert status == 200, f"HTTP {status} Service Unavailable"


def _needs(timeout: float) -> None:
    del timeout


async def _await(peers: Peers) -> None:
    async def fetch() -> dict[str, str]:
        return {}

    coroutine: Any = fetch()
    try:
        coroutine["not_found"]
    finally:
        coroutine.close()


def _recursion(peers: Peers) -> None:
    loop: list[Any] = []
    loop.append(loop)

    def flatten(value: list[Any]) -> None:
        for item in value:
            flatten(item)

    flatten(loop)


def _changed(peers: Peers) -> None:
    sessions = {"expired": 1}
    for name in sessions:
        sessions[name + " token"] = 2


async def _nested(peers: Peers) -> None:
    import asyncio

    coroutine = asyncio.sleep(0)
    try:
        asyncio.run(coroutine)
    finally:
        coroutine.close()


async def _lock(peers: Peers) -> None:
    import asyncio

    asyncio.Lock().release()


def _stop(peers: Peers) -> None:
    def pages() -> Any:
        yield next(iter(()))

    list(pages())


def _twice(peers: Peers) -> None:
    import threading

    thread = threading.Thread(target=str)
    thread.start()
    thread.join()
    thread.start()


async def _early(peers: Peers) -> None:
    import asyncio

    asyncio.get_running_loop().create_future().result()


def _frozen(peers: Peers) -> None:
    import dataclasses

    setattr(dataclasses.make_dataclass("Session", ["token_expired"], frozen=True)(False), "token_expired", True)


def _closed(peers: Peers) -> None:
    import httpx

    client = httpx.Client()
    client.close()
    client.get(peers.url("200"))


def _undefined(peers: Peers) -> None:
    import pydantic

    pydantic.create_model("Order", item=("Missing", ...))(item=1)


def _unmapped(peers: Peers) -> None:
    from sqlalchemy.orm import Session

    with Session() as session:
        session.add({"id": 1})


CASES: list[Case] = [
    bug("KeyError: answer without 'timeout'", lambda peers: {"retries": 3}["timeout"]),  # type: ignore[index]
    bug("KeyError: registry of handlers", lambda peers: throw(KeyError("Tool 'search' not found"))),
    bug("KeyError: status table without 403", lambda peers: {200: "ok"}[403]),
    bug(
        "KeyError: template without a value", lambda peers: __import__("string").Template("$invalid_token").substitute()
    ),
    bug("IndexError: first of nothing", lambda peers: "".split()[0]),
    bug("IndexError: as a sentence", lambda peers: throw(IndexError("no such row: result set not found"))),
    bug("AttributeError: None has no permission_denied", lambda peers: _NOTHING.permission_denied),
    bug("AttributeError: name of a method of requests", lambda peers: _Answer(status=401).unauthorized()),
    bug("AttributeError: module", lambda peers: __import__("json").ConnectionError),
    bug("AttributeError: format", lambda peers: "{user.access_token}".format(user=_NOTHING)),
    bug("NameError: constant never imported", _name),
    bug("UnboundLocalError: connection", _unbound),
    bug("AssertionError: answer as expected", _assertion),
    bug("AssertionError: an invariant in words", lambda peers: throw(AssertionError("user does not exist"))),
    bug(
        "TypeError: datetime into JSON",
        lambda peers: __import__("json").dumps({"when": __import__("datetime").datetime(2024, 1, 1)}),
    ),
    bug("TypeError: argument missing", lambda peers: _needs()),  # type: ignore[call-arg]
    bug("TypeError: argument unknown", lambda peers: _needs(timeout=1, unauthorized=True)),  # type: ignore[call-arg]
    bug("TypeError: unhashable key", lambda peers: {["conflict"]: 1}),  # type: ignore[dict-item]
    bug("TypeError: None is no number", lambda peers: _NOTHING + 30),
    bug("TypeError: await forgotten", _await),
    bug("RecursionError: walk over a cycle", _recursion),
    bug("RuntimeError: dictionary changed in a loop", _changed),
    bug("RuntimeError: asyncio.run in a handler", _nested),
    bug("RuntimeError: lock released twice", _lock),
    bug("RuntimeError: StopIteration in a generator", _stop),
    bug("RuntimeError: thread started twice", _twice),
    bug("InvalidStateError: result of a future asked for too early", _early),
    bug(
        "LookupError: context variable never set",
        lambda peers: __import__("contextvars").ContextVar("request_id").get(),
    ),
    bug("ZeroDivisionError: mean of no results", lambda peers: sum([]) / len([])),
    bug("FrozenInstanceError: field of a frozen object", _frozen),
    bug("response read before it was", lambda peers: throw(__import__("httpx").ResponseNotRead()), "httpx"),
    bug("client used after it was closed", _closed, "httpx"),
    bug("model that names a type which is nowhere", _undefined, "pydantic"),
    bug("session given a plain dictionary", _unmapped, "sqlalchemy"),
    bug(
        "AttributeError while a refused connection was handled",
        lambda peers: wrapped(
            AttributeError("'ConnectError' object has no attribute 'status_code'"),
            ConnectionRefusedError(111, "Connection refused"),
        ),
    ),
    bug(
        "vague outside, KeyError inside",
        lambda peers: wrapped(RuntimeError("Failed to build the invoice"), KeyError("customer")),
    ),
    bug(
        "group of programmer errors",
        lambda peers: throw(
            ExceptionGroup(
                "unhandled errors in a TaskGroup (2 sub-exceptions)",
                [TypeError("invalid token: expected str"), TypeError("request timed out must be float")],
            )
        ),
    ),
]
