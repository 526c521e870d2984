"""`contract_suite`: generated tests, run by pytest in another process, and directly."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from fastmcp import FastMCP
from mcp.server.mcpserver import MCPServer
from pydantic import BaseModel, Field

from mcpcore import Context, Contract, ContractError, ErrorCode, FailureMode, Server, tool
from mcpcore.testing import contract_suite


class Missing(BaseModel):
    order_id: str


NO_ORDER = FailureMode(
    "no_order",
    ErrorCode.NOT_FOUND,
    when="There is no order.",
    recovery="Call list_orders to see the ids, or set order_id to another one.",
    fallback_tool="list_orders",
    data=Missing,
    example={"order_id": "A-1"},
)


@tool(errors=[NO_ORDER])
def get_order(ctx: Context[Literal["no_order"]], order_id: Annotated[str, Field(examples=["A-1"])]) -> Missing:
    """Get an order."""
    raise ctx.fail(NO_ORDER, data=Missing(order_id=order_id))


@tool
def list_orders() -> list[str]:
    """List the orders."""
    return []


@tool(
    errors=[
        FailureMode(
            "gone",
            ErrorCode.NOT_FOUND,
            when="It is gone.",
            recovery="Call find_order first.",
            fallback_tool="list_order",
            corrective_params={"order": "A-1"},
        )
    ]
)
def drop_order(ctx: Context[Literal["gone"]], order_id: Annotated[int, Field(examples=["x"])]) -> str:
    raise ctx.fail("gone")


def on_server(*tools: Any, **options: Any) -> Any:
    return Server("orders", tools=tools, **options)


def on_fastmcp(*tools: Any, **options: Any) -> Any:
    mcp: FastMCP[Any] = FastMCP("orders", **options)
    for added in tools:
        mcp.add_tool(added)
    return mcp


KINDS = pytest.mark.parametrize("make", [on_server, on_fastmcp], ids=["Server", "FastMCP"])


def results(suite: type[Any]) -> dict[str, str]:
    """The outcome of each generated test, as pytest would run it."""
    outcomes: dict[str, str] = {}
    for name, test in vars(suite).items():
        if not name.startswith("test_"):
            continue
        marks = getattr(test, "pytestmark", [])
        for values in [(value,) for value in marks[0].args[1]] if marks else [()]:
            try:
                test(suite(), *values)
            except AssertionError as exc:
                outcomes["-".join((name, *values))] = str(exc)
            else:
                outcomes["-".join((name, *values))] = ""
    return outcomes


@KINDS
def test_good_contracts_pass(make: Any) -> None:
    """Each tool is a parameter of each check."""
    outcomes = results(contract_suite(make(get_order, list_orders)))
    assert not [text for text in outcomes.values() if text]
    assert 11 == len(outcomes)
    assert "test_hints-get_order" in outcomes


@KINDS
def test_bad_contracts_fail(make: Any) -> None:
    """The message names the tool, the entry and what to change."""
    outcomes = results(contract_suite(make(drop_order, list_orders)))
    hints = outcomes["test_hints-drop_order"]
    assert "'gone': there is no fallback tool 'list_order'; did you mean 'list_orders'?" in hints
    assert "the recovery names 'find_order', and there is no such tool" in hints
    assert "corrective_params has 'order', which is no argument of the tool; did you mean 'order_id'?" in hints
    assert "the tool has no description" in outcomes["test_descriptions-drop_order"]
    assert "the example 'x' of the argument 'order_id' does not fit" in outcomes["test_examples-drop_order"]
    assert not any(text for name, text in outcomes.items() if name.endswith("list_orders"))


def test_tools_of_other_servers() -> None:
    """They are named by the server, by its middleware or by the suite."""
    names = ["list_order", "find_order"]
    for suite in (
        contract_suite(on_server(drop_order, external_tools=names)),
        contract_suite(on_fastmcp(drop_order), external_tools=names),
    ):
        assert "fallback" not in results(suite)["test_hints-drop_order"]
        assert "find_order" not in results(suite)["test_hints-drop_order"]


def test_an_example_that_does_not_fit() -> None:
    """It is refused where the tool is declared; one that fits is listed with the contract."""
    wrong = FailureMode(
        "wrong", ErrorCode.NOT_FOUND, when="Wrong.", recovery="Stop.", data=Missing, example={"order_id": 7}
    )
    with pytest.raises(ContractError, match=r"errors\[0\].*the example does not fit the type: order_id"):

        @tool(errors=[wrong])
        def fail(ctx: Context[Literal["wrong"]]) -> str:
            """Fail."""
            raise ctx.fail(wrong, data=Missing(order_id="x"))

    (entry,) = get_order.contract.to_json()
    assert isinstance(entry, dict)
    assert {"order_id": "A-1"} == entry["example"]
    listed = {"_meta": {"dev.mcpcore/errors": [entry, {**entry, "reason": "other", "example": 7}]}}
    assert [{"order_id": "A-1"}, None] == [mode.example for mode in Contract.from_listing(listed)]


def test_tools_of_the_lifespan() -> None:
    """They are known only once the server runs."""

    @asynccontextmanager
    async def lifespan(server: Any) -> AsyncIterator[None]:
        server.add_tool(drop_order)
        yield

    outcomes = results(contract_suite(on_server(list_orders, lifespan=lifespan)))
    assert "drop_order: the tool has no description" in outcomes["test_tools_of_the_running_server"]


def test_servers_without_contracts() -> None:
    """A server of the SDK, and its low-level server, whose tools are known once it runs."""
    plain = MCPServer("plain")
    plain.add_tool(lambda: "yes", name="ask")
    assert "no description" in results(contract_suite(plain))["test_descriptions-ask"]
    assert (
        "ask: the tool has no description"
        in results(contract_suite(plain._lowlevel_server))["test_tools_of_the_running_server"]
    )


def test_pytest_collects_any_name(tmp_path: Path) -> None:
    """As a class or as a test, next to other tests; an unrelated class is not collected."""
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_it.py").write_text(
        "from mcpcore import Server, tool\nfrom mcpcore.testing import contract_suite\n"
        "@tool\ndef ask() -> str:\n    '''Ask.'''\n    return 'yes'\n"
        "server = Server('s', tools=[ask])\n"
        "TestContracts = contract_suite(server)\ntest_contracts = contract_suite(server)\n"
        "class Other:\n    def test_it(self): raise AssertionError\n"
    )
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:langsmith_plugin", "-v"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert "12 passed" in done.stdout, done.stdout
    assert "test_contracts::test_schemas[ask]" in done.stdout
