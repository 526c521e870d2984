"""A batch tells what failed beside what succeeded, each with the envelope that it would have had alone."""

from __future__ import annotations

from typing import Any, Literal

import jsonschema
import pytest
from mcp.client import Client

from mcpcore import Context, Envelope, ErrorCode, FailureMode, Server, tool
from mcpcore.batch import Batch, BatchResult

Reasons = Literal["no_match", "expired"]


@tool(
    errors=[
        FailureMode(
            "no_match", ErrorCode.NOT_FOUND, when="No such article.", recovery="Call search to find valid ids."
        ),
        FailureMode(
            "expired",
            ErrorCode.UNAUTHORIZED,
            when="The token has expired.",
            recovery="Ask the user to sign in again.",
            fails_batch=True,
        ),
    ]
)
def fetch(ctx: Context[Reasons], ids: list[str]) -> BatchResult[str]:
    """Fetch articles."""
    batch = Batch[str](ctx)
    for one in ids:
        with batch.item(one):
            if one == "gone":
                raise ctx.fail("no_match", f"There is no {one}.", {"id": one})
            if one == "expired":
                raise ctx.fail("expired")
            if one == "crash":
                raise RuntimeError("secret in a crash")
            batch.add(f"article {one}")
    return batch.result()


async def call(*ids: str) -> tuple[Any, dict[str, Any]]:
    """Call the tool through a real client, which checks the result against the advertised schema."""
    async with Client(Server("articles", tools=[fetch])) as client:
        schema = (await client.list_tools()).tools[0].output_schema
        result = await client.call_tool("fetch", {"ids": list(ids)})
    assert schema is not None
    jsonschema.validate(result.structured_content, schema)
    return result, result.structured_content or {}


@pytest.mark.anyio
async def test_items_that_fail_stand_beside_items_that_succeed() -> None:
    """A success as a whole, with a whole envelope for each item that failed; a crash stays masked."""
    result, content = await call("a", "gone", "crash", "b")
    assert not result.is_error
    assert ["article a", "article b"] == content["succeeded"]
    gone, crash = content["failed"]
    assert ("gone", "crash") == (gone["item"], crash["item"])
    told = Envelope.from_json(gone["error"])
    assert ("no_match", "Call search to find valid ids.", {"id": "gone"}) == (told.reason, told.hint, told.details)
    assert 16 == len(told.correlation_id)
    assert ("INTERNAL_ERROR", False) == (crash["error"]["name"], "secret" in str(content))


@pytest.mark.anyio
async def test_a_batch_fails_where_every_item_failed() -> None:
    """The declared failure speaks for all, and all are in its data."""
    result, _ = await call("gone", "gone", "crash")
    told = Envelope.from_result(result)
    assert result.is_error
    assert told is not None
    assert ("no_match", 3) == (told.reason, len(told.details["failed"]))


@pytest.mark.anyio
async def test_a_batch_fails_at_once_where_the_contract_says_so() -> None:
    """An expired token is the failure of the call, whatever succeeded before."""
    result, _ = await call("a", "expired", "b")
    told = Envelope.from_result(result)
    assert told is not None
    assert ("expired", ErrorCode.UNAUTHORIZED) == (told.reason, told.error_code)


@pytest.mark.anyio
async def test_each_failed_item_is_recorded(caplog: pytest.LogCaptureFixture) -> None:
    """The audit logger has a record with the id of each item's envelope."""
    with caplog.at_level("INFO", "mcpcore.audit"):
        _, content = await call("a", "gone", "crash")
    logged = "\n".join(record.getMessage() for record in caplog.records if record.name == "mcpcore.audit")
    assert all(failure["error"]["correlationId"] in logged for failure in content["failed"])


def test_a_batch_works_outside_a_request() -> None:
    """In a unit test the tool is called directly."""
    found = fetch(ids=["a", "gone"])
    assert (["article a"], ["gone"]) == (found.succeeded, [failure.item for failure in found.failed])
