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
            recovery="Call find_order first, use list_ordes or try `seek_one`. Use snake_case names, or use order_id.",
            fallback_tool="list_order",
            corrective_params={"order": "A-1", "order_id": 1},
        )
    ]
)
def drop_order(ctx: Context[Literal["gone"]], order_id: Annotated[int, Field(examples=["x"])]) -> str:
    raise ctx.fail("gone")


def on_server(*tools: Any, **options: Any) -> Any:
    return Server("orders", tools=tools, **options)


class Remote(FastMCP[Any]):
    """It cannot say which tools it has before it runs."""

    async def list_tools(self, **options: Any) -> Any:
        if not self._started.is_set():
            raise RuntimeError("not started")
        return await super().list_tools(**options)


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
    for part in (
        "'gone': there is no fallback tool 'list_order'; did you mean 'list_orders'?",
        "the recovery names 'find_order', and there is no such tool",
        "the recovery names 'list_ordes', and there is no such tool; did you mean 'list_orders'?",
        "the recovery names 'seek_one', and there is no such tool",
    ):
        assert part in hints
    assert 5 == len(hints.splitlines())
    assert "corrective_params has 'order', which is no argument of the tool; did you mean 'order_id'?" in hints
    assert "the tool has no description" in outcomes["test_descriptions-drop_order"]
    assert "the example 'x' of the argument 'order_id' does not fit" in outcomes["test_examples-drop_order"]
    assert not any(text for name, text in outcomes.items() if name.endswith("list_orders"))


def test_tools_of_other_servers() -> None:
    """They are named by the server, by its middleware or by the suite."""
    names = ["list_order", "find_order", "list_ordes", "seek_one"]
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


def test_tools_that_are_known_once_the_server_runs() -> None:
    """A server may be unable to list them before; it may also list them in pages."""
    mcp = Remote("orders", list_page_size=1)
    for added in (drop_order, list_orders):
        mcp.add_tool(added)
    (problems,) = results(contract_suite(mcp)).values()
    assert "drop_order: the tool has no description" in problems
    assert "list_orders:" not in problems


ENTRY = {"reason": "lost", "name": "NOT_FOUND", "when": "It is lost.", "recovery": "Stop."}
BROKEN: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "input schema": ({"type": "object", "properties": {"a": {"type": "text"}}}, ENTRY, "the input schema is invalid: "),
    "examples": (
        {"type": "object", "required": ["a"], "examples": [{"a": 1}, {}], "properties": {"a": {"type": "integer"}}},
        ENTRY,
        "the example {} of the arguments does not fit: it: 'a' is a required property",
    ),
    "reference": (
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/none", "examples": [1]}}},
        ENTRY,
        "the example 1 of the argument 'a' does not fit: the schema cannot be used: ",
    ),
    "example of a failure": (
        {"type": "object"},
        {**ENTRY, "dataSchema": {"type": "object", "required": ["b"]}, "example": {"a": 1}},
        "the example of 'lost' does not fit its data model: it: 'b' is a required property",
    ),
    "data model": (
        {"type": "object"},
        {**ENTRY, "dataSchema": {"type": "text"}},
        "'lost': the schema of the data is invalid: ",
    ),
}


@pytest.mark.parametrize(("schema", "entry", "problem"), BROKEN.values(), ids=BROKEN)
def test_what_a_plain_server_may_list(schema: dict[str, Any], entry: dict[str, Any], problem: str) -> None:
    """Schemas, and a contract in the metadata, that were written by hand."""
    plain = MCPServer("plain")
    plain.add_tool(lambda: "yes", name="ask", description="Ask.", meta={"dev.mcpcore/errors": [entry]})
    listed: Any = plain._tool_manager.get_tool("ask")
    listed.parameters = schema
    problems = [text for text in results(contract_suite(plain)).values() if text]
    assert [True] == [problem in text for text in problems], problems


def test_output_schemas() -> None:
    """A failure must fit them, if the client checks the structured content of a failed call."""
    outcomes = results(contract_suite(on_server(get_order, list_orders, advertise_errors=False)))
    assert "the output schema rejects the failure 'no_order'" in outcomes["test_schemas-get_order"]
    plain = MCPServer("plain")
    plain.add_tool(lambda: "yes", name="ask", description="Ask.")
    listed: Any = plain._tool_manager.get_tool("ask")
    vars(listed)["output_schema"] = {"type": "text"}
    assert "the output schema is invalid: " in results(contract_suite(plain))["test_schemas-ask"]


def test_examples_fill_the_declared_texts() -> None:
    """A failure is checked as a client would receive it."""
    plain = MCPServer("plain")
    entry = {**ENTRY, "when": "{a} is lost.", "dataSchema": {"required": ["a"]}, "example": {"a": 1}}
    plain.add_tool(lambda: "yes", name="ask", description="Ask.", meta={"dev.mcpcore/errors": [entry]})
    message = {"properties": {"message": {"const": "1 is lost."}}}
    vars(plain._tool_manager.get_tool("ask"))["output_schema"] = {"type": "object", "properties": {"error": message}}
    assert not any(results(contract_suite(plain)).values())


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


def test_only_servers_are_taken() -> None:
    """The mistake is reported where it is made, and not by a test that fails."""
    with pytest.raises(TypeError, match=r"contract_suite\(\.\.\.\) takes a Server, .* not int"):
        contract_suite(42)
