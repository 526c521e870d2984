"""A scripted agent that runs the same errands against both servers, and meets each of their failures.

The errands are written once. Only the handling of a failed call differs:

- `PolicyCaller` calls with `mcpcore.client`: a policy, and what the server declares and sends. The policy is the same
  for all errands. It names the fallback tools and the corrections that the agent may use, and nothing of the faults.
- `PlainCaller` has only a text, so it works like a retry loop around a call: it makes the same call again
  after any error, a fixed number of times, and waits 0.5 s, then 1 s, and so on. Two retries from 0.5 s are the
  defaults of the Python SDKs of OpenAI and Anthropic, which retry only some HTTP statuses;
  a tool call has no status. With no retries, it stops at the first error.

A `PlainCaller` never reads the text. A language model does, so it can do better than a loop that retries, and worse: it
may guess. This comparison leaves models out, since it shows what programs can rely on. The plain server gets the same
idempotency keys from the agent, and has the same breaker.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TextIO

import anyio
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import TextContent

from examples.orders.payments import ROOT, PaymentService, payment_service
from mcpcore import Envelope
from mcpcore.client import CallPolicy, Step, ToolCallFailed, call

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

    from mcp.types import CallToolResult

POLICY: Final = CallPolicy(
    fallbacks={
        "list_items": lambda _: {},
        # A failed `refund` names no customer: find_orders then refuses the call, and the failure is that of `refund`.
        "find_orders": lambda failed: {"customer": failed.arguments.get("customer")},
    },
    corrections={"place_order"},
)
WITH_KEY: Final = replace(POLICY, retry_unsafe=True)
"""For calls with an idempotency key, which are safe to repeat whatever happened to the first one."""

MAX_ROUNDS: Final = 4
"""How often the failed part of a batch is sent."""


class GaveUpError(Exception):
    """The agent cannot run an errand; the message is for the person who sent it."""


class Session(Client):
    """A client of the SDK that counts its tool calls."""

    calls = 0

    async def call_tool(self, *args: Any, **options: Any) -> CallToolResult:
        """Call a tool."""
        self.calls += 1
        return await super().call_tool(*args, **options)


class Caller(Protocol):
    """How the agent calls a tool."""

    async def call(self, tool: str, arguments: dict[str, Any]) -> Any:
        """The structured content of the result.

        Raises:
            GaveUpError: If the call failed for good.
        """


class PolicyCaller:
    """Follows a policy and what the server declares."""

    def __init__(self, session: Session, tell: Callable[[str], object]) -> None:
        """Call through `session`, and report each step to `tell`."""
        self._session = session
        self._tell = tell

    async def call(self, tool: str, arguments: dict[str, Any]) -> Any:
        """The structured content of the result of the tool, or of its fallback."""
        policy = WITH_KEY if "idempotency_key" in arguments else POLICY
        try:
            result = await call(self._session, tool, arguments, policy=replace(policy, on_step=self._on_step))
        except ToolCallFailed as failed:
            recovery = failed.envelope.recovery or {}
            raise GaveUpError(recovery.get("userMessage") or failed.envelope.message) from failed
        return result.structured_content

    def _on_step(self, step: Step) -> None:
        self._tell(f"{step.kind}: {step.tool}: {step.why}")


class PlainCaller:
    """Makes the same call again after any error, a fixed number of times."""

    def __init__(
        self, session: Session, tell: Callable[[str], object], *, retries: int, first_wait: float = 0.5
    ) -> None:
        """Call through `session`; wait `first_wait` seconds before the first retry, and twice as long each time."""
        self._session = session
        self._tell = tell
        self._retries = retries
        self._first_wait = first_wait

    async def call(self, tool: str, arguments: dict[str, Any]) -> Any:
        """The structured content of the result of the tool."""
        text = ""
        for attempt in range(self._retries + 1):
            self._tell(f"called: {tool}")
            result = await self._session.call_tool(tool, arguments)
            if not result.is_error:
                return result.structured_content
            text = " ".join(block.text for block in result.content if isinstance(block, TextContent))
            self._tell(f"failed: {tool}: {text}")
            if attempt < self._retries:
                await anyio.sleep(self._first_wait * 2**attempt)
        raise GaveUpError(text)


@dataclass(frozen=True, kw_only=True)
class Errand:
    """A task for the agent.

    Attributes:
        name: What goes wrong.
        run: Runs the errand for a customer; whether it is done.
        fault: The fault of the payment service, as for `PaymentService.set_fault`.
        wants: The number of paid orders that the customer wants in the end.
    """

    name: str
    run: Callable[[Caller, str, PaymentService], Awaitable[bool]]
    fault: dict[str, Any] | None = None
    wants: int = 1


async def buy_misspelt(caller: Caller, customer: str, _: PaymentService) -> bool:
    """Buy a lamp, and misspell it."""
    found = await caller.call("stock", {"item": "lmap"})
    names = [found["name"]] if "name" in found else [item["name"] for item in found["result"]]
    order = await caller.call("place_order", {"customer": customer, "item": get_close_matches("lmap", names, 1)[0]})
    return _is_paid(order)


async def buy_too_many(caller: Caller, customer: str, _: PaymentService) -> bool:
    """Buy five desks, or as many as there are."""
    return _is_paid(await caller.call("place_order", {"customer": customer, "item": "desk", "quantity": 5}))


async def buy_with_expired_card(caller: Caller, customer: str, _: PaymentService) -> bool:
    """Buy a lamp with a card that is declined; done when the agent reports that to the customer."""
    try:
        await caller.call("place_order", {"customer": customer, "item": "lamp", "card": "expired"})
    except GaveUpError as told:
        return "declined" in str(told)
    return False


async def buy(caller: Caller, customer: str, _: PaymentService) -> bool:
    """Buy a lamp."""
    return _is_paid(await caller.call("place_order", {"customer": customer, "item": "lamp"}))


async def buy_with_key(caller: Caller, customer: str, _: PaymentService) -> bool:
    """Buy a lamp, with an idempotency key."""
    key = f"{customer}-1"
    return _is_paid(await caller.call("place_order", {"customer": customer, "item": "lamp", "idempotency_key": key}))


async def buy_three(caller: Caller, customer: str, _: PaymentService) -> bool:
    """Buy three things in one call."""
    lines: list[Any] = [{"item": name} for name in ("lamp", "chair", "lamp")]
    paid = 0
    for _round in range(MAX_ROUNDS):
        answer = await caller.call("place_orders", {"customer": customer, "lines": lines})
        paid += len(answer.get("succeeded", answer.get("result", [])))
        if not answer.get("failed"):
            return paid == 3
        lines, wait = _worth_another_call(answer["failed"])
        if not lines:
            return False
        await anyio.sleep(wait)
    return False


async def return_one(caller: Caller, customer: str, payments: PaymentService) -> bool:
    """Buy a lamp, then return it while the payment service stalls."""
    order = await caller.call("place_order", {"customer": customer, "item": "lamp"})
    payments.set_fault("stall", seconds=STALL, times=1)
    refunded = await caller.call("refund", {"order_id": order["id"]})
    return bool(refunded["status"] == "refunded")


STALL: Final = 1.5
"""Seconds for which a stalled answer is late: longer than the server waits."""

ERRANDS: Final = (
    Errand(name="a misspelt item", run=buy_misspelt),
    Errand(name="too little in stock", run=buy_too_many),
    Errand(name="a declined card", run=buy_with_expired_card, wants=0),
    Errand(name="a rate limit of 1 s", run=buy, fault={"kind": "limit", "seconds": 1}),
    Errand(name="a late answer", run=buy, fault={"kind": "stall", "seconds": STALL, "times": 1}),
    Errand(name="a late answer, with a key", run=buy_with_key, fault={"kind": "stall", "seconds": STALL, "times": 1}),
    Errand(
        name="a rate limit within a batch", run=buy_three, fault={"kind": "limit", "seconds": 1, "after": 1}, wants=3
    ),
    Errand(name="a late answer to a refund", run=return_one, wants=0),
    Errand(name="an outage of 2 s", run=buy, fault={"kind": "fail", "seconds": 2}),
)
"""The faults last one or two seconds. Those of real services last longer, which makes retries without advice worse."""


@dataclass(frozen=True, kw_only=True)
class Report:
    """How an errand went.

    Attributes:
        errand: Its name.
        done: Whether the agent knows that it is done.
        calls: The tool calls that it took.
        seconds: The time that it took. A call without a fault takes some hundredths of a second, so these are lost.
        doubled: The orders that were charged beyond those that the customer wants.
        unknown: The orders that were charged, although the agent reports that it failed.
        told: What the agent says to the customer, if it gave up.
    """

    errand: str
    done: bool
    calls: int
    seconds: float
    doubled: int
    unknown: int
    told: str | None


async def run_errand(errand: Errand, caller: Caller, session: Session, payments: PaymentService) -> Report:
    """Run an errand with its fault, and look into the books of the payment service afterwards."""
    customer = errand.name.replace(" ", "-").replace(",", "")
    payments.set_fault(**(errand.fault or {"kind": "answer"}))
    began, calls_before, told = time.monotonic(), session.calls, None
    try:
        done = await errand.run(caller, customer, payments)
    except GaveUpError as gave_up:
        done, told = False, str(gave_up)
    seconds, calls = time.monotonic() - began, session.calls - calls_before
    payments.set_fault("answer")
    charged = sum(charge["status"] == "paid" for charge in payments.charges(customer))
    return Report(
        errand=errand.name,
        done=done,
        calls=calls,
        seconds=round(seconds, 2),
        doubled=max(0, charged - errand.wants),
        unknown=0 if done else min(charged, errand.wants),
        told=told,
    )


Kind = Literal["contracts", "plain"]


@asynccontextmanager
async def desk(kind: Kind, *options: str, errlog: TextIO = sys.stderr) -> AsyncIterator[tuple[Session, PaymentService]]:
    """A session with one of the servers, and its payment service; both processes end with the block."""
    module = "examples.orders.server" if kind == "contracts" else "examples.orders.plain_server"
    with payment_service() as payments, tempfile.TemporaryDirectory() as folder:
        arguments = ["-m", module, str(Path(folder) / "orders.db"), payments.url, *options]
        # With MCPCORE_AUDIT, the server keeps a trail.
        trail = {name: value for name, value in os.environ.items() if name == "MCPCORE_AUDIT"}
        parameters = StdioServerParameters(command=sys.executable, args=arguments, cwd=ROOT, env=trail)
        session = Session(stdio_client(parameters, errlog=errlog))
        async with session:
            yield session, payments


async def run(
    kind: Kind,
    make: Callable[[Session], Caller],
    *,
    errands: Sequence[Errand] = ERRANDS,
    tell: Callable[[str], object] = lambda _: None,
    errlog: TextIO = sys.stderr,
) -> list[Report]:
    """Run errands against a server, one after the other."""
    reports = []
    async with desk(kind, errlog=errlog) as (session, payments):
        caller = make(session)
        for errand in errands:
            tell(f"\n# {errand.name}")
            reports.append(await run_errand(errand, caller, session, payments))
            await _until_healthy(session)
    return reports


async def _until_healthy(session: Session) -> None:
    """Wait until the breaker of the server lets orders through, so that errands do not affect each other."""
    with anyio.fail_after(30):
        while (await session.call_tool("place_order", {"customer": "nobody", "item": "lamp"})).is_error:  # noqa: ASYNC110
            await anyio.sleep(0.2)  # nothing in this process knows when


def _worth_another_call(failed: list[dict[str, Any]]) -> tuple[list[Any], float]:
    """The items of a batch that changed nothing and may be sent again, by their envelopes, and the seconds to wait."""
    envelopes = [(failure["item"], Envelope.from_json(failure["error"])) for failure in failed]
    again = [(item, envelope.retry.seconds) for item, envelope in envelopes if envelope.effects == "none"]
    waits = [seconds for _, seconds in again if seconds is not None]
    return [item for item, seconds in again if seconds is not None], max(waits, default=0.0)


def _is_paid(answer: Any) -> bool:
    """Whether an order, or one of the orders that were found, is paid."""
    orders = answer.get("result", [answer])
    return any(order.get("status") == "paid" for order in orders)
