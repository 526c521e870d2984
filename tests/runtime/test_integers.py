"""Integers are integers on the wire and in records, of up to as many digits as Python reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import jsonschema
import pytest
from mcp import Client
from mcp_types import CallToolResult
from pydantic import BaseModel

from mcpcore import Context, Envelope, ErrorCode, FailureMode, Server, tool
from mcpcore.audit import AuditTrail
from mcpcore.services.batch import Batch, BatchResult
from tests.answers import envelope_of

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("door")]

LONGEST = 10**4_300 - 1
NUMBERS = [2**53, 2**53 + 1, -(2**63) - 1, 10**40, LONGEST, -LONGEST]


class Gone(BaseModel):
    """The data of `gone`."""

    order: int
    others: list[int] = []


GONE = FailureMode("gone", ErrorCode.NOT_FOUND, when="It is gone.", recovery="Look it up again by its name.", data=Gone)


@tool(errors=[GONE])
def get_order(ctx: Context[Literal["gone"]], number: str) -> int:
    """Get an order."""
    if number.startswith("gone "):
        order = int(number.removeprefix("gone "))
        raise ctx.fail(GONE, data=Gone(order=order, others=[order]))
    return int(number)


@tool(errors=[GONE])
def get_orders(ctx: Context[Literal["gone"]], numbers: list[str]) -> BatchResult[int]:
    """Get orders."""
    batch = Batch[int](ctx)
    batch.add(0)
    for number in numbers:
        with batch.item(int(number) % 10**40):
            raise ctx.fail(GONE, data=Gone(order=int(number)))
    return batch.result()


@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: f"{number.bit_length()} bits")
async def test_an_integer_arrives_as_it_was_raised_returned_and_recorded(number: int, trail: Path) -> None:
    """In a success, in `data`, in the items of a batch, and in the record, also in strict mode."""
    server = Server("orders", tools=[get_order, get_orders], strict=True, audit=AuditTrail(trail))
    async with Client(server) as client:
        success, failure, items = [
            (await client.call_tool(name, arguments)).structured_content
            for name, arguments in (
                ("get_order", {"number": str(number)}),
                ("get_order", {"number": f"gone {number}"}),
                ("get_orders", {"numbers": [str(number)]}),
            )
        ]
        listed = {listed.name: listed for listed in (await client.list_tools()).tools}
    assert {"result": number} == success
    error, batch = failure["error"], items
    assert ("gone", number, [number]) == (error["data"]["reason"], error["data"]["order"], error["data"]["others"])
    (item,) = batch["failed"]
    assert (number % 10**40, number) == (item["item"], item["error"]["data"]["order"])
    meta: Any = listed["get_order"].meta
    (entry,) = meta["dev.mcpcore/errors"]
    jsonschema.validate({key: error["data"][key] for key in ("order", "others")}, entry["dataSchema"])
    records = [json.loads(line) for line in trail.read_bytes().splitlines()]
    assert number in [record["data"]["order"] for record in records if "data" in record]


async def test_an_integer_that_is_too_long_is_named() -> None:
    """No JSON reader in Python takes more than 4,300 digits; the rest of the failure arrives."""
    async with Client(Server("plain", tools=[too_long])) as client:
        error = (await client.call_tool("too_long", {})).structured_content["error"]  # type: ignore[index]
    assert {"order": "<int of 14285 bits>", "name": "lamp"} == {key: error["data"][key] for key in ("order", "name")}


@tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="It is gone.", recovery="Look it up again by its name.")])
def too_long(ctx: Context[Literal["gone"]]) -> str:
    """Fail."""
    raise ctx.fail("gone", data={"order": 10**4_300, "name": "lamp"})


@pytest.mark.no_server
def test_a_long_integer_in_the_text_is_cut_like_any_value() -> None:
    """The line of details has its own limit; a number is never cut in the middle, which would be another number."""
    envelope = Envelope(
        code=-32001, name="NOT_FOUND", message="No.", retry=ErrorCode.NOT_FOUND.retry, data={"order": LONGEST}
    )
    text = envelope.text()
    assert "<int of 14285 bits> …" in text
    assert len(text) < 1_000
    read = envelope_of({"isError": True, "content": [{"type": "text", "text": text}]})
    assert {"order": "<int of 14285 bits> …"} == read.details
    exact = Envelope(code=-32001, name="NOT_FOUND", message="No.", retry=envelope.retry, data={"order": 10**40})
    read = envelope_of({"isError": True, "content": [{"type": "text", "text": exact.text()}]})
    assert {"order": 10**40} == read.details


class Count(BaseModel):
    """A number in a model."""

    number: Any


def long_alone() -> int:
    """Return a number."""
    return 10**4_300


def long_in_a_model() -> Count:
    """Return a model."""
    return Count(number=["x" * 2_000, {"deep": -(10**4_300)}])


def long_in_meta() -> CallToolResult:
    """Return a whole result."""
    return CallToolResult(content=[], _meta={"number": 10**5_000})


def long_in_a_text() -> Count:
    """Return digits that are no number."""
    return Count(number="1" * 20_000)


@pytest.mark.parametrize("plain", [False, pytest.param(True, marks=pytest.mark.server_only)], ids=["contract", "plain"])
@pytest.mark.parametrize("handler", [long_alone, long_in_a_model, long_in_meta])
async def test_a_success_with_an_integer_that_no_client_reads_is_a_failure(
    handler: Any, plain: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """The client has an answer, the log says what to change, and the digits of a text are no integer."""
    server = Server("s")
    for fn in (handler, long_in_a_text):
        server.add_tool(fn if plain else tool(fn))
    async with Client(server) as client:
        failed = await client.call_tool(handler.__name__, {})
        text = await client.call_tool("long_in_a_text", {})
    assert "INTERNAL_ERROR" == envelope_of(failed).name
    assert "an integer of more than 4,300 digits" in caplog.text
    assert {"number": "1" * 20_000} == text.structured_content
