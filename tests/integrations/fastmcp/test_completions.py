"""Completions: the handler of `@mcp.completion` fails as on a `Server` and leaves a record."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest import mock

import anyio
import pytest
from fastmcp import Client, FastMCP
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CompleteRequest,
    CompleteRequestParams,
    CompleteResult,
    Completion,
    PromptReference,
    ResourceTemplateReference,
)

from mcpcore import not_found
from mcpcore.audit import AuditError, AuditTrail
from mcpcore.integrations.fastmcp import ContractMiddleware
from tests.answers import outcome_of, settled
from tests.integrations.fastmcp.contract_server import extended, records

SECRET = "password=hunter2hunter2"


def answered(value: str) -> Any:
    match value:
        case "crash":
            raise KeyError(SECRET)
        case "coded":
            raise not_found("There is no such article.", {"pmid": "1"})
        case "own":
            raise MCPError(code=-32000, message="Later.")
        case "returned":
            return [not_found(SECRET)]
        case "lost":
            not_found("Lost.")
        case "nothing":
            return None
        case "more":
            return Completion(values=["a"], total=7)
    return ["a", "b"]


def served(*, sync: bool = False, **options: Any) -> FastMCP[Any]:
    mcp = extended(FastMCP("articles"), ContractMiddleware(**options))
    if sync:
        mcp.completion(lambda ref, argument, context: answered(argument.value))
    else:

        @mcp.completion
        async def complete(ref: Any, argument: Any, context: Any) -> Any:
            return answered(argument.value)

    return mcp


def completing(mcp: FastMCP[Any], *values: str, mode: str = "auto", ref: Any = None) -> list[Any]:
    """Return the completion of each value, or the error."""

    async def run() -> list[Any]:
        asked = ref or PromptReference(name="summarise")
        async with Client(mcp, mode=mode) as client:
            return [await settled(client.complete(asked, {"name": "pmid", "value": value})) for value in values]

    return anyio.run(run)


def test_successes_pass_and_leave_no_record(era: str, caplog: pytest.LogCaptureFixture) -> None:
    """Lists, `Completion` objects and None pass, and a lost failure is reported."""
    plain, nothing, more, lost = completing(served(), "x", "nothing", "more", "lost", mode=era)
    assert [["a", "b"], [], ["a"], ["a", "b"]] == [done.values for done in (plain, nothing, more, lost)]
    assert 7 == more.total
    assert ["lost"] == [record.get("outcome") for record in records(caplog)]
    assert "'summarise.pmid' made a failure" in caplog.text


def test_a_protocol_error_is_kept_and_recorded(caplog: pytest.LogCaptureFixture) -> None:
    """The handler chose its code."""
    (own,) = completing(served(), "own")
    assert (-32000, "Later.") == (own.error.code, own.error.message)
    assert ["Later."] == [record["message"] for record in records(caplog)]


def test_an_exception_among_the_values_fails_and_is_not_sent(caplog: pytest.LogCaptureFixture) -> None:
    """FastMCP refuses it because it is not a string."""
    (returned,) = completing(served(), "returned")
    assert "hunter2" not in str(returned.error.model_dump())
    assert ["lost", None] == [record.get("outcome") for record in records(caplog)]


def test_a_template_is_named_by_its_uri(caplog: pytest.LogCaptureFixture) -> None:
    """The records of a `Server` do the same."""
    completing(served(), "coded", ref=ResourceTemplateReference(uri="articles://{pmid}"))
    assert ["articles://{pmid}.pmid"] == [record["completion"] for record in records(caplog)]


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
def test_requests_without_a_handler_are_left_to_the_sdk(caplog: pytest.LogCaptureFixture) -> None:
    """Servers without completions and malformed requests get the SDK's errors, without a record."""
    (unserved,) = completing(extended(FastMCP("bare"), ContractMiddleware()), "x")
    assert -32601 == unserved.error.code

    params = CompleteRequestParams.model_construct(ref={"type": "nothing"}, argument={})
    malformed = CompleteRequest.model_construct(params=params)
    refused = outcome_of(Client(served()), lambda client: client.session.send_request(malformed, CompleteResult))
    assert -32602 == refused.error.code
    assert not records(caplog)


def test_a_failure_that_cannot_be_recorded_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This happens if the trail's policy says so."""
    trail = AuditTrail.open(tmp_path / "audit.jsonl", policy="refuse")
    monkeypatch.setattr(trail, "record", mock.create_autospec(trail.record, side_effect=AuditError("the disk is full")))
    (refused,) = completing(served(audit=trail), "coded")
    assert "audit_failed" == refused.error.data["error"]["data"]["reason"]
