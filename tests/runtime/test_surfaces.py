"""Failures of resources and prompts, and protocol errors that an author chose, are recorded and then sent."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import anyio
import pytest
from mcp import Client
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
from mcp.server.mcpserver.prompts.base import Prompt
from mcp.shared.exceptions import MCPError, UrlElicitationRequiredError

from mcpcore import ErrorCode, Server, conflict, not_found
from mcpcore.audit import AuditError, AuditTrail
from mcpcore.contract.bound_fields import bind
from tests.answers import ask, envelope_of, outcome_of, records_of, settled

pytestmark = pytest.mark.usefixtures("door")


def fail(how: str) -> str:
    with bind(phase_id="P7"):
        match how:
            case "coded":
                raise not_found("No such page.", {"page": how}, recovery="Read the index first.")
            case "crash":
                raise KeyError("hunter2")
            case "spoken":
                raise ResourceError("The disk is away.")
            case "missing":
                raise ResourceNotFoundError("No page of that name.")
            case "mcp":
                raise MCPError(code=-32050, message="Chosen.", data={"a": 1})
            case "behind":
                try:
                    raise ResourceError("Something else.")
                except ResourceError:
                    raise MCPError(code=-32050, message="Chosen.") from None
            case "elicit":
                raise UrlElicitationRequiredError([])
            case "group":
                raise ExceptionGroup("g", [conflict("Held."), ValueError("x")])
    return how


def serving(trail: Path, **options: Any) -> Server[Any]:
    server: Server[Any] = Server("s", bind={"role": "R"}, audit=trail, **options)

    @server.resource("page://{how}")
    def page(how: str) -> str:
        return fail(how)

    @server.prompt()
    def ask(how: str) -> str:
        return fail(how)

    @server.tool()
    def act(how: str) -> str:
        return fail(how)

    return server


def failing(server: Server[Any], surface: str, how: str) -> MCPError:
    requests: dict[str, Any] = {
        "resource": lambda client: client.read_resource(f"page://{how}"),
        "prompt": lambda client: client.get_prompt("ask", {"how": how}),
        "tool": lambda client: client.call_tool("act", {"how": how}),
    }
    error = outcome_of(Client(server), requests[surface])
    assert isinstance(error, MCPError)
    return error


def acting(server: Server[Any], how: str) -> Any:
    return ask(Client(server), lambda client: client.call_tool("act", {"how": how}))


NAMES = {"resource": "page://{}", "prompt": "ask", "tool": "act"}


@pytest.mark.parametrize("surface", ["resource", "prompt"])
@pytest.mark.parametrize(
    ("how", "number", "code", "message"),
    [
        ("coded", -32602, ErrorCode.NOT_FOUND, "No such page."),
        ("crash", -32603, ErrorCode.INTERNAL_ERROR, "The {} failed unexpectedly."),
        ("group", -32603, ErrorCode.CONFLICT, "Held."),
    ],
)
def test_a_failure_is_recorded_and_sent(
    surface: str, how: str, number: int, code: ErrorCode, message: str, trail: Path
) -> None:
    """The error's data has the code, the author's data, the recovery and bound fields; a crash is masked."""
    message = message.format(surface)
    error = failing(serving(trail), surface, how)
    envelope = envelope_of(error)
    assert (number, message, code) == (error.code, error.message, envelope.error_code)
    assert (NAMES[surface].format(how), message) == (envelope.tool, envelope.message)
    assert {"role": "R", "phase_id": "P7"} == envelope.context
    assert (surface == "resource") == ("uri" in error.data)
    if how == "coded":
        assert ({"page": "coded"}, "Read the index first.") == (envelope.details, envelope.hint)
    assert "hunter2" not in json.dumps(error.data)
    (record,) = records_of(trail)
    assert (envelope.correlation_id, surface, envelope.tool) == (
        record["correlationId"],
        record["surface"],
        record[surface],
    )
    raised = record.get("exception", {}).get("type")
    assert {"coded": None, "crash": "KeyError", "group": "ExceptionGroup"}[how] == raised


def test_messages_of_the_sdks_resource_errors_are_kept(trail: Path) -> None:
    """Their authors wrote them for clients, and the number says whether the resource exists."""
    for how, number, code, message in (
        ("spoken", -32603, "INTERNAL_ERROR", "The disk is away."),
        ("missing", -32602, "NOT_FOUND", "No page of that name."),
    ):
        error = failing(serving(trail), "resource", how)
        assert (number, message, code, f"page://{how}") == (
            error.code,
            error.message,
            error.data["error"]["name"],
            error.data["uri"],
        )
    assert ["INTERNAL_ERROR", "NOT_FOUND"] == [record["name"] for record in records_of(trail)]


@pytest.mark.parametrize("surface", ["resource", "prompt", "tool"])
@pytest.mark.parametrize("how", ["mcp", "behind"])
def test_a_protocol_error_chosen_by_an_author_is_kept_and_recorded(
    surface: str, how: str, trail: Path, door: str
) -> None:
    """This includes SDK tools; on FastMCP it becomes a tool result, as without mcpcore."""
    if (surface, door) == ("tool", "fastmcp"):
        answer = acting(serving(trail), how)
        assert (True, "Chosen.") == (answer.is_error, envelope_of(answer).message)
    else:
        error = failing(serving(trail), surface, how)
        assert (-32050, "Chosen.") == (error.code, error.message)
    (record,) = records_of(trail)
    assert ("Chosen.", surface) == (record["message"], record["surface"])


@pytest.mark.parametrize("surface", ["resource", "prompt", "tool"])
def test_a_protocol_step_is_not_a_failure(surface: str, trail: Path) -> None:
    """Requests that the client answers by itself leave no record."""
    assert -32042 == failing(serving(trail), surface, "elicit").code
    assert [] == records_of(trail)


@pytest.mark.parametrize("surface", ["resource", "prompt", "tool"])
@pytest.mark.parametrize("how", ["mcp", "coded"])
def test_a_failure_that_cannot_be_recorded_is_withheld(
    surface: str, how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, door: str
) -> None:
    """With the policy to refuse, the answer reports the missing record instead."""
    server = serving(tmp_path / "audit.jsonl")
    monkeypatch.setattr(
        AuditTrail, "record", mock.create_autospec(AuditTrail.record, side_effect=AuditError("the disk is full"))
    )
    acts = surface == "tool" and (how == "coded" or door == "fastmcp")
    envelope = envelope_of(acting(server, how) if acts else failing(server, surface, how))
    assert ("audit_failed", {}) == (envelope.reason, envelope.details)


@pytest.mark.anyio
async def test_missing_items_are_reported_as_missing(trail: Path) -> None:
    """This covers unknown prompts, unknown resources and prompts without a required argument."""
    async with Client(serving(trail)) as client:
        requests = (client.get_prompt("aks", {}), client.get_prompt("ask", {}), client.read_resource("no://x"))
        unknown, without, nothing = [await settled(request) for request in requests]
    assert {-32602} == {error.code for error in (unknown, without, nothing)}
    failures = [error.data["error"] for error in (unknown, without, nothing)]
    assert ["NOT_FOUND", "INVALID_PARAMS", "NOT_FOUND"] == [error["name"] for error in failures]
    assert ["unknown_prompt", "invalid_arguments", None] == [error["data"].get("reason") for error in failures]
    assert "how" in failures[1]["message"]
    assert [error["correlationId"] for error in failures] == [record["correlationId"] for record in records_of(trail)]


@pytest.mark.anyio
async def test_a_prompt_that_uses_the_sdks_words_is_not_mistaken_for_it() -> None:
    """An author's ValueError with the SDK's opening words is a failure of the prompt."""
    server: Server[Any] = Server("s")

    @server.prompt()
    def ask() -> str:
        raise ValueError("Unknown prompt: of my own")

    async with Client(server) as client:
        refused = await settled(client.get_prompt("ask"))
    error = refused.data["error"]
    assert ("VALIDATION_ERROR", ErrorCode.VALIDATION_ERROR.sentence) == (error["name"], error["message"])


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("raised", "code"),
    [
        (TimeoutError("late"), ErrorCode.TIMEOUT),
        (ValueError("of a class of prompts"), ErrorCode.VALIDATION_ERROR),
        (SystemExit(3), ErrorCode.INTERNAL_ERROR),
        (not_found("gone"), ErrorCode.NOT_FOUND),
    ],
)
@pytest.mark.server_only("it serves a class of prompts of the SDK's")
async def test_prompts_of_an_application_class_fail_like_others(raised: BaseException, code: ErrorCode) -> None:
    """An exception of a subclass reaches the SDK without the wording of the SDK's own prompts."""

    class Own(Prompt):
        async def render(self, *args: Any, **kwargs: Any) -> Any:
            raise raised

    server: Server[Any] = Server("s")
    server.add_prompt(Own.from_function(lambda: "", name="own"))
    async with Client(server) as client:
        failed = await settled(client.get_prompt("own"))
    assert code == envelope_of(failed).error_code


@pytest.mark.parametrize("surface", ["resource", "prompt"])
def test_no_log_has_the_secrets_of_a_crash(surface: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The SDK logs nothing about it, and the one crash log has no secrets in any format."""
    server = serving(tmp_path / "audit.jsonl")
    url = "postgres://user:hunter2@host/db"

    @server.resource("leak://here")
    def leak() -> str:
        raise ConnectionError(f"cannot reach {url}")

    @server.prompt()
    def leaking() -> str:
        raise ConnectionError(f"cannot reach {url}")

    requests: dict[str, Callable[[Client], Any]] = {
        "resource": lambda client: client.read_resource("leak://here"),
        "prompt": lambda client: client.get_prompt("leaking"),
    }
    with caplog.at_level("DEBUG"):
        assert isinstance(outcome_of(Client(server), requests[surface]), MCPError)
    assert 1 == len([record for record in caplog.records if record.name == "mcpcore"])
    assert "ConnectionError" in caplog.text
    for record in caplog.records:
        # The SDK's lines about each request only name the method.
        assert "hunter2" not in logging.Formatter().format(record)


@pytest.mark.anyio
async def test_a_resource_read_by_a_handler_fails_as_in_the_sdk(tmp_path: Path) -> None:
    """A resource that reads another and code on the server get the SDK's own error."""
    server = serving(tmp_path / "audit.jsonl")
    seen: list[str] = []

    @server.resource("outer://{how}")
    async def outer(how: str) -> str:
        try:
            await server.read_resource(f"page://{how}")
        except ResourceError as exc:
            seen.append(str(exc))
        return "read"

    async with Client(server) as client:
        read = await client.read_resource("outer://spoken")
    with pytest.raises(ResourceError, match="The disk is away"):
        await server.read_resource("page://spoken")
    assert ("read", ["The disk is away."]) == (read.contents[0].text, seen)


ELSEWHERE: Server[Any] = Server("elsewhere")
ELSEWHERE.tool(name="other")(fail)


class Guarded(Server[Any]):
    """A server of an application that replaces `call_tool`, as servers of the SDK do."""

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        match arguments.get("how"):
            case "disabled":
                raise ToolError("The operator has switched this off.")
            case "broken":
                raise RuntimeError("hunter2")
            case "renamed":
                return await super().call_tool(name, {"how": "coded"}, context)
            case "refused":
                raise MCPError(code=-32050, message="Chosen.")
            case "elsewhere":
                return await ELSEWHERE.call_tool("other", {"how": "coded"}, context)
        return await super().call_tool(name, arguments, context)


@pytest.mark.server_only
@pytest.mark.parametrize(
    ("name", "how", "answer", "code"),
    [
        ("run", "fine", "fine", None),
        ("run", "coded", "No such page.", "NOT_FOUND"),
        ("run", "renamed", "No such page.", "NOT_FOUND"),
        ("run", "crash", "The tool failed unexpectedly.", "INTERNAL_ERROR"),
        ("run", "broken", "The tool failed unexpectedly.", "INTERNAL_ERROR"),
        ("run", "disabled", "The operator has switched this off.", "INTERNAL_ERROR"),
        ("run", "refused", "Chosen.", "UNKNOWN_ERROR"),
        ("run", "elsewhere", "No such page.", "NOT_FOUND"),
        ("no", "fine", "Unknown tool: no.", "NOT_FOUND"),
    ],
)
def test_a_call_tool_of_the_application_is_called(
    name: str, how: str, answer: str, code: str | None, tmp_path: Path
) -> None:
    """It may change or refuse a call; each failure of the tool and of the method itself is recorded once."""
    server = Guarded("s", audit=tmp_path / "audit.jsonl")
    server.tool(name="run")(fail)
    outcome = outcome_of(Client(server), lambda client: client.call_tool(name, {"how": how}))
    records = records_of(tmp_path / "audit.jsonl")
    if code is None:
        assert (answer, []) == (outcome.content[0].text, records)
    else:
        assert (answer, code) == (envelope_of(outcome).message, envelope_of(outcome).name)
        assert [name] == [record["tool"] for record in records]
    with pytest.raises(ToolError, match="Error executing tool run"):
        anyio.run(server.call_tool, "run", {"how": "coded"})
