"""Failures of a proxied server are passed on, and recorded once as failures of the server that owns them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from fastmcp import Client, FastMCP
from fastmcp.server import create_proxy
from mcp.shared.exceptions import MCPError

from mcpcore import Server, prompt, resource, tool
from mcpcore.cli.audit import group
from mcpcore.integrations.fastmcp import ContractMiddleware
from tests.answers import outcome_of, settled
from tests.integrations.fastmcp.contract_server import GONE, Ctx, extended, records


@tool(errors=[GONE])
async def look(ctx: Ctx) -> str:
    raise ctx.fail("gone", data={"year": 2020})


@resource("articles://all", errors=[GONE])
async def articles(ctx: Ctx) -> str:
    raise ctx.fail("gone", data={"year": 2020})


@prompt(errors=[GONE])
async def summarise(ctx: Ctx) -> str:
    raise ctx.fail("gone", data={"year": 2020})


def backend(kind: str, **options: Any) -> Any:
    """An mcpcore or FastMCP server whose tool, resource and prompt fail."""
    if kind == "server":
        return Server("backend", tools=[look], resources=[articles], prompts=[summarise], **options)
    return extended(FastMCP("backend"), ContractMiddleware(**options), look, articles, summarise)


def in_front_of(server: Any, name: str = "front", **options: Any) -> FastMCP[Any]:
    mcp = extended(FastMCP(name), ContractMiddleware(**options))
    mcp.mount(create_proxy(server))
    return mcp


def ask(mcp: Any, method: str, *args: Any) -> dict[str, Any]:
    """Return the envelope of a failure."""
    answer = outcome_of(Client(mcp), lambda client: getattr(client, method)(*args))
    if isinstance(answer, MCPError):
        data: dict[str, Any] = answer.error.data
        assert (-32602, "It was withdrawn.") == (answer.error.code, answer.error.message)
        return data if "error" not in data else dict(data["error"])
    return dict(answer.structured_content["error"])


ASKED = [
    ("tool", "call_tool_mcp", ("look", {})),
    ("resource", "read_resource", ("articles://all",)),
    ("prompt", "get_prompt", ("summarise",)),
]


@pytest.mark.parametrize("kind", ["server", "fastmcp"])
@pytest.mark.parametrize(("surface", "method", "arguments"), ASKED, ids=["tool", "resource", "prompt"])
def test_the_record_of_the_proxy_says_that_the_failure_is_relayed(
    surface: str, method: str, arguments: tuple[Any, ...], kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The client reads the proxy's id, and the data has the id of the server that failed."""
    error = ask(in_front_of(backend(kind)), method, *arguments)
    theirs, ours = records(caplog)
    assert [("backend", None), ("front", True)] == [
        (record["server"], record.get("relayed")) for record in (theirs, ours)
    ]
    assert (error["correlationId"], surface) == (ours["correlationId"], ours["surface"])
    for said in (theirs, ours):
        assert ("NOT_FOUND", "gone", arguments[0]) == (said["name"], said["reason"], said[surface])
    origin = {"correlationId": theirs["correlationId"], "tool": arguments[0]}
    assert {"upstream": origin, "year": 2020} == ours["data"]
    assert origin == error["data"]["upstream"]
    assert {"hint": GONE.recovery} == error["data"]["recovery"]


def test_through_two_proxies_each_record_names_the_next_server(caplog: pytest.LogCaptureFixture) -> None:
    """One record belongs to the failure, and the others are relayed."""
    error = ask(in_front_of(in_front_of(backend("server"), "middle")), "read_resource", "articles://all")
    first, second, third = records(caplog)
    assert [None, True, True] == [record.get("relayed") for record in (first, second, third)]
    upstream = error["data"]["upstream"]
    assert (second["correlationId"], first["correlationId"]) == (
        upstream["correlationId"],
        upstream["upstream"]["correlationId"],
    )


@pytest.mark.parametrize("dialect", ["taxonomy", "system_error", "tool_error", "ok_envelope"])
@pytest.mark.parametrize(("surface", "method", "arguments"), ASKED, ids=["tool", "resource", "prompt"])
def test_dialects_on_both_sides_are_read_and_written(
    surface: str, method: str, arguments: tuple[Any, ...], dialect: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Clients read the proxy's dialect, also in protocol errors."""
    error = ask(in_front_of(backend("server", dialect=dialect)), method, *arguments)
    assert "It was withdrawn." == error["message"]
    theirs, ours = records(caplog)
    assert (error["correlationId"], "NOT_FOUND", True) == (ours["correlationId"], ours["name"], ours["relayed"])
    assert "gone" == theirs["reason"]


def test_a_protocol_error_without_an_envelope_belongs_to_the_proxy(caplog: pytest.LogCaptureFixture) -> None:
    """No other server has a record of it."""
    bare: FastMCP[Any] = FastMCP("bare")

    @bare.resource("articles://all")
    def failing() -> str:
        raise MCPError(code=-32602, message="It was withdrawn.", data={"year": 2020})

    ask(in_front_of(bare), "read_resource", "articles://all")
    (record,) = records(caplog)
    assert ("front", False) == (record["server"], "relayed" in record)


def test_a_handler_of_a_server_also_passes_on_such_an_error(caplog: pytest.LogCaptureFixture) -> None:
    """`Server` reads the envelope in an `MCPError` that its handler does not catch."""
    below = backend("fastmcp")
    front: Server[Any] = Server("front")

    @front.resource("articles://all")
    async def relay() -> str:
        async with Client(below) as client:
            error = await settled(client.read_resource("articles://all"))
        raise error  # outside the client, whose task group would wrap it

    error = ask(front, "read_resource", "articles://all")
    theirs, ours = records(caplog)
    assert (True, error["correlationId"]) == (ours["relayed"], ours["correlationId"])
    assert theirs["correlationId"] == error["data"]["upstream"]["correlationId"]


def test_the_command_line_shows_relayed_failures(trail: Path) -> None:
    """`mcpcore audit show` has a line for it."""
    ask(in_front_of(backend("server"), audit=trail), "get_prompt", "summarise")
    assert "relayed: another server failed" in CliRunner().invoke(group, ["show", str(trail)]).output
