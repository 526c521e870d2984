"""How the commands of `mcpcore audit` and the page count and show broken contracts and lost failures."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from mcp import Client

from mcpcore import Context, ErrorCode, FailureMode, Server, conflict, not_found
from mcpcore.audit import AuditTrail, stats as stats_module, verify
from mcpcore.audit.kinds import BREACH_KINDS
from mcpcore.audit.reading import Query, follow
from mcpcore.audit.stats import collect
from mcpcore.cli.audit import group
from mcpcore.contract.unraised import MAX_NOTED
from tests.answers import ask
from tests.audit.conftest import written

ERRORS = [FailureMode("no_match", ErrorCode.NOT_FOUND, when="Nothing matches.", recovery="Search for articles first.")]


def run(*arguments: object) -> str:
    result = CliRunner().invoke(group, [str(argument) for argument in arguments])
    assert 0 == result.exit_code, result.output
    return result.stdout


def calls(path: Path, *hows: str, strict: bool = False) -> None:
    """Call the tools of a server in each of these ways."""
    server: Server[Any] = Server("s", audit=path, strict=strict)

    def act(ctx: Context[Any], how: str) -> str:
        if how == "declared":
            raise ctx.fail("no_match")
        if how == "undeclared":
            raise conflict("x", reason="typo")
        if how == "other code":
            raise conflict("x", reason="no_match")
        if how == "reserved key":
            raise ctx.fail("no_match", data={"recovery": "x"})
        if how == "lost":
            _ = [ctx.fail("no_match") for _ in range(3)]
        return "done"

    server.add_tool(act, name="fetch", errors=ERRORS)
    server.add_tool(act, name="save", errors=ERRORS)

    async def ask() -> None:
        async with Client(server) as client:
            for how in hows:
                await client.call_tool("fetch", {"how": how})
            await client.call_tool("save", {"how": "lost"})

    asyncio.run(ask())


HOWS = ("declared", "undeclared", "undeclared", "other code", "reserved key", "lost")


@pytest.mark.usefixtures("door")
def test_stats_count_broken_contracts_by_tool_and_kind(path: Path) -> None:
    """Lost failures are counted only there, because no client saw them."""
    calls(path, *HOWS)
    lines = run("stats", path).splitlines()
    assert "5 failures" == lines[0]
    start = lines.index("Broken contracts (lost failures reached no client)")
    rows = [re.split(r"  +", line)[:3] for line in lines[start + 2 :]]
    assert [
        ["TOOL", "KIND", "TIMES"],
        ["fetch", "lost", "3"],
        ["save", "lost", "3"],
        ["fetch", "undeclared reason", "2"],
        ["fetch", "data", "1"],
        ["fetch", "wrong code", "1"],
    ] == rows
    counted = json.loads(run("stats", path, "--json"))
    assert (5, 0) == (counted["total"], counted["lost"])
    assert 5 == sum(group["count"] for group in counted["groups"]) == sum(counted["series"])
    assert {("fetch", "lost", 3), ("save", "lost", 3), ("fetch", "undeclared_reason", 2)} < {
        (violation["tool"], violation["kind"], violation["count"]) for violation in counted["brokenContracts"]
    }
    assert all(violation["last"] for violation in counted["brokenContracts"])
    page = path.with_name("page.html")
    run("stats", path, "--html", page)
    html = page.read_text()
    assert "<h2>Broken contracts</h2>" in html
    assert "<td><code>fetch</code></td><td>undeclared reason</td><td class=n>2</td>" in html
    assert "<p>5 failures, " in html
    assert verify(path).ok


@pytest.mark.usefixtures("door")
def test_stats_of_a_strict_server(path: Path) -> None:
    """Each failed call counts as a failure that a client saw and as a broken contract."""
    calls(path, *HOWS, strict=True)
    counted = json.loads(run("stats", path, "--json"))
    assert 7 == counted["total"]
    assert {("fetch", "lost", 1), ("save", "lost", 1), ("fetch", "undeclared_reason", 2)} < {
        (violation["tool"], violation["kind"], violation["count"]) for violation in counted["brokenContracts"]
    }


def test_stats_without_broken_contracts_have_no_table(path: Path) -> None:
    """There is nothing to report."""
    written(path, 1)
    assert "Broken contracts" not in run("stats", path)
    assert [] == json.loads(run("stats", path, "--json"))["brokenContracts"]
    page = path.with_name("page.html")
    run("stats", path, "--html", page)
    assert "Broken contracts" not in page.read_text()


@pytest.mark.usefixtures("door")
def test_a_lost_failure_is_shown_as_lost(path: Path) -> None:
    """It shows the violation, and can be found by tool, reason and id, and followed."""
    calls(path, "declared")
    sent, lost = (json.loads(line) for line in path.read_text().splitlines())
    shown = run("show", path, "--id", lost["correlationId"], "--reason", "no_match", "--tool", "save").splitlines()
    assert "save  NOT_FOUND  no_match  lost  id " in shown[0]
    assert any(line.startswith("    broken contract: made a failure, NOT_FOUND") for line in shown)
    assert "lost" not in run("show", path, "--id", sent["correlationId"])
    assert "  lost  " in run("tail", path)
    assert [] == list(follow(path, Query(), count=0, idle=lambda: False))
    assert ["no_match", "no_match"] == [
        record["reason"] for record in follow(path, Query(), count=2, idle=lambda: False)
    ]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"broken_contract": "x"}, [("other", 1)]),
        ({"broken_contract": "x", "broken_contract_kinds": "lost"}, [("other", 1)]),
        ({"broken_contract": "x", "broken_contract_kinds": [["lost"], 1, {"a": 1}, "forged"]}, [("other", 1)]),
        (
            {"broken_contract": "x", "broken_contract_kinds": ["data", "data", "wrong_code"]},
            [("data", 1), ("wrong_code", 1)],
        ),
        ({"broken_contract": "x", "broken_contract_kinds": ["data"], "count": 7}, [("data", 1)]),
        ({"broken_contract": "x", "broken_contract_kinds": ["lost"], "count": 10**400}, [("lost", 1)]),
        ({"broken_contract": "x", "broken_contract_kinds": ["lost"], "count": True}, [("lost", 1)]),
        ({"broken_contract": "x", "broken_contract_kinds": ["lost"], "count": -1}, [("lost", 1)]),
        ({"broken_contract": "x", "broken_contract_kinds": ["lost"], "count": MAX_NOTED}, [("lost", MAX_NOTED)]),
        ({"broken_contract_kinds": ["lost"]}, []),
    ],
)
def test_records_of_every_shape_are_counted(failure: Any, fields: dict[str, Any], expected: list[Any]) -> None:
    """Records of earlier versions have no kinds, and a forged line may contain anything."""
    stats = collect([failure(1, **fields)])
    assert expected == [(broken.kind, broken.count) for broken in stats.broken]
    assert all(broken.kind in BREACH_KINDS for broken in stats.broken)


def test_a_record_without_a_time_is_counted(failure: Any) -> None:
    """The time of its last occurrence is unknown."""
    (broken,) = collect([failure(1, timestamp="soon", broken_contract="x")]).broken
    assert (1, None) == (broken.count, broken.last)


def test_a_trail_of_very_many_resources_is_counted_in_bounded_memory(
    failure: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Later ones are counted as one."""
    monkeypatch.setattr(stats_module, "MAX_GROUPS", 2)
    records = [failure(n, tool=f"t{n}", broken_contract="x", broken_contract_kinds=["data"]) for n in range(5)]
    assert [("(all others)", 3), ("t0", 1), ("t1", 1)] == [
        (violation.tool, violation.count) for violation in collect(records).broken
    ]


def test_a_record_without_its_details_still_says_that_it_was_lost(path: Path, failure: Any) -> None:
    """Only the summary of a message that is too long for a record is kept."""
    with AuditTrail.open(path, sinks=()) as trail:
        trail.record(failure(1, message="x" * 400_000, outcome="lost", count=3, broken_contract="y" * 400_000))
    (record,) = (json.loads(line) for line in path.read_text().splitlines())
    assert ("lost", 3) == (record["outcome"], record["count"])


@pytest.mark.usefixtures("door")
def test_a_record_that_is_cut_still_says_that_it_was_lost(path: Path) -> None:
    """The data of the failure may be of any length."""
    server: Server[Any] = Server("s", audit=path)

    def act() -> str:
        not_found("x" * 400_000, {f"k{n}": "y" * 3_000 for n in range(200)})
        return "done"

    server.add_tool(act, name="fetch", errors=ERRORS)

    ask(Client(server), lambda client: client.call_tool("fetch", {}))
    (record,) = (json.loads(line) for line in path.read_text().splitlines())
    assert ("lost", 1) == (record["outcome"], record["count"])
    assert not collect([record]).total
