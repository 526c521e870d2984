"""`mcpcore explain`, on a server in a file with a trail and tests."""

from __future__ import annotations

import json

import anyio
import pytest
from click.testing import CliRunner
from mcp import Client

from mcpcore.cli.loading import Target, load
from mcpcore.cli.root import cli
from tests.files import write_files

SERVER = '''
from typing import Literal

from mcpcore import Context, ErrorCode, FailureMode, Server, tool

NO_ORDER = FailureMode(
    "no_order",
    ErrorCode.NOT_FOUND,
    when="There is no order of that id.",
    recovery="Call list_orders to see the ids.",
    fallback_tool="list_orders",
    effects="none",
)
BUSY = FailureMode("busy", ErrorCode.RATE_LIMITED, when="Too many calls.", recovery="Wait.")


@tool(errors=[NO_ORDER, BUSY])
def get_order(ctx: Context[Literal["no_order", "busy"]], order_id: str) -> str:
    """Get an order."""
    raise ctx.fail("no_order")


@tool(errors=[NO_ORDER])
def cancel_order(ctx: Context[Literal["no_order"]], order_id: str) -> str:
    """Cancel an order."""
    raise ctx.fail("no_order")


@tool
def list_orders() -> list[str]:
    """The ids of all orders."""
    return []


server = Server("orders", tools=[get_order, cancel_order, list_orders], audit="audit.jsonl")
'''
TESTS = """
from mcpcore.testing import assert_fails, raises_reason


def test_one(result):
    assert_fails(result, "no_order")


def test_two(result):
    with raises_reason(reason="no_order"):
        pass
    assert_fails(result, "busy_too")
    print("no_order")
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder with a server, its tests and a trail of two failures."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MCPCORE_AUDIT", raising=False)
    write_files(tmp_path, {"server.py": SERVER, "tests/test_orders.py": TESTS, "tests/broken.py": '"no_order" ('})

    async def fail() -> None:
        async with Client(load(Target.parse("server.py"), ())) as client:
            for _ in range(2):
                await client.call_tool("get_order", {"order_id": "A"})

    anyio.run(fail)
    record = json.loads((tmp_path / "audit.jsonl").read_text().splitlines()[-1])
    with (tmp_path / "audit.jsonl").open("a") as trail:
        trail.write(json.dumps(record | {"injected": True}) + "\n")
    return tmp_path


def explain(*arguments):
    return CliRunner().invoke(cli, ["explain", *arguments])


def test_a_reason_is_explained(project):
    """The contract, the places in code and tests, and the trail, in which an injected failure does not count."""
    done = explain("server.py", "no_order", "--tool", "get_order", "--trail", "audit.jsonl")
    assert 0 == done.exit_code, done.output
    rows = {line[:13].strip(): line[15:] for line in done.stdout.splitlines()[2:]}
    assert done.stdout.startswith("no_order  tool get_order  NOT_FOUND\n\n")
    last = rows.pop("Seen")
    assert last.startswith("2 times, last at 20")
    assert last.endswith("Z (audit.jsonl)")
    assert {
        "When": "There is no order of that id.",
        "Recovery": "Call list_orders to see the ids.",
        "Fallback tool": "list_orders",
        "Advice": "not retryable",
        "Effects": "nothing was changed",
        "Raised at": "server.py:20 (get_order)",
        "Tested at": "tests/test_orders.py:6, tests/test_orders.py:10",
    } == rows


def test_every_tool_that_declares_it_has_a_page(project, monkeypatch):
    """The trail may be named by the variable, as for a server."""
    monkeypatch.setenv("MCPCORE_AUDIT", "audit.jsonl")
    done = explain("server.py", "no_order", "--static")
    tools = [line.split()[2] for line in done.stdout.splitlines() if line.startswith("no_order")]
    assert ["cancel_order", "get_order"] == sorted(tools)
    assert 2 == done.stdout.count("Call list_orders to see the ids.")
    assert "never (audit.jsonl)" in done.stdout


def test_what_is_not_known_is_said(project):
    """No code raises it, no test asserts it, no trail was read."""
    done = explain("server.py", "busy", "--tests", "missing")
    assert 0 == done.exit_code
    for words in ("no known code raises it", "no test found that asserts it", "no trail was read"):
        assert words in done.stdout


def test_a_declaration_by_exception_is_a_place(project):
    """It raises the failure wherever that exception leaves the tool."""
    made = 'when="Too many calls.", recovery="Wait.")'
    (project / "server.py").write_text(SERVER.replace(made, f"{made}.on(TimeoutError)"))
    assert "Raised at  server.py:14 (get_order)" in explain("server.py", "busy").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["server.py", "no_ordr"], "server.py declares no reason 'no_ordr'.\nNext: did you mean 'no_order'?"),
        (["server.py", "zzz"], "Next: it declares busy, no_order"),
        (
            ["server.py", "no_order", "--tool", "get_ordr"],
            "server.py has no 'get_ordr'.\nNext: did you mean 'get_order'?",
        ),
        (["server.py", "no_order", "--tool", "list_orders"], "Next: it declares no failure modes"),
        (["server.py", "no_order", "--trail", "tests"], "is a directory"),
        (["server.py", "no_order", "--trail", "none.jsonl"], "the trail none.jsonl cannot be read: "),
        (["missing.py", "no_order"], "the file missing.py does not exist"),
    ],
)
def test_bad_input_says_what_there_is(project, arguments, message):
    """The command exits with 2."""
    done = explain(*arguments)
    assert (2, "") == (done.exit_code, done.stdout)
    assert message in done.stderr
