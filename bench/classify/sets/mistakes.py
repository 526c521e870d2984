"""Mistakes in the program, whatever their message resembles."""

# The cases do on purpose what the rules forbid, each in one line.
# ruff: noqa: ARG001, ARG005, PLC0207, SIM905, UP032, B010
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.classify.case import Cases
from bench.classify.raising import throw, wrapped
from mcpcore.contract.codes import ErrorCode as E

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.classify.servers import Peers

CASES = Cases()
add = CASES.add


# Mistakes in the program, whatever their message resembles.


def _bug(name: str, make: Callable[[Peers], Any], library: str = "") -> None:
    add(E.INTERNAL_ERROR, name, make, library, bug=True)


def _mistake(name: str) -> Callable[[Callable[[Peers], Any]], None]:
    return lambda make: _bug(name, make)


class _Answer:
    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)


_NOTHING: Any = None
_bug("KeyError: answer without 'timeout'", lambda peers: {"retries": 3}["timeout"])  # type: ignore[index]
_bug("KeyError: registry of handlers", lambda peers: throw(KeyError("Tool 'search' not found")))
_bug("KeyError: status table without 403", lambda peers: {200: "ok"}[403])
_bug("KeyError: template without a value", lambda peers: __import__("string").Template("$invalid_token").substitute())
_bug("IndexError: first of nothing", lambda peers: "".split()[0])
_bug("IndexError: as a sentence", lambda peers: throw(IndexError("no such row: result set not found")))
_bug("AttributeError: None has no permission_denied", lambda peers: _NOTHING.permission_denied)
_bug("AttributeError: name of a method of requests", lambda peers: _Answer(status=401).unauthorized())
_bug("AttributeError: module", lambda peers: __import__("json").ConnectionError)
_bug("AttributeError: format", lambda peers: "{user.access_token}".format(user=_NOTHING))


@_mistake("NameError: constant never imported")
def _name(peers: Peers) -> Any:
    return rate_limit_exceeded  # type: ignore[name-defined]  # noqa: F821


@_mistake("UnboundLocalError: connection")
def _unbound(peers: Peers) -> None:
    if peers is None:
        connection_refused = 1
    print(connection_refused)


@_mistake("AssertionError: answer as expected")
def _assertion(peers: Peers) -> None:
    status = 503
    assert status == 200, f"HTTP {status} Service Unavailable"


_bug("AssertionError: an invariant in words", lambda peers: throw(AssertionError("user does not exist")))
_bug(
    "TypeError: datetime into JSON",
    lambda peers: __import__("json").dumps({"when": __import__("datetime").datetime(2024, 1, 1)}),
)


def _needs(timeout: float) -> None:
    del timeout


_bug("TypeError: argument missing", lambda peers: _needs())  # type: ignore[call-arg]
_bug("TypeError: argument unknown", lambda peers: _needs(timeout=1, unauthorized=True))  # type: ignore[call-arg]
_bug("TypeError: unhashable key", lambda peers: {["conflict"]: 1})  # type: ignore[dict-item]
_bug("TypeError: None is no number", lambda peers: _NOTHING + 30)


@_mistake("TypeError: await forgotten")
async def _await(peers: Peers) -> None:
    async def fetch() -> dict[str, str]:
        return {}

    coroutine: Any = fetch()
    try:
        coroutine["not_found"]
    finally:
        coroutine.close()


@_mistake("RecursionError: walk over a cycle")
def _recursion(peers: Peers) -> None:
    loop: list[Any] = []
    loop.append(loop)

    def flatten(value: list[Any]) -> None:
        for item in value:
            flatten(item)

    flatten(loop)


@_mistake("RuntimeError: dictionary changed in a loop")
def _changed(peers: Peers) -> None:
    sessions = {"expired": 1}
    for name in sessions:
        sessions[name + " token"] = 2


@_mistake("RuntimeError: asyncio.run in a handler")
async def _nested(peers: Peers) -> None:
    import asyncio

    coroutine = asyncio.sleep(0)
    try:
        asyncio.run(coroutine)
    finally:
        coroutine.close()


@_mistake("RuntimeError: lock released twice")
async def _lock(peers: Peers) -> None:
    import asyncio

    asyncio.Lock().release()


@_mistake("RuntimeError: StopIteration in a generator")
def _stop(peers: Peers) -> None:
    def pages() -> Any:
        yield next(iter(()))

    list(pages())


@_mistake("RuntimeError: thread started twice")
def _twice(peers: Peers) -> None:
    import threading

    thread = threading.Thread(target=str)
    thread.start()
    thread.join()
    thread.start()


@_mistake("InvalidStateError: result of a future asked for too early")
async def _early(peers: Peers) -> None:
    import asyncio

    asyncio.get_running_loop().create_future().result()


_bug("LookupError: context variable never set", lambda peers: __import__("contextvars").ContextVar("request_id").get())
_bug("ZeroDivisionError: mean of no results", lambda peers: sum([]) / len([]))


@_mistake("FrozenInstanceError: field of a frozen object")
def _frozen(peers: Peers) -> None:
    import dataclasses

    setattr(dataclasses.make_dataclass("Session", ["token_expired"], frozen=True)(False), "token_expired", True)


_bug("response read before it was", lambda peers: throw(__import__("httpx").ResponseNotRead()), "httpx")


@lambda made: _bug("client used after it was closed", made, "httpx")
def _closed(peers: Peers) -> None:
    import httpx

    client = httpx.Client()
    client.close()
    client.get(peers.url("200"))


@lambda made: _bug("model that names a type which is nowhere", made, "pydantic")
def _undefined(peers: Peers) -> None:
    import pydantic

    pydantic.create_model("Order", item=("Missing", ...))(item=1)


@lambda made: _bug("session given a plain dictionary", made, "sqlalchemy")
def _unmapped(peers: Peers) -> None:
    from sqlalchemy.orm import Session

    with Session() as session:
        session.add({"id": 1})


_bug(
    "AttributeError while a refused connection was handled",
    lambda peers: wrapped(
        AttributeError("'ConnectError' object has no attribute 'status_code'"),
        ConnectionRefusedError(111, "Connection refused"),
    ),
)
_bug(
    "vague outside, KeyError inside",
    lambda peers: wrapped(RuntimeError("Failed to build the invoice"), KeyError("customer")),
)
_bug(
    "group of programmer errors",
    lambda peers: throw(
        ExceptionGroup(
            "unhandled errors in a TaskGroup (2 sub-exceptions)",
            [TypeError("invalid token: expected str"), TypeError("request timed out must be float")],
        )
    ),
)
