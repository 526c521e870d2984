"""The draft `ToolFailure` of MCP (SEP-3313) in `_meta`, which servers write on demand."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import datetime
from itertools import product
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from mcp import Client

from mcpcore import Context, CustomCode, Envelope, ErrorCode, FailureMode, Retry, Server, tool
from mcpcore.wire.tool_failure import TOOL_FAILURE, tool_failure
from tests.answers import ask, envelope_of

SCHEMA = json.loads(Path(__file__).with_name("tool-failure.schema.json").read_text("utf-8"))
DENIED = CustomCode("DENIED", 40311, http_status=403, category="client", retry=Retry.never(), sentence="It is denied.")
MODES = [
    FailureMode("no_order", ErrorCode.NOT_FOUND, when="There is no such order.", recovery="Call find_orders first."),
    FailureMode(
        "busy",
        ErrorCode.RATE_LIMITED,
        when="It is busy.",
        recovery="Wait.",
        retry=Retry.after(seconds=7),
        effects="none",
    ),
    FailureMode("not_approved", ErrorCode.FORBIDDEN, when="It needs approval.", recovery="Ask the user to approve."),
]


@tool(errors=MODES)
def order(ctx: Context[Any], reason: str) -> str:
    """Order."""
    if reason == "crash":
        raise KeyError(reason)
    raise ctx.fail(reason)  # type: ignore[arg-type]


def checked(failure: Any) -> dict[str, Any]:
    """Return a `ToolFailure` that fits the schema of the draft."""
    jsonschema.validate(failure, SCHEMA)
    return failure  # type: ignore[no-any-return]


@pytest.mark.parametrize("code", [*ErrorCode, DENIED])
def test_every_failure_has_a_class(code: Any) -> None:
    """Advice to repeat makes it a matter of reliability; else who is not allowed needs a person."""
    for retry, hint in product([Retry.never(), Retry.now(), Retry.after(seconds=2)], [None, "Ask."]):
        data = {"recovery": {"hint": hint}} if hint else None
        failure = checked(
            tool_failure(
                Envelope(code=int(code), name=code.name, message="No.", retry=retry, data=data, correlation_id="1a")
            )
        )
        refused = code.http_status in (401, 403)
        expected = "governance" if refused else "capability" if code.category == "client" else "reliability"
        assert failure["class"] == ("reliability" if retry.retryable else expected)
        assert (retry.retryable, hint) == (failure["retryable"], failure.get("agentGuidance"))


def test_a_code_of_another_application_is_nobodys_refusal() -> None:
    """Nothing is known of it."""
    failure = checked(
        tool_failure(Envelope(code=7, name="ODD", message="No.", retry=Retry.never(), correlation_id="1a"))
    )
    assert ("reliability", "odd", False) == (failure["class"], failure["code"], failure["retryable"])


def connect(**options: Any) -> Callable[[str], Any]:
    """Return a function that lets the tool of a server with these options fail, and returns its result."""
    server = Server("s", tools=[order], **options)
    return lambda reason: ask(Client(server), lambda client: client.call_tool("order", {"reason": reason}))


@pytest.mark.usefixtures("door")
def test_servers_write_it_on_demand() -> None:
    """It agrees with the envelope. It is left out without the option, and where a success hides the failure."""
    call = connect(tool_failure_meta=True)
    for reason, kind in (("no_order", "capability"), ("busy", "reliability"), ("not_approved", "governance")):
        result = call(reason)
        failure, envelope = checked(result.meta[TOOL_FAILURE]), envelope_of(result)
        assert (kind, reason, envelope.hint) == (failure["class"], failure["code"], failure["agentGuidance"])
        assert envelope.correlation_id == failure["correlationId"]
    busy = call("busy")
    waits = (
        busy.meta[TOOL_FAILURE]["retryNotBefore"] / 1000
        - datetime.fromisoformat(envelope_of(busy).timestamp).timestamp()
    )
    assert waits == pytest.approx(7, abs=2)
    crash = checked(call("crash").meta[TOOL_FAILURE])
    assert ("reliability", "internal_error", False) == (crash["class"], crash["code"], crash["retryable"])
    for options in ({}, {"tool_failure_meta": True, "dialect": "ok_envelope_b"}):
        assert TOOL_FAILURE not in (connect(**options)("no_order").meta or {})


@pytest.mark.parametrize(
    "timestamp", ["0001-01-01T00:00:00", "1970-01-01T00:00:00Z", "9999-12-31T23:59:59-14:00", "x", ""]
)
def test_the_clock_of_another_server_moves_no_wait(timestamp: str) -> None:
    """A failure that is passed on has the time of the other server, which may be any."""
    retry = Retry.after(seconds=60)
    sent = Envelope(
        code=-32003, name="RATE_LIMITED", message="m", retry=retry, timestamp=timestamp, correlation_id="a\nb" * 999
    )
    now = time.time() * 1000
    written = checked(tool_failure(sent))
    assert now + 59_000 < written["retryNotBefore"] < now + 120_000
    assert "\n" not in written["correlationId"]
    assert len(written["correlationId"]) < 1_000


def test_the_longer_wait_of_the_draft_counts_beside_an_envelope() -> None:
    """The draft says that clients must not repeat the call before `retryNotBefore`."""
    error = Envelope(
        code=-32003, name="RATE_LIMITED", message="m", retry=Retry.now(), effects="none", correlation_id="0" * 16
    ).to_json()

    def read(after: float) -> Retry:
        failure = {
            "class": "reliability",
            "code": "busy",
            "retryable": True,
            "retryNotBefore": int((time.time() + after) * 1000),
            "correlationId": "a",
        }
        result = {"isError": True, "structuredContent": {"error": error}, "_meta": {TOOL_FAILURE: failure}}
        return envelope_of(result).retry

    assert 500 < (read(600).seconds or 0) <= 600
    assert (read(-600).seconds or 0) == 0
