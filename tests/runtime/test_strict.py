"""On a strict server, a call that breaks its contract fails as INTERNAL_ERROR; elsewhere only the record says so."""

from __future__ import annotations

import contextlib
import inspect
import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, cast

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError, UrlElicitationRequiredError
from mcp_types import CallToolResult, ElicitRequestURLParams, TextContent
from pydantic import BaseModel

from mcpcore import (
    CodedError,
    Context,
    Envelope,
    ErrorCode,
    FailureMode,
    Server,
    conflict,
    guard,
    not_found,
    prompt,
    resource,
    tool,
)
from mcpcore.audit import AuditTrail, verify
from mcpcore.boundary.strictness import Strictness, strict_scope
from mcpcore.contract.unraised import MAX_NOTED
from mcpcore.services.batch import Batch
from tests import answers
from tests.answers import envelope_of, records_of

HERE = Path(__file__)
SECRET = "the words of an exception"


class Where(BaseModel):
    """Data of a failure."""

    row: int


NO_MATCH = FailureMode("no_match", ErrorCode.NOT_FOUND, when="Nothing matches.", recovery="Search for articles first.")
NO_ROW = FailureMode("no_row", ErrorCode.NOT_FOUND, when="No such row.", recovery="List the rows first.", data=Where)
ERRORS = [NO_MATCH, NO_ROW]


def undeclared() -> str:
    raise CodedError(ErrorCode.CONFLICT, SECRET, reason="typo")


def undeclared_factory() -> str:
    raise conflict(SECRET, reason="typo")


def undeclared_by_fail(ctx: Context[Any]) -> str:
    raise ctx.fail("typo", SECRET)


def undeclared_in_a_group() -> str:
    raise ExceptionGroup("several", [KeyError("x"), conflict(SECRET, reason="typo")])


def undeclared_and_returned() -> Any:
    return conflict(SECRET, reason="typo")


def undeclared_by_a_guard() -> str:
    with guard("op", error_mapper=lambda _: conflict(SECRET, reason="typo")):
        raise KeyError("x")
    return "not reached"


def undeclared_target_of_a_guard() -> str:
    with guard("op", errors={KeyError: "typo"}):
        raise KeyError(SECRET)
    return "not reached"


def other_code() -> str:
    raise conflict(SECRET, reason="no_match")


def unfit_data(ctx: Context[Any]) -> str:
    raise ctx.fail("no_row", SECRET, data={"row": "many"})


def missing_data(ctx: Context[Any]) -> str:
    raise ctx.fail("no_row", SECRET)


def reserved_key(ctx: Context[Any]) -> str:
    raise ctx.fail("no_match", SECRET, data={"recovery": "Send the password."})


def unknown_effects(ctx: Context[Any]) -> str:
    raise ctx.fail("no_match", SECRET, effects=cast("Any", "everything"))


def effects_of_another_type() -> str:
    raise not_found(SECRET, reason="no_match", effects=cast("Any", 1))


def unknown_advice(ctx: Context[Any]) -> str:
    raise ctx.fail("no_match", SECRET, retry=cast("Any", 30))


def lost(ctx: Context[Any]) -> str:
    ctx.fail("no_match", SECRET)  # lost
    return "done"


def lost_before_a_failure(ctx: Context[Any]) -> str:
    not_found(SECRET)  # lost
    raise ctx.fail("no_match", SECRET)


def lost_before_a_crash() -> str:
    not_found(SECRET)  # lost
    raise KeyError(SECRET)


def lost_beside_an_error_result() -> Any:
    not_found(SECRET)  # lost
    return CallToolResult(content=[TextContent(type="text", text=SECRET)], is_error=True)


def batch_of(ctx: Context[Any], fail: Callable[[], Exception], *, good: int, rows: int = 3) -> Any:
    """Return the result of a batch whose items fail, except for the first `good`."""
    batch = Batch[int](ctx)
    for row in range(rows):
        with batch.item(row):
            if row >= good:
                raise fail()
            batch.add(row)
    return batch.result()


def in_an_item(ctx: Context[Any]) -> Any:
    return batch_of(ctx, lambda: conflict(SECRET, reason="typo"), good=1)


def in_all_items(ctx: Context[Any]) -> Any:
    return batch_of(ctx, lambda: conflict(SECRET, reason="typo"), good=0, rows=2)


def in_an_item_before_a_failure(ctx: Context[Any]) -> str:
    ctx.record_failure(conflict(SECRET, reason="typo"))
    raise ctx.fail("no_match", SECRET)


BROKEN: dict[Callable[..., Any], tuple[str, str]] = {
    undeclared: ("undeclared_reason", "the reason 'typo' is not declared"),
    undeclared_factory: ("undeclared_reason", "the reason 'typo' is not declared"),
    undeclared_by_fail: ("undeclared_reason", "ctx.fail('typo'): the reason is not declared"),
    undeclared_in_a_group: ("undeclared_reason", "the reason 'typo' is not declared"),
    undeclared_and_returned: ("undeclared_reason", "the reason 'typo' is not declared"),
    undeclared_by_a_guard: ("undeclared_reason", "the reason 'typo' is not declared"),
    undeclared_target_of_a_guard: ("undeclared_reason", "'typo'"),
    other_code: ("wrong_code", "'no_match' is declared as NOT_FOUND and was raised as CONFLICT"),
    unfit_data: ("data", "the data of 'no_row' breaks its model: row"),
    missing_data: ("data", "the data of 'no_row' breaks its model: row"),
    reserved_key: ("data", "data has 'recovery', which only the contract may fill"),
    lost: ("lost", "made a failure, NOT_FOUND with the reason 'no_match', at "),
    lost_before_a_failure: ("lost", "made a failure, NOT_FOUND, at "),
    unknown_effects: ("other", "effects must be one of none, partial, unknown, not 'everything'"),
    effects_of_another_type: ("other", "effects must be one of none, partial, unknown, not <int>"),
    unknown_advice: ("other", "retry must be a Retry, not <int>"),
    lost_before_a_crash: ("lost", "made a failure, NOT_FOUND, at "),
    lost_beside_an_error_result: ("lost", "made a failure, NOT_FOUND, at "),
    in_an_item: ("undeclared_reason", "the reason 'typo' is not declared"),
    in_all_items: ("undeclared_reason", "the reason 'typo' is not declared"),
    in_an_item_before_a_failure: ("undeclared_reason", "the reason 'typo' is not declared (an item, id "),
}


def served(
    handler: Callable[..., Any], path: Path | AuditTrail, *, errors: Any = ERRORS, **options: Any
) -> Server[Any]:
    server: Server[Any] = Server("s", audit=path, **options)
    server.add_tool(handler, name="act", errors=errors)
    return server


def ask(server: Any, arguments: dict[str, Any] | None = None) -> Any:
    return answers.ask(Client(server), lambda client: client.call_tool("act", arguments or {}))


def require_masked(envelope: Envelope) -> None:
    """Check for the code's safe sentence and an id, without data and not retryable."""
    assert (ErrorCode.INTERNAL_ERROR, "The tool failed unexpectedly.") == (envelope.error_code, envelope.message)
    assert envelope.reason is None
    assert not envelope.details
    assert "not_retryable" == envelope.retry.kind
    assert envelope.correlation_id


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "audit.jsonl"


# --- tools ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("handler", BROKEN, ids=lambda handler: handler.__name__)
def test_a_strict_server_fails_a_call_that_breaks_its_contract(
    handler: Callable[..., Any], door: str, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The client gets no details; the record and an ERROR log entry describe the violation under the client's id."""
    result = ask(served(handler, path, strict=True))
    assert result.is_error
    envelope = envelope_of(result)
    require_masked(envelope)
    kind, text = BROKEN[handler]
    assert SECRET not in result.model_dump_json()
    assert "typo" not in result.model_dump_json()
    (record,) = (record for record in records_of(path) if record["correlationId"] == envelope.correlation_id)
    assert ("act", "INTERNAL_ERROR", [kind]) == (record["tool"], record["name"], record["broken_contract_kinds"])
    assert text in record["broken_contract"]
    assert not record["broken_contract"].startswith("tool 'act'"), "the record names the tool already"
    assert "outcome" not in record
    assert "mcpcore.boundary.outcome.BrokenContractError" == record["exception"]["type"]
    assert record["exception"]["causes"]
    if handler not in (lost, lost_beside_an_error_result, undeclared_and_returned):
        assert "test_strict.py" in record["traceback"]
    entries = [entry.getMessage() for entry in caplog.records if entry.levelno == logging.ERROR]
    (entry,) = (entry for entry in entries if envelope.correlation_id in entry.partition("\n")[0])
    assert entry.startswith("'act' broke its contract: ")
    assert text in entry
    if "lost" == kind:
        lines, first = inspect.getsourcelines(handler)
        line = first + next(number for number, line in enumerate(lines) if "# lost" in line)
        assert f"at {HERE}:{line}, and did not raise it" in record["broken_contract"]
    if handler not in (in_an_item, in_all_items, in_an_item_before_a_failure):
        assert 1 == len(records_of(path))
    assert verify(path).ok


@pytest.mark.parametrize("handler", BROKEN, ids=lambda handler: handler.__name__)
def test_a_lenient_server_answers_as_usual_and_records_the_violation(
    handler: Callable[..., Any], door: str, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A lost failure has a separate record that differs from a failure that a client received."""
    result = ask(served(handler, path))
    assert (handler not in (lost, in_an_item)) == result.is_error
    if handler in (undeclared, other_code, unfit_data, lost_before_a_failure):
        assert SECRET == envelope_of(result).message
    kind, text = BROKEN[handler]
    broken = [record for record in records_of(path) if "broken_contract" in record]
    assert broken
    for record in broken:
        assert [kind] == record["broken_contract_kinds"]
        assert text.partition(" (an item")[0] in record["broken_contract"]
        assert ("lost" == kind) == (record.get("outcome") == "lost")
    if "lost" == kind:
        (record,) = broken
        assert ("act", "NOT_FOUND", SECRET, 1) == tuple(record[key] for key in ("tool", "name", "message", "count"))
        assert ("no_match" if handler is lost else None) == record["reason"]
        sent = [other for other in records_of(path) if other is not record and "outcome" not in other]
        assert (0 if handler is lost else 1) == sum("outcome" not in entry for entry in records_of(path)), sent
        assert not result.is_error or record["correlationId"] != envelope_of(result).correlation_id
    assert any(entry.levelno == logging.WARNING for entry in caplog.records)
    assert verify(path).ok


@pytest.mark.parametrize("strict", [True, False])
def test_calls_that_keep_their_contract_do_not_change_on_a_strict_server(door: str, path: Path, strict: bool) -> None:
    """Successes, declared failures, crashes, failures without a reason and bad arguments stay the same."""

    def act(ctx: Context[Any], how: str) -> str:
        if how == "declared":
            raise ctx.fail("no_row", data={"row": 1})
        if how == "crash":
            raise KeyError("x")
        if how == "plain":
            raise conflict("Already there.")
        if how == "handled":
            with contextlib.suppress(CodedError):
                raise conflict("x", reason="typo")
        return "done"

    server = served(act, path, strict=strict)
    assert not ask(server, {"how": "well"}).is_error
    assert not ask(server, {"how": "handled"}).is_error
    names = [
        envelope_of(ask(server, arguments)).name
        for arguments in ({"how": "declared"}, {"how": "crash"}, {"how": "plain"}, {"how": 1})
    ]
    assert ["NOT_FOUND", "INTERNAL_ERROR", "CONFLICT", "INVALID_PARAMS"] == names
    assert not any("broken_contract" in record for record in records_of(path))


@pytest.mark.parametrize("handler", [undeclared, lost_before_a_crash, reserved_key])
def test_a_tool_without_a_contract(handler: Callable[..., Any], door: str, path: Path) -> None:
    """It cannot break a contract by a reason, but it can lose a failure or misuse a reserved key."""

    def plain() -> str:
        if handler is undeclared:
            raise conflict("Already there.", reason="own")
        if handler is reserved_key:
            raise conflict("Already there.", {"reason": "forged"})
        not_found(SECRET)
        return "done"

    server: Server[Any] = Server("s", audit=path, strict=True)
    server.add_tool(plain, name="act")
    result = ask(server)
    if handler is undeclared:
        assert ("own", "Already there.") == (envelope_of(result).reason, envelope_of(result).message)
    else:
        require_masked(envelope_of(result))
        (record,) = records_of(path)
        assert ["data" if handler is reserved_key else "lost"] == record["broken_contract_kinds"]


def test_several_violations_in_a_call_are_all_named(door: str, path: Path) -> None:
    """They come from the failure, lost failures and items; each kind is listed once, with a limited number of texts."""

    def act(ctx: Context[Any]) -> str:
        for _ in range(12):
            not_found(SECRET)
        ctx.record_failure(conflict(SECRET, reason="item"))
        raise conflict(SECRET, {"reason": "forged"}, reason="typo")

    require_masked(envelope_of(ask(served(act, path, strict=True))))
    item, record = records_of(path)
    assert "the reason 'item' is not declared" == item["broken_contract"]
    assert ["undeclared_reason", "data", "lost"] == record["broken_contract_kinds"]
    assert record["broken_contract"].endswith("; 5 more")


def test_failures_lost_at_the_same_place_share_a_record(door: str, path: Path) -> None:
    """The record has their number."""

    def act(ctx: Context[Any]) -> str:
        problems = [ctx.fail("no_match", f"No {n}.") for n in range(7)]
        not_found("x", reason="typo")
        return f"{len(problems)} problems"

    assert not ask(served(act, path)).is_error
    first, second = records_of(path)
    assert ("No 0.", 7, ["lost"]) == (first["message"], first["count"], first["broken_contract_kinds"])
    assert (1, ["undeclared_reason", "lost"]) == (second["count"], second["broken_contract_kinds"])


def test_expose_internal_errors_shows_the_violation(door: str, path: Path) -> None:
    """For development, the description is the message."""
    envelope = envelope_of(ask(served(other_code, path, strict=True, expose_internal_errors=True)))
    assert BROKEN[other_code][1] == envelope.message
    exception: Any = envelope.details["exception"]
    assert SECRET in exception["causes"][0]["message"]


def test_a_description_is_redacted_and_stays_on_one_line(
    door: str, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A reason may contain text from a caller."""

    def act() -> str:
        raise CodedError(ErrorCode.CONFLICT, "x", reason="a\nERROR forged\x1b[2J sk-ant-api03-" + "A1b2" * 20)

    require_masked(envelope_of(ask(served(act, path, strict=True))))
    (entry,) = (record.getMessage() for record in caplog.records if record.levelno == logging.ERROR)
    assert entry.partition("\n")[0].isprintable()
    assert "A1b2A1b2" not in entry + path.read_text()


def test_an_unreadable_failure_is_a_broken_contract(door: str, path: Path) -> None:
    """The answer is the same as elsewhere; the record gives the reason."""

    class HostileError(CodedError):
        @property
        def sent_reason(self) -> Any:
            raise SystemExit(SECRET)

    def act() -> str:
        raise HostileError(ErrorCode.CONFLICT, "x", {"a": 1})

    require_masked(envelope_of(ask(served(act, path, strict=True))))
    (record,) = records_of(path)
    assert ["other"] == record["broken_contract_kinds"]
    assert SECRET in record["broken_contract"]


def test_a_failure_that_cannot_be_described_is_still_reported_as_lost(door: str, path: Path) -> None:
    """A subclass may override its attributes with anything."""

    class HostileError(CodedError):
        def __getattribute__(self, name: str) -> Any:
            if name in ("code", "reason"):
                raise SystemExit(SECRET)
            return super().__getattribute__(name)

    def act() -> str:
        HostileError(ErrorCode.CONFLICT, "x")
        return "done"

    assert not ask(served(act, path)).is_error
    require_masked(envelope_of(ask(served(act, path, strict=True))))
    first, second = records_of(path)
    assert "lost" == first["outcome"]
    assert "made a failure, which cannot be read, at" in second["broken_contract"]


def test_some_of_very_many_broken_items_are_named(door: str, path: Path) -> None:
    """All have records."""

    def act(ctx: Context[Any]) -> str:
        for _ in range(MAX_NOTED + 5):
            ctx.record_failure(conflict(SECRET, reason="typo"))
        raise ctx.fail("no_match")

    ask(served(act, path, strict=True))
    records = records_of(path)
    assert MAX_NOTED + 6 == len(records)
    assert records[-1]["broken_contract"].endswith(f"; {MAX_NOTED - 10} more")


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("fails", [True, False])
def test_a_failure_lost_by_a_nested_call(door: str, path: Path, strict: bool, fails: bool) -> None:
    """The lost failure counts for the client's call."""

    @tool(name="inner", errors=ERRORS)
    def inner(ctx: Context[Literal["no_match", "no_row"]]) -> str:
        """Lose a failure."""
        ctx.fail("no_match", SECRET)
        if fails:
            raise conflict("x")
        return "done"

    async def act(ctx: Context[Any]) -> str:
        if door == "server":
            called = server.call_tool("inner", {})
        else:
            called = ctx.fastmcp.fastmcp.call_tool("inner", {}, run_middleware=False)
        with contextlib.suppress(Exception):
            await called
        return "done"

    server = served(act, path, strict=strict)
    server.add_tool(inner)
    assert strict == ask(server).is_error
    (record,) = records_of(path)
    assert ("act", ["lost"], not strict) == (record["tool"], record["broken_contract_kinds"], "outcome" in record)


# --- resources and prompts --------------------------------------------------------------------------------------------


@pytest.mark.anyio
@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("how", ["works", "lost", "undeclared", "lost_before", "protocol", "item"])
async def test_resources_and_prompts(
    door: str, path: Path, how: str, strict: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """They fail with a protocol error that gives no details."""
    server: Server[Any] = Server("s", audit=path, strict=strict)

    def answer(ctx: Context[Any], how: str) -> str:
        if how == "lost":
            ctx.fail("no_match", SECRET)
        if how == "undeclared":
            raise conflict(SECRET, reason="typo")
        if how == "lost_before":
            not_found(SECRET)
            raise ctx.fail("no_match", "x")
        if how == "protocol":
            not_found(SECRET)
            raise MCPError(code=-32050, message=SECRET)
        if how == "item":
            ctx.record_failure(conflict(SECRET, reason="typo"))
        return "done"

    @server.resource("data://{how}", errors=ERRORS)
    def read(ctx: Context[Any], how: str) -> str:
        """Read."""
        return answer(ctx, how)

    @server.prompt(errors=ERRORS)
    def write(ctx: Context[Any], how: str) -> str:
        """Write."""
        return answer(ctx, how)

    async with Client(server) as client:
        requests = (client.read_resource(f"data://{how}"), client.get_prompt("write", {"how": how}))
        outcomes = [await answers.settled(request) for request in requests]
    failed = [outcome for outcome in outcomes if isinstance(outcome, MCPError)]
    records = records_of(path)
    if how == "works":
        assert not failed
        assert not records
    elif strict:
        assert (2, 2) == (len(failed), len(records))
        for error, record, surface in zip(failed, records, ("resource", "prompt"), strict=True):
            assert -32603 == error.error.code
            envelope = Envelope.from_json(error.error.data["error"])
            assert ("INTERNAL_ERROR", record["correlationId"]) == (envelope.name, envelope.correlation_id)
            assert SECRET not in str(error.error)
            assert (f"data://{how}" if surface == "resource" else "write") == record[surface]
            assert ["lost" if how in ("lost", "lost_before", "protocol") else "undeclared_reason"] == record[
                "broken_contract_kinds"
            ]
        assert f"data://{how}" == failed[0].error.data["uri"]
    else:
        assert (how not in ("lost", "item")) == bool(failed)
        if how == "protocol":
            assert [SECRET, SECRET] == [error.error.message for error in failed]
        lost_ones = [record for record in records if record.get("outcome") == "lost"]
        assert (2 if how in ("lost", "lost_before", "protocol") else 0) == len(lost_ones)
        assert {"resource", "prompt"} == {record["surface"] for record in records}


@pytest.mark.anyio
@pytest.mark.parametrize("strict", [True, False])
async def test_a_failure_lost_before_a_protocol_step(door: str, path: Path, strict: bool) -> None:
    """A strict server fails the call; elsewhere the step is taken, and the record exists."""

    def act(ctx: Context[Any]) -> str:
        ctx.fail("no_match", SECRET)
        raise UrlElicitationRequiredError([ElicitRequestURLParams(message="m", url="https://a.b", elicitation_id="1")])

    server = served(act, path, strict=strict)

    @server.prompt(errors=ERRORS)
    def write(ctx: Context[Any]) -> str:
        """Write."""
        return act(ctx)

    async with Client(server) as client:
        result = await answers.settled(client.call_tool("act", {}))
        error = await answers.settled(client.get_prompt("write", {}))
    if strict:
        require_masked(envelope_of(result))
        assert -32603 == error.error.code
    else:
        assert [-32042, -32042] == [result.error.code, error.error.code]
    assert [["lost"], ["lost"]] == [record["broken_contract_kinds"] for record in records_of(path)]
    assert [not strict] * 2 == ["outcome" in record for record in records_of(path)]


@pytest.mark.server_only("an MCPError of a plain tool is a result in FastMCP")
def test_a_protocol_error_of_an_sdk_tool(door: str, path: Path) -> None:
    """Its author chose it, but after a lost failure a strict server answers with a result instead."""

    def plain() -> str:
        not_found("x")
        raise MCPError(code=-32050, message=SECRET)

    server: Server[Any] = Server("s", audit=path, strict=True)
    server.add_tool(plain, name="act")
    require_masked(envelope_of(ask(server)))


# --- options ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("value", "strict"), [("1", True), ("TRUE", True), ("yes", True), ("0", False), ("", False)])
def test_the_environment_variable_makes_servers_strict(
    value: str, strict: bool, door: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It accepts the same values as MCPCORE_EXPOSE_INTERNAL_ERRORS."""
    monkeypatch.setenv("MCPCORE_STRICT", value)
    assert strict == ask(served(lost, path)).is_error


def fastmcp_server(path: Path, **options: Any) -> Any:
    from fastmcp import FastMCP

    from mcpcore.integrations.fastmcp import ContractMiddleware

    mcp = FastMCP("s")
    mcp.add_middleware(ContractMiddleware(audit=path, **options))
    return mcp


@tool(name="act", errors=ERRORS)
def act_lost(ctx: Context[Literal["no_match", "no_row"]]) -> str:
    """Lose a failure."""
    ctx.fail("no_match", SECRET)
    return "done"


def ask_fastmcp(mcp: Any, name: str = "act") -> Any:
    return answers.ask(Client(mcp._mcp_server), lambda client: client.call_tool(name, {}))


@pytest.mark.server_only("its cases are the kinds of servers")
@pytest.mark.parametrize("kind", ["server", "fastmcp", "alone"])
def test_a_scope_makes_a_server_strict_or_lenient(kind: str, path: Path) -> None:
    """This includes a server in another thread; of overlapping scopes, the last one entered decides."""
    if kind == "server":
        server: Any = Server("s", tools=[act_lost], audit=path)
        call = ask
    else:
        from fastmcp import FastMCP

        server = fastmcp_server(path) if kind == "fastmcp" else FastMCP("s")
        server.add_tool(act_lost)
        call = ask_fastmcp
    results: list[bool] = []
    with strict_scope(server):
        thread = threading.Thread(target=lambda: results.append(call(server).is_error))
        thread.start()
        thread.join()
        with strict_scope(server, strict=False):
            results.append(call(server).is_error)
        results.append(call(server).is_error)
    results.append(call(server).is_error)
    assert [True, False, True, False] == results


def test_overlapping_scopes_may_be_left_in_any_order() -> None:
    """Scopes in concurrent tasks overlap like this."""
    strictness = Strictness()
    first, second = strictness.scope(strict=True), strictness.scope(strict=False)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert not strictness.on
    third = strictness.scope(strict=True)
    third.__enter__()
    second.__exit__(None, None, None)
    assert strictness.on
    third.__exit__(None, None, None)
    assert not strictness.on


def test_a_direct_call_in_a_unit_test_is_unaffected(monkeypatch: pytest.MonkeyPatch) -> None:
    """It returns the handler's result and raises its failure."""
    monkeypatch.setenv("MCPCORE_STRICT", "1")
    assert "done" == act_lost()

    @tool(errors=ERRORS)
    def other() -> str:
        """Raise another code."""
        raise conflict(SECRET, reason="no_match")

    with pytest.raises(CodedError, match=SECRET):
        other()


@pytest.mark.parametrize("noun", ["tool", "resource", "prompt"])
@pytest.mark.parametrize("strict", [True, False])
def test_a_fastmcp_server_without_a_middleware(
    noun: str, strict: bool, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The variable makes it strict, and it records lost failures to the path in MCPCORE_AUDIT."""
    from fastmcp import FastMCP

    monkeypatch.setenv("MCPCORE_STRICT", str(int(strict)))
    monkeypatch.setenv("MCPCORE_AUDIT", str(path))

    @resource("data://one", errors=ERRORS)
    def read(ctx: Context[Literal["no_match", "no_row"]]) -> str:
        """Read."""
        ctx.fail("no_match")
        return "done"

    @prompt(errors=ERRORS)
    def write(ctx: Context[Literal["no_match", "no_row"]]) -> str:
        """Write."""
        ctx.fail("no_match")
        return "done"

    mcp: Any = FastMCP("s")
    mcp.add_tool(act_lost)
    mcp.add_resource(read)
    mcp.add_prompt(write)

    requests: dict[str, Callable[[Client], Any]] = {
        "tool": lambda client: client.call_tool("act", {}),
        "resource": lambda client: client.read_resource("data://one"),
        "prompt": lambda client: client.get_prompt("write", {}),
    }
    outcome = answers.outcome_of(Client(mcp._mcp_server), requests[noun])
    assert strict == (outcome.is_error if noun == "tool" else isinstance(outcome, MCPError))
    (record,) = records_of(path)
    assert (noun, ["lost"]) == (record["surface"], record["broken_contract_kinds"])


@pytest.mark.parametrize("outer", [True, False, None])
@pytest.mark.parametrize("inner", [True, False, None])
def test_the_outermost_middleware_decides_for_mounted_servers(
    outer: bool | None, inner: bool | None, tmp_path: Path
) -> None:
    """None means a server without middleware."""
    from fastmcp import FastMCP

    below = FastMCP("below") if inner is None else fastmcp_server(tmp_path / "inner", strict=inner)
    below.add_tool(act_lost)
    above = FastMCP("above") if outer is None else fastmcp_server(tmp_path / "outer", strict=outer)
    above.mount(below, "below")
    assert bool(inner if outer is None else outer) == ask_fastmcp(above, "below_act").is_error
    with strict_scope(above):
        assert ask_fastmcp(above, "below_act").is_error
        with strict_scope(above, strict=False):
            assert not ask_fastmcp(above, "below_act").is_error
    assert bool(inner if outer is None else outer) == ask_fastmcp(above, "below_act").is_error


def test_a_failure_lost_by_other_middleware(path: Path) -> None:
    """A mounted server answers the call."""
    from fastmcp.server.middleware import Middleware

    class Losing(Middleware):
        async def on_call_tool(self, context: Any, call_next: Any) -> Any:
            not_found("x")
            return await call_next(context)

    below = fastmcp_server(path.with_name("inner"))

    @below.tool(name="act")
    @tool(name="act", errors=ERRORS)
    def fail(ctx: Context[Literal["no_match", "no_row"]]) -> str:
        """Fail."""
        raise ctx.fail("no_match")

    mcp = fastmcp_server(path, strict=True)
    mcp.add_middleware(Losing())
    mcp.mount(below)
    require_masked(envelope_of(ask_fastmcp(mcp)))
    (record,) = records_of(path)
    assert ["lost"] == record["broken_contract_kinds"]


# --- records ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("handler", [lost, lost_before_a_failure])
def test_a_call_whose_lost_failure_cannot_be_recorded_is_withheld(
    handler: Callable[..., Any], strict: bool, door: str, tmp_path: Path
) -> None:
    """This holds if the trail's policy is to refuse, even for a call that succeeded."""
    folder = tmp_path / "trail"
    folder.mkdir()
    path = folder / "audit.jsonl"
    trail = AuditTrail.open(path, policy="refuse")
    server = served(handler, trail, strict=strict)
    trail.close()
    path.unlink()
    (folder / "audit.jsonl.head").unlink(missing_ok=True)
    path.mkdir()
    result = ask(server)
    assert result.is_error
    assert "audit_failed" == envelope_of(result).reason


def test_the_log_line_for_a_record_says_that_it_was_lost(
    door: str, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The call itself did not fail."""
    caplog.set_level(logging.INFO)
    ask(Server("s", tools=[act_lost], audit=path))
    (record,) = records_of(path)
    lines = [entry.getMessage() for entry in caplog.records if entry.name == "mcpcore.audit"]
    assert [f"'act' lost a failure: no_match (id {record['correlationId']})"] == lines
