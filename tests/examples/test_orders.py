"""The order desk with a real payment service, a real database and a real server over stdio, and its agent."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from examples.orders import agent
from examples.orders.agent import ERRANDS, PlainCaller, PolicyCaller, Report, Session, desk, run_errand
from examples.orders.desk import Desk
from examples.orders.payments import PaymentService, payment_service
from examples.orders.server import make_server
from mcpcore import Envelope, Retry
from mcpcore.client import ToolCallFailed
from mcpcore.contract.failure_modes import CONTRACT_META_KEY

ROOT = Path(__file__).parents[2]
QUICK = ("--timeout", "0.4", "--reset-after", "0.8")
LATE = {"kind": "stall", "seconds": 0.8, "times": 1}

Ask = Callable[..., Awaitable[Any]]


async def ask(session: Client, tool: str, **arguments: Any) -> Any:
    """The structured content of a success, or the envelope of a failure."""
    result = await session.call_tool(tool, arguments)
    envelope = Envelope.from_result(result)
    if envelope is not None:
        return envelope
    assert result.structured_content is not None
    return result.structured_content.get("result", result.structured_content)


def at_desk(
    test: Callable[[Ask, PaymentService], Awaitable[None]], options: tuple[str, ...] = QUICK
) -> Callable[[], None]:
    """Run a test with a session on the contract server."""

    async def main() -> None:
        async with desk("contracts", *options) as (session, payments):
            await test(partial(ask, session), payments)

    def run() -> None:
        anyio.run(main)

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run


@at_desk
async def test_failures_that_change_nothing_leave_the_stock_as_it_was(ask: Ask, payments: PaymentService) -> None:
    """An unknown item, too little in stock, a declined card, a limit and an outage: no order, no charge."""
    before = await ask("list_items")
    seen = [
        await ask("stock", item="lmap"),
        await ask("place_order", customer="ann", item="lmap"),
        await ask("place_order", customer="ann", item="desk", quantity=4),
        await ask("place_order", customer="ann", item="shelf", if_short="take_what_is_there"),
        await ask("place_order", customer="ann", item="lamp", card="expired"),
    ]
    payments.set_fault("limit", seconds=30)
    seen.append(await ask("place_order", customer="ann", item="lamp"))
    payments.set_fault("fail", seconds=30)
    seen.append(await ask("place_order", customer="ann", item="lamp"))
    assert [
        ("no_item", "none", Retry.never(), "list_items"),
        ("no_item", "none", Retry.never(), "list_items"),
        ("out_of_stock", "none", Retry.never(), None),
        ("out_of_stock", "none", Retry.never(), None),
        ("card_declined", "none", Retry.never(), None),
        ("payments_busy", "none", Retry.after(seconds=30), None),
        ("payments_down", "none", Retry.after(seconds=0.5), None),
    ] == [(failure.reason, failure.effects, failure.retry, failure.fallback_tool) for failure in seen]
    assert "Your card was declined. Please use another one." == seen[4].recovery["userMessage"]
    assert (before, [], []) == (await ask("list_items"), payments.charges(), await ask("find_orders", customer="ann"))


@at_desk
async def test_an_unconfirmed_order_is_found_and_refunded(ask: Ask, payments: PaymentService) -> None:
    """The charge was made although the answer came late: the order is pending, and paid when it is looked up."""
    payments.set_fault(**LATE)
    failure = await ask("place_order", customer="ann", item="lamp")
    assert ("payment_unconfirmed", "unknown", Retry.never(), "find_orders") == (
        failure.reason,
        failure.effects,
        failure.retry,
        failure.fallback_tool,
    )
    [order] = await ask("find_orders", customer="ann")
    assert ("paid", "ch_1") == (order["status"], order["charge"])
    for _ in range(2):
        assert "refunded" == (await ask("refund", order_id=order["id"]))["status"]
    assert ["refunded"] == [charge["status"] for charge in payments.charges()]
    assert 500 == (await ask("stock", item="lamp"))["stock"]


@at_desk
async def test_the_same_key_is_the_same_order(ask: Ask, payments: PaymentService) -> None:
    """After a late answer, concurrently, and again later; with another item the key is refused."""
    place = partial(ask, "place_order", customer="ann", idempotency_key="k1")
    payments.set_fault(**LATE)
    failure = await place(item="lamp")
    assert ("payment_unconfirmed", Retry.after(seconds=0)) == (failure.reason, failure.retry)
    orders: list[Any] = []

    async def again() -> None:
        orders.append(await place(item="lamp"))

    async with anyio.create_task_group() as tasks:
        for _ in range(8):
            tasks.start_soon(again)
    assert [orders[0]] * 8 == orders
    assert ("paid", 1) == (orders[0]["status"], len(payments.charges()))
    assert 499 == (await ask("stock", item="lamp"))["stock"]
    failure = await place(item="chair")
    assert ("key_reused", "none") == (failure.reason, failure.effects)


@at_desk
async def test_an_order_that_may_be_charged_is_never_cancelled(ask: Ask, payments: PaymentService) -> None:
    """While the payment service is down, a second call with the key waits, and does not forget the first."""
    payments.set_fault(**LATE)
    place = partial(ask, "place_order", customer="ann", item="lamp", idempotency_key="k1")
    await place()
    payments.set_fault("fail", seconds=0.2)
    failure = await place()
    assert ("payment_unconfirmed", "unknown") == (failure.reason, failure.effects)
    assert 0.4 < failure.retry.seconds <= 0.8  # the circuit is open
    assert ["pending"] == [order["status"] for order in await ask("find_orders", customer="ann")]
    refused = await ask("refund", order_id=1)
    assert ("payments_down", "none") == (refused.reason, refused.effects)
    await anyio.sleep(failure.retry.seconds)
    assert ("paid", 1) == ((await place())["status"], len(payments.charges()))


@at_desk
async def test_a_batch_answers_with_what_was_placed(ask: Ask, payments: PaymentService) -> None:
    """One line is placed, one is unknown, one is limited; with no line placed, the call fails."""
    lines = [{"item": "lamp"}, {"item": "lmap"}, {"item": "chair", "quantity": 2}]
    payments.set_fault("limit", seconds=30, after=1)
    answer = await ask("place_orders", customer="ann", lines=lines)
    assert ["lamp"] == [order["item"] for order in answer["succeeded"]]
    failed = [(failure["item"]["item"], Envelope.from_json(failure["error"])) for failure in answer["failed"]]
    assert [
        ("lmap", "no_item", "none", False),
        ("chair", "payments_busy", "none", True),
    ] == [(item, envelope.reason, envelope.effects, envelope.retryable) for item, envelope in failed]
    assert 1 == len(payments.charges())
    whole = await ask("place_orders", customer="ann", lines=lines[2:])
    assert ("payments_busy", "none", True) == (whole.reason, whole.effects, whole.retryable)
    payments.set_fault(**LATE)
    unknown = await ask("place_orders", customer="bob", lines=lines[:1])
    assert ("payment_unconfirmed", "unknown", Retry.never()) == (unknown.reason, unknown.effects, unknown.retry)


@partial(at_desk, options=("--reset-after", "3"))
async def test_an_open_circuit_spares_the_payment_service(ask: Ask, payments: PaymentService) -> None:
    """After two failures it is not called; after the advised time, the next call is the trial and succeeds."""
    payments.set_fault("fail", seconds=30)
    place = partial(ask, "place_order", customer="ann", item="lamp")
    assert "payments_down" == (await place()).reason
    began = time.monotonic()
    opened = await place()
    assert 3 + began - time.monotonic() <= opened.retry.seconds <= 3
    reached = payments.requests()
    refused = [await place() for _ in range(5)]
    assert {"payments_down"} == {failure.reason for failure in refused}
    assert reached == payments.requests()
    payments.set_fault("answer")
    await anyio.sleep(refused[-1].retry.seconds)
    assert "paid" == (await place())["status"]


@at_desk
async def test_refunds_that_cannot_be_made(ask: Ask, payments: PaymentService) -> None:
    """An unknown order, a limit and a late answer, after which the same call is safe."""
    failure = await ask("refund", order_id=9)
    assert ("no_order", "find_orders", {"order_id": 9}) == (failure.reason, failure.fallback_tool, failure.details)
    order = await ask("place_order", customer="ann", item="lamp")
    payments.set_fault("limit", seconds=5)
    assert ("payments_busy", 5) == ((busy := await ask("refund", order_id=order["id"])).reason, busy.retry.seconds)
    payments.set_fault(**LATE)
    late = await ask("refund", order_id=order["id"])
    assert ("refund_unconfirmed", "unknown", Retry.now()) == (late.reason, late.effects, late.retry)
    assert "refunded" == (await ask("refund", order_id=order["id"]))["status"]


@pytest.mark.anyio
async def test_the_agent_says_what_failed_where_the_fallback_has_no_customer() -> None:
    """A failed `refund` names no customer for `find_orders`, so its own failure ends the errand."""
    async with desk("contracts", *QUICK) as (session, _):
        with pytest.raises(agent.GaveUpError) as gave_up:
            await PolicyCaller(session, print).call("refund", {"order_id": 9})
        failed = gave_up.value.__cause__
        assert isinstance(failed, ToolCallFailed)
        assert "no_order" == failed.envelope.reason


def test_a_pending_order_that_was_never_charged(tmp_path: Path) -> None:
    """The process died between the reservation and the charge: the order is found as pending, and not refunded."""
    path = tmp_path / "orders.db"
    with payment_service() as payments, Desk(path, payments.url) as first, Desk(path, payments.url) as second:
        first.store.reserve("ann", "lamp", 1, key=None, if_short="fail")

        async def main() -> None:
            async with Client(make_server(second)) as session:
                assert ["pending"] == [order["status"] for order in await ask(session, "find_orders", customer="ann")]
                assert "not_paid" == (await ask(session, "refund", order_id=1)).reason

        anyio.run(main)
    with closing(sqlite3.connect(path)) as database:
        assert [("pending",)] == database.execute("select status from orders").fetchall()


def test_a_payment_service_that_is_gone(tmp_path: Path) -> None:
    """No connection is a failure that changed nothing, and opens the circuit."""
    with payment_service() as payments:
        url = payments.url

    async def main() -> None:
        async with Client(make_server(opened)) as session:
            failures = [await ask(session, "place_order", customer="ann", item="lamp") for _ in range(3)]
            assert {("payments_down", "none")} == {(failure.reason, failure.effects) for failure in failures}
            assert 50 < failures[-1].retry.seconds <= 60

    with Desk(tmp_path / "orders.db", url, reset_after=60) as opened:
        anyio.run(main)


@pytest.mark.anyio
async def test_the_tools_of_both_servers_are_the_same_but_for_their_contracts() -> None:
    """Names, arguments, annotations and descriptions."""

    async def listed(kind: agent.Kind) -> list[Any]:
        async with desk(kind) as (session, _):
            return (await session.list_tools()).tools

    contracts, plain = await listed("contracts"), await listed("plain")
    for ours, theirs in zip(contracts, plain, strict=True):
        assert (ours.name, ours.description, ours.annotations) == (theirs.name, theirs.description, theirs.annotations)
        assert ours.input_schema["properties"].keys() == theirs.input_schema["properties"].keys()
        assert ours.input_schema.get("required") == theirs.input_schema.get("required")
        assert CONTRACT_META_KEY not in (theirs.meta or {})
    declared = {entry["reason"] for tool in contracts for entry in (tool.meta or {}).get(CONTRACT_META_KEY, ())}
    page = (ROOT / "examples" / "orders" / "README.md").read_text(encoding="utf-8")
    assert declared <= set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`.*?) \|", page, re.MULTILINE))))


def errands(kind: agent.Kind, make: Callable[[Session], agent.Caller], names: list[str]) -> dict[str, Report]:
    """Run errands with short faults."""
    short = {"limit": 0.5, "fail": 0.4, "stall": 0.8}

    async def main() -> dict[str, Report]:
        reports = {}
        async with desk(kind, *QUICK) as (session, payments):
            for errand in ERRANDS:
                if errand.name in names:
                    fault = errand.fault and {**errand.fault, "seconds": short[errand.fault["kind"]]}
                    quick = replace(errand, fault=fault)
                    reports[errand.name] = await run_errand(quick, make(session), session, payments)
        return reports

    return anyio.run(main)


def silent(_: str) -> None:
    """Say nothing."""


@pytest.mark.slow
def test_the_agent_recovers_from_every_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """With contracts all errands are done, nothing is charged twice, and nothing is charged unknown to the agent."""
    monkeypatch.setattr(agent, "STALL", 0.8)
    steps: list[str] = []
    reports = errands("contracts", partial(PolicyCaller, tell=steps.append), [errand.name for errand in ERRANDS])
    assert {errand.name: (True, 0, 0) for errand in ERRANDS} == {
        name: (report.done, report.doubled, report.unknown) for name, report in reports.items()
    }
    kinds = {step.partition(":")[0] for step in steps}
    assert {"called", "failed", "waited", "retried", "corrected", "fell_back", "gave_up", "succeeded"} == kinds
    assert 1 == reports["a declined card"].calls


@pytest.mark.slow
def test_retries_without_contracts_charge_twice() -> None:
    """A late answer and a limit within a batch each double an order; an idempotency key helps here too."""
    names = ["a declined card", "a late answer", "a late answer, with a key", "a rate limit within a batch"]
    reports = errands("plain", partial(PlainCaller, tell=silent, retries=2, first_wait=0.6), names)
    assert [(True, 3, 0), (True, 2, 1), (True, 2, 0), (True, 2, 1)] == [
        (reports[name].done, reports[name].calls, reports[name].doubled) for name in names
    ]


@pytest.mark.slow
def test_without_retries_the_agent_does_not_know_what_was_charged() -> None:
    """It stops at the first error, and reports a failure to customers whose orders were charged."""
    names = ["a misspelt item", "a late answer", "a rate limit within a batch"]
    reports = errands("plain", partial(PlainCaller, tell=silent, retries=0), names)
    assert [(False, 1, 0), (False, 1, 1), (False, 1, 1)] == [
        (reports[name].done, reports[name].calls, reports[name].unknown) for name in names
    ]


def test_the_figures_of_its_page_are_those_of_the_bench() -> None:
    """Each row on the page is one of the last run, and its numbers are in the JSON too."""
    results = ROOT / "bench" / "results"
    measured = (results / "orders.md").read_text(encoding="utf-8").splitlines()
    totals = {run["way"]: run for run in json.loads((results / "orders.json").read_text())["runs"]}
    page = ROOT / "examples/orders/README.md"
    rows = re.findall(r"^\| (?:contracts|plain errors), .*$", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(rows) >= 3
    for row in rows:
        assert row in measured
        way, _, calls, seconds, doubled, unknown = (cell.strip() for cell in row.strip("|").split("|"))
        assert [float(seconds), int(calls), int(doubled), int(unknown)] == [
            totals[way][name] for name in ("seconds", "calls", "doubled", "unknown")
        ]


def test_an_unknown_errand_is_named() -> None:
    """`python -m examples.orders` lists those that there are."""
    command = [sys.executable, "-m", "examples.orders", "a typo"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert 1 == done.returncode
    assert "no errand is called a typo; use a misspelt item, " in done.stderr
