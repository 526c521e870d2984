"""Integers are integers on the wire and in records, of up to as many digits as Python reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import jsonschema
import pytest
from mcp import Client
from pydantic import BaseModel

from mcpcore import Context, Envelope, ErrorCode, FailureMode, Server, tool
from mcpcore.audit import AuditTrail
from mcpcore.services.batch import Batch, BatchResult

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
async def test_an_integer_arrives_as_it_was_raised_returned_and_recorded(number: int, tmp_path: Path) -> None:
    """In a success, in `data`, in the items of a batch, and in the record, also in strict mode."""
    trail = tmp_path / "trail.jsonl"
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
    server = Server("plain", tools=[too_long])
    async with Client(server) as client:
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
    read = Envelope.from_result({"isError": True, "content": [{"type": "text", "text": text}]})
    assert read is not None
    assert {"order": "<int of 14285 bits> …"} == read.details
    exact = Envelope(code=-32001, name="NOT_FOUND", message="No.", retry=envelope.retry, data={"order": 10**40})
    read = Envelope.from_result({"isError": True, "content": [{"type": "text", "text": exact.text()}]})
    assert read is not None
    assert {"order": 10**40} == read.details
