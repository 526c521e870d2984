"""Asks servers, and reads what they answer and record, in tests."""

from __future__ import annotations

import functools
import json
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import anyio
from mcp.shared.exceptions import MCPError

from mcpcore import Envelope

C = TypeVar("C")
P = ParamSpec("P")
T = TypeVar("T")


def outcome_of(client: AbstractAsyncContextManager[C], request: Callable[[C], Awaitable[Any]]) -> Any:
    """Make one request with a client, and return its result, or the error of the protocol."""

    async def run() -> Any:
        async with client as connected:
            return await settled(request(connected))  # outside the client, its task group would wrap an error

    return anyio.run(run)


async def settled(answer: Awaitable[Any]) -> Any:
    """Wait for an answer, and return it, or the error of the protocol."""
    try:
        return await answer
    except MCPError as error:
        return error


def ask(client: AbstractAsyncContextManager[C], request: Callable[[C], Awaitable[T]]) -> T:
    """Make one request with a client, and raise an error of the protocol as it is."""
    outcome = outcome_of(client, request)
    if isinstance(outcome, MCPError):
        raise outcome
    return outcome  # type: ignore[no-any-return]


def envelope_of(answer: Any) -> Envelope:
    """Return the failure in a result or an error of the protocol."""
    envelope = Envelope.from_result(answer)
    assert envelope is not None, answer
    return envelope


def records_of(trail: Path) -> list[dict[str, Any]]:
    """Return the records of a trail, which need not have been begun."""
    return [json.loads(line) for line in trail.read_text().splitlines()] if trail.exists() else []


def within(seconds: float) -> Callable[[Callable[P, Coroutine[Any, Any, None]]], Callable[P, None]]:
    """Run an async test in a new event loop, and fail it if it takes longer."""

    def decorate(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
        @functools.wraps(test)
        def run(*args: P.args, **kwargs: P.kwargs) -> None:
            async def limited() -> None:
                with anyio.fail_after(seconds):
                    await test(*args, **kwargs)

            anyio.run(limited)

        return run

    return decorate
