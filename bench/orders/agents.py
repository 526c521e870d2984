"""How agents take each declared failure of the order desk: `python -m bench.orders.agents [--quick]`.

Each failure is injected once, and at every call, into an errand that an agent runs through each of the five
integrations. The model is a script that reads the text of an answer, and follows the recovery in it. Waits are not
slept: a clock that all parts share is put forward instead.
"""

from __future__ import annotations

import argparse
import logging
import sys
import tempfile
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from datetime import datetime, timedelta
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from unittest.mock import patch

import anyio
from mcp import Client
from mcp.types import TextContent

from examples.agents.frameworks import FRAMEWORKS
from examples.agents.script import Call
from examples.orders.agent import POLICY
from examples.orders.clerk import Clerk
from examples.orders.desk import Desk
from examples.orders.payments import payment_service
from examples.orders.server import make_server
from mcpcore.boundary import call_log
from mcpcore.client import calling
from mcpcore.testing import failing
from mcpcore.testing.fault_report import read_log, report_of
from mcpcore.testing.faults import logging_calls
from mcpcore.testing.servers import declared_tools

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore import Server
    from mcpcore.client import CallPolicy

PAGE: Final = Path(__file__).parents[1] / "results" / "orders-agents.md"


class Clock:
    """A clock that is put forward instead of waiting."""

    skipped = 0.0

    async def sleep(self, seconds: float) -> None:
        """Put the clock forward."""
        self.skipped += seconds

    def current_time(self) -> float:
        """Seconds, as `anyio.current_time`."""
        return anyio.current_time() + self.skipped

    def now(self, zone: Any) -> datetime:
        """The time, as `datetime.now`."""
        return datetime.now(zone) + timedelta(seconds=self.skipped)

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Have the policy wait, and the log of calls tell the time, by this clock."""
        fast = SimpleNamespace(move_on_after=anyio.move_on_after, sleep=self.sleep, current_time=self.current_time)
        with patch.object(calling, "anyio", fast), patch.object(call_log, "datetime", SimpleNamespace(now=self.now)):
            yield


class Outcome(NamedTuple):
    """How an errand ended: the word of the table, the tool calls, and the seconds that were waited."""

    verdict: str
    calls: int
    waited: float

    def __str__(self) -> str:
        waited = f", {self.waited:.0f} s" if self.waited else ""
        return f"{self.verdict}: {self.calls} call{'' if self.calls == 1 else 's'}{waited}"


async def control(server: Any, clerk: Clerk, _: CallPolicy) -> None:
    """No integration and no policy: the same call up to twice more after any failure."""
    async with Client(server, cache=None) as client:
        for call in iter(clerk.next_call, None):
            result = await client.call_tool(call.tool, call.arguments)
            for _retry in range(2):
                if result.is_error:
                    result = await client.call_tool(call.tool, call.arguments)
            clerk.read("\n".join(block.text for block in result.content if isinstance(block, TextContent)))


AGENTS: Final = {**FRAMEWORKS, "control": control}


def errand_of(tool: str, reason: str, customer: str, order_id: int) -> Clerk:
    """An errand for `tool` that a failure with `reason` fits."""
    item = "lmap" if reason == "no_item" else "lamp"
    buy: dict[str, Any] = {"customer": customer, "item": item, "quantity": 2}
    if reason == "key_reused":
        buy["idempotency_key"] = f"{customer}-1"
    paid = r"""status['"]: ?['"]paid"""
    match tool:
        case "stock":
            return Clerk(Call(tool, {"item": item}), r"""name['"]: ?['"]lamp""", customer)
        case "refund":
            number = 999_999 if reason == "no_order" else order_id
            return Clerk(Call(tool, {"order_id": number}), r"""status['"]: ?['"]refunded""", customer)
        case "place_orders":
            lines = [{"item": item, "quantity": 2}]
            return Clerk(Call(tool, {"customer": customer, "lines": lines}), paid, customer)
    return Clerk(Call(tool, buy), paid, customer)


def verdict_of(clerk: Clerk, desk: Desk, reports: list[str]) -> str:
    """The word of the table for an errand that has ended."""
    orders = [order.status for order in desk.find(clerk.customer)]
    wanted = {"stock": [], "refund": ["refunded"]}.get(clerk.call.tool, ["paid"])
    before = ["paid"] if clerk.call.tool == "refund" else []
    # A report that the call may have taken effect is true either way.
    truths = [before, wanted] if "may have taken effect" in clerk.reported else [before]
    if any(verdict != "allowed" for verdict in reports):
        return f"not ({', '.join(sorted({*reports} - {'allowed'}))})"
    if clerk.is_done:
        return "recovered" if orders == wanted else "not (wrong orders)"
    return "stopped rightly" if clerk.reported and orders in truths else "not (wrong report)"


async def run_errand(server: Server, desk: Desk, framework: str, tool: str, fault: str, customer: str) -> Outcome:
    """Run an errand through a framework while `tool` fails."""
    order_id = desk.place(customer, "lamp", 1, card="visa").id if tool == "refund" else 0
    # The agent knows the customer, which `refund` does not take.
    lookups = {"list_items": lambda _: {}, "find_orders": lambda _: {"customer": customer}}
    clerk, clock = errand_of(tool, fault.partition(",")[0], customer, order_id), Clock()
    with tempfile.TemporaryDirectory() as folder, clock.installed(), redirect_stdout(StringIO()):
        path = Path(folder) / "calls.jsonl"
        with logging_calls(server, call_log.CallLog(path)):
            async with failing(server, {tool: fault}):
                await AGENTS[framework](server, clerk, replace(POLICY, jitter=0.0, fallbacks=lookups))
        # Some frameworks open a session for each call; it is one agent all the same.
        lines = [(number, {**line, "session": 1}) for number, line in read_log(path.read_text().splitlines())]
    return Outcome(verdict_of(clerk, desk, [met.verdict for met in report_of(lines)]), len(lines), clock.skipped)


async def measure() -> dict[str, dict[str, Outcome]]:
    """The outcomes by fault and framework."""
    outcomes: dict[str, dict[str, Outcome]] = {}
    with (
        payment_service() as payments,
        tempfile.TemporaryDirectory() as folder,
        Desk(Path(folder) / "orders.db", payments.url, timeout=20) as desk,
    ):
        server = make_server(desk, log_level="CRITICAL")
        logging.getLogger("mcpcore").setLevel(logging.CRITICAL)
        for tool, declaration in (await declared_tools(server)).items():
            for entry in declaration.contract:
                # A failure with unknown effects is also raised after the handler has run.
                for fault in (entry.reason, *((f"{entry.reason},after",) if entry.effects == "unknown" else ())):
                    for times in ("once", "always"):
                        row = outcomes[f"`{tool}` | {fault.replace(',', ' ')}, {times}"] = {}
                        text = f"{fault},first=1" if times == "once" else fault
                        for framework in AGENTS:
                            customer = f"c{len(outcomes)}-{framework}"
                            row[framework] = await run_errand(server, desk, framework, tool, text, customer)
    return outcomes


EXPLANATION: Final = """\
# Each declared failure, and five agents

`python -m bench.orders.agents` writes this page. An agent runs an errand at the order desk of `examples/orders` while a
tool fails with a declared reason: once, or at every call. *after* means that the handler did its work first. The model
is a script that reads the text of each answer and follows the recovery in it, once for each reason. Failed calls follow
the policy of `examples/orders/agent.py`. `mcpcore.testing.fault_report` judges the calls that reached the server.

- **recovered**: the errand is done in the end, the database has the orders that the customer wants and no other, and no
  call was against the advice.
- **stopped rightly**: no call was against the advice, the agent reports that the errand is not done, and the database
  is as before. If the report says that the call may have taken effect, it may also be as wanted.
- **not**: all else, with what is wrong.

The last column is a control, which shows what the judge finds: no integration and no policy, only the same call up to
twice more after any failure.

A cell has the calls that reached the server, and the seconds that the agent waited by a clock that is put forward.
"""


def page(outcomes: dict[str, dict[str, Outcome]]) -> str:
    """The outcomes in Markdown."""
    words = ("recovered", "stopped rightly", "not")
    lines = [EXPLANATION, f"| integration | {' | '.join(words)} | calls | waited |", "|---|---:|---:|---:|---:|---:|"]
    for framework in AGENTS:
        column = [row[framework] for row in outcomes.values()]
        counts = [str(sum(outcome.verdict.startswith(word) for outcome in column)) for word in words]
        calls, waited = sum(outcome.calls for outcome in column), sum(outcome.waited for outcome in column)
        lines.append(f"| {framework} | {' | '.join(counts)} | {calls} | {waited:.0f} s |")
    lines += ["", f"| tool | failure | {' | '.join(AGENTS)} |", f"|---|---|{'---|' * len(AGENTS)}"]
    lines += [f"| {name} | {' | '.join(map(str, row.values()))} |" for name, row in outcomes.items()]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Run the errands; 1 if an agent did neither recover nor stop rightly."""
    parser = argparse.ArgumentParser(prog="python -m bench.orders.agents", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="only print the figures")
    quick = parser.parse_args().quick
    outcomes = anyio.run(measure)
    print(page(outcomes))
    if not quick:
        PAGE.write_text(page(outcomes), encoding="utf-8")
    missed = [name for name in FRAMEWORKS if any(row[name].verdict.startswith("not") for row in outcomes.values())]
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
