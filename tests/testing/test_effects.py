"""The effects that failures declare, held against the world before and after each call."""

from __future__ import annotations

import re
import sqlite3
from contextlib import nullcontext
from typing import Literal

import anyio
import pytest
from mcp.shared.exceptions import MCPError

from mcpcore import Context, ErrorCode, FailureMode, Server, resource, tool
from mcpcore.testing import contract_suite, tool_client
from tests.doors import DOORS, behind

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("framework", DOORS)]

FULL = FailureMode("full", ErrorCode.CONFLICT, when="Full.", recovery="Stop.", effects="none")
HALF = FailureMode("half", ErrorCode.CONFLICT, when="Half.", recovery="Stop.", effects="partial")
LOST = FailureMode("lost", ErrorCode.TIMEOUT, when="Lost.", recovery="Look.", effects="unknown")


class Store:
    """A tool whose arguments say how it fails, and whether it writes."""

    def __init__(self) -> None:
        self.rows: list[str] = []

    @tool(errors=[FULL, HALF, LOST])
    async def put(self, ctx: Context[Literal["full", "half", "lost"]], reason: str, write: bool) -> str:
        """Put a row."""
        await anyio.sleep(0.01)
        if write:
            self.rows.append("secret row")
        if reason:
            raise ctx.fail(reason)
        return "done"

    @tool(read_only=True)
    def look(self, broken: bool) -> int:
        """Look, and write although it says that it only reads."""
        if broken:
            self.rows.append("x")
            raise KeyError(broken)
        return len(self.rows)

    def server(self) -> Server:
        return Server("store", tools=[self.put, self.look])


@pytest.mark.parametrize(
    ("reason", "write", "broken"),
    [
        ("full", False, None),
        (
            "full",
            True,
            "put failed with full, which says that nothing was changed, but the state changed (before: [], after",
        ),
        ("half", True, None),
        ("half", False, "put failed with half, which says that something was changed, but the state is unchanged: []"),
        ("lost", True, None),
        ("lost", False, None),
        ("", True, None),
        ("", False, None),
    ],
)
async def test_a_claim_that_is_not_true_fails_the_test(reason, write, broken, framework):
    """The probe may return the very list that the call changes; a failure without effects is not judged."""
    store = Store()
    server = behind(framework, store.server())
    expected = nullcontext() if broken is None else pytest.raises(AssertionError, match=re.escape(broken))
    with expected:
        async with tool_client(server, state=lambda: store.rows) as client:
            await client.call_tool("put", {"reason": reason, "write": write})


async def test_a_crash_of_a_tool_that_only_reads_is_judged_too(framework):
    """Its annotation says that nothing was changed."""
    store = Store()

    async def rows() -> int:
        return len(store.rows)

    with pytest.raises(AssertionError, match=r"look failed with \w+, which says that nothing was changed"):
        async with tool_client(behind(framework, store.server()), strict=None, state=rows) as client:
            await client.call_tool("look", {"broken": True})


async def test_calls_that_overlap_are_not_judged(framework):
    """Each of them could have made the change."""
    store = Store()
    server = behind(framework, store.server())
    async with tool_client(server, state=lambda: store.rows) as client, anyio.create_task_group() as group:
        group.start_soon(client.call_tool, "put", {"reason": "full", "write": False})
        group.start_soon(client.call_tool, "put", {"reason": "", "write": True})


async def test_the_suite_of_a_server_has_every_test_checked(framework):
    """With `state=`, each `tool_client` of that server checks by itself, and no other server's does."""
    store, other = Store(), Store()
    server, unwatched = behind(framework, store.server()), behind(framework, other.server())
    contract_suite(server, state=lambda: store.rows)
    async with tool_client(unwatched) as client:
        await client.call_tool("put", {"reason": "full", "write": True})
    with pytest.raises(AssertionError, match="put failed with full"):
        async with tool_client(server) as client:
            await client.call_tool("put", {"reason": "full", "write": True})


async def test_the_tests_own_failure_comes_first(framework):
    """An assertion in the test is raised, and the broken claim is its note."""
    store = Store()

    async def failing_test() -> None:
        async with tool_client(behind(framework, store.server()), state=lambda: store.rows) as client:
            await client.call_tool("put", {"reason": "full", "write": True})
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as raised:
        await failing_test()
    assert re.search("put failed with full", "".join(raised.value.__notes__))


class Identical:
    """An object that equals only itself."""


@pytest.mark.parametrize("kind", ["rows", "cursor", "keys", "generator", "nested"])
async def test_the_probe_may_return_rows_cursors_and_views(kind, framework):
    """A row of SQLite cannot be copied, and the keys of a dict change with it."""
    store, database = Store(), sqlite3.connect(":memory:", check_same_thread=False)
    database.row_factory = sqlite3.Row
    database.execute("create table t (a)")
    table: dict[str, int] = {}

    def probe():
        for name in store.rows[len(table) :]:
            table[name + str(len(table))] = 1
            database.execute("insert into t values (1)")
        return {
            "rows": lambda: database.execute("select * from t").fetchall(),
            "cursor": lambda: database.execute("select * from t"),
            "keys": table.keys,
            "generator": lambda: (name for name in store.rows),
            "nested": lambda: {"all": (store.rows, table.values())},
        }[kind]()

    server = behind(framework, store.server())
    async with tool_client(server, state=probe) as client:
        await client.call_tool("put", {"reason": "full", "write": False})
        await client.call_tool("put", {"reason": "half", "write": True})
    with pytest.raises(AssertionError, match="put failed with full"):
        async with tool_client(server, state=probe) as client:
            await client.call_tool("put", {"reason": "full", "write": True})
    database.close()


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (lambda: 1 / 0, "the probe of state= failed: ZeroDivisionError: division by zero"),
        (
            anyio.Lock,
            r"state= returns a \w*Lock\w* that does not equal its own copy|the probe of state= failed: TypeError",
        ),
        (lambda: re, "the probe of state= failed: TypeError: cannot pickle 'module' object"),
        (Identical, "state= returns a Identical that does not equal its own copy, so no change can be seen"),
        (lambda: [Identical()], "state= returns a list that does not equal its own copy"),
    ],
)
async def test_a_probe_that_cannot_be_compared_is_reported_once(value, problem, framework):
    """The server would mask its exception, and objects without `==` would look like a change at each call."""

    async def fail_twice() -> None:
        async with tool_client(behind(framework, Store().server()), state=value) as client:
            for _ in range(2):
                assert (await client.call_tool("put", {"reason": "full", "write": False})).is_error

    with pytest.raises(AssertionError) as raised:
        await fail_twice()
    assert re.fullmatch(f"(?:{problem}).*", str(raised.value))


async def test_resources_and_prompts_are_judged_too(framework):
    """They fail with an error of the protocol, which keeps its envelope."""
    rows: list[str] = []

    @resource("store://rows", errors=[FULL])
    def all_rows(ctx: Context[Literal["full"]]) -> str:
        """The rows."""
        rows.append("x")
        raise ctx.fail("full")

    server = behind(framework, Server("store", resources=[all_rows]))

    async def read() -> None:
        async with tool_client(server, state=lambda: rows) as client:
            with pytest.raises(MCPError):
                await client.read_resource("store://rows")

    with pytest.raises(AssertionError, match=r"^store://rows failed with full, which says that nothing was changed"):
        await read()
