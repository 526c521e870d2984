"""Every dialect is written as its specification says, read back without loss, and never mistaken for another."""

from __future__ import annotations

import json
from typing import Any, Literal

import jsonschema
import pytest
from hypothesis import given, settings, strategies as st
from mcp.client import Client

from mcpcore import Context, CustomCode, Envelope, ErrorCode, FailureMode, Retry, Server, tool
from mcpcore.contract.bound_fields import FIELDS
from mcpcore.contract.codes import EFFECTS
from mcpcore.contract.limits import DEFAULT_LIMITS
from mcpcore.wire.dialects import DIALECTS, dialect_named, ok_envelope, read_result, system_error, taxonomy
from mcpcore.wire.envelope_builder import build_envelope
from tests.answers import envelope_of, settled
from tests.dialects.test_reading import failure_in

NAMES = sorted(DIALECTS)
LOSSLESS = sorted(set(NAMES) - {"system_error"})

words = st.text(min_size=1, max_size=40).filter(lambda text: text.strip())
plain_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)
retries = (
    st.just(Retry.never())
    | st.just(Retry.now())
    | st.integers(0, 10**9).map(lambda ms: Retry("retryable_after_ms", ms))
)


@st.composite
def envelopes(draw: st.DrawFn) -> Envelope:
    masked = draw(st.booleans())
    return build_envelope(
        draw(st.sampled_from(list(ErrorCode))),
        draw(words),
        retry=draw(retries),
        effects=draw(st.none() | st.sampled_from(EFFECTS)),
        tool=draw(st.none() | words),
        data=None
        if masked
        else draw(st.none() | st.dictionaries(st.text(max_size=12) | st.just("mcpcore"), plain_json)),
        masked=masked,
        reason=None if masked else draw(st.none() | words),
        recovery=None if masked else draw(st.none() | st.fixed_dictionaries({"hint": words})),
        context=draw(st.dictionaries(st.sampled_from(FIELDS), words)),
    )


def as_result(dialect: str, envelope: Envelope) -> dict[str, Any]:
    writer = dialect_named(dialect)
    structured, text = writer.write(envelope, limits=DEFAULT_LIMITS)
    return {
        "isError": writer.is_error,
        "content": [{"type": "text", "text": text}],
        "structuredContent": json.loads(json.dumps(structured, allow_nan=False)),
    }


# To draw a failure costs more than to write and read it, so each dialect gets the same ones.
@settings(max_examples=30)
@given(envelope=envelopes())
def test_a_round_trip_loses_nothing(envelope: Envelope) -> None:
    """A dialect with room for details is read back equal and identified."""
    for dialect in LOSSLESS:
        read = read_result(as_result(dialect, envelope))
        assert envelope == read, dialect
        assert read is not None
        assert dialect == read.dialect


@settings(max_examples=30)
@given(envelope=envelopes())
def test_system_error_keeps_everything_that_it_has_a_field_for(envelope: Envelope) -> None:
    """The governance envelope keeps the message, the tool, the time and the bound fields."""
    read = failure_in(as_result("system_error", envelope))
    assert (envelope.message, envelope.tool, envelope.timestamp, envelope.context) == (
        read.message,
        None if read.tool == "unknown" else read.tool,
        read.timestamp,
        read.context,
    ) or envelope.tool == "unknown"
    assert read.native_code == system_error.registered_code(envelope)


@settings(max_examples=30)
@given(envelope=envelopes())
def test_the_text_alone_has_the_same_content_as_the_structured_content(envelope: Envelope) -> None:
    """A client that keeps only the text reads the same failure."""
    for dialect in sorted({*NAMES} - {"canonical"}):
        result = as_result(dialect, envelope)
        del result["structuredContent"]
        assert read_result(as_result(dialect, envelope)) == read_result(result), dialect


@settings(max_examples=30)
@given(envelope=envelopes())
def test_a_failure_fits_the_schema_of_its_dialect(envelope: Envelope) -> None:
    """A dialect's advertised schema accepts every failure of it."""
    for name, dialect in DIALECTS.items():
        jsonschema.validate(as_result(name, envelope)["structuredContent"], {"type": "object", **dialect.schema})


def test_system_error_has_every_field_of_its_specification() -> None:
    """Required fields are present or null; cause and stack trace appear only with internal errors exposed."""
    envelope = build_envelope(ErrorCode.INVALID_PARAMS, "path must be a string", retry=Retry.never(), tool="write_file")
    written, text = dialect_named("system_error").write(envelope, limits=DEFAULT_LIMITS)
    assert {
        "error_code": "INVALID_INPUT_TYPE",
        "human_message": "path must be a string",
        "role": None,
        "session_id": None,
        "workspace_root": None,
        "tool_name": "write_file",
        "invariant_id": None,
        "phase_id": None,
        "plan_hash": None,
        "cause": None,
        "timestamp": envelope.timestamp,
    } == written
    assert written == json.loads(text)


def test_system_error_writes_cause_and_stack_if_exceptions_are_exposed() -> None:
    """The cause is `{message, code, name}`, and the traceback is in `stack_trace`."""
    exposed = {"type": "ValueError", "message": "bad", "causes": [], "traceback": "Traceback …"}
    envelope = build_envelope(
        ErrorCode.INTERNAL_ERROR,
        "bad",
        retry=Retry.never(),
        tool="t",
        data={"exception": exposed},
        context={"role": "R"},
    )
    written, _ = dialect_named("system_error").write(envelope, limits=DEFAULT_LIMITS)
    assert {"message": "bad", "code": None, "name": "ValueError"} == written["cause"]
    assert "Traceback …" == written["stack_trace"]
    assert "R" == written["role"]


def test_the_cause_is_the_exception_behind_a_coded_error() -> None:
    """A coded error is not its own cause, and the author's data under that key is not an exception."""
    coded = {"type": "mcpcore.contract.errors.CodedError", "message": "no", "traceback": "T"}
    inner = {"type": "OSError", "message": "disk"}
    for exception, cause in (
        ({**coded, "causes": [inner]}, {"message": "disk", "code": None, "name": "OSError"}),
        ({**coded, "causes": []}, None),
        ({"type": "X", "message": "the author's", "traceback": "T"}, None),
        ("text", None),
    ):
        envelope = build_envelope(
            ErrorCode.CONFLICT, "no", retry=Retry.never(), tool="t", data={"exception": exception}
        )
        written, _ = dialect_named("system_error").write(envelope, limits=DEFAULT_LIMITS)
        assert cause == written["cause"]
        assert ("stack_trace" in written) == (isinstance(exception, dict) and "causes" in exception)


def test_system_error_takes_a_registered_reason_as_its_code() -> None:
    """A declared reason that the specification registers is the code; a bound invariant makes it a violation."""
    envelope = build_envelope(ErrorCode.NOT_FOUND, "gone", retry=Retry.never(), tool="t", reason="file_not_found")
    assert "FILE_NOT_FOUND" == system_error.registered_code(envelope)
    read = failure_in(as_result("system_error", envelope))
    assert ("file_not_found", ErrorCode.NOT_FOUND) == (read.reason, read.error_code)
    bound = build_envelope(
        ErrorCode.INTERNAL_ERROR, "no", retry=Retry.never(), tool="t", context={"invariant_id": "MANDATORY_DIAGNOSTICS"}
    )
    assert "INVARIANT_VIOLATION" == system_error.registered_code(bound)


def test_ok_envelope_has_two_patterns() -> None:
    """Pattern A is `{ok: false, error}` with isError; pattern B hides the same as the data of a success."""
    envelope = build_envelope(ErrorCode.NOT_FOUND, "no task", retry=Retry.never(), tool="task_get")
    plain, hidden = as_result("ok_envelope", envelope), as_result("ok_envelope_b", envelope)
    assert (True, False) == (plain["isError"], hidden["isError"])
    assert {"ok", "error"} == plain["structuredContent"].keys()
    assert ("HANDLER_ERROR", "no task") == tuple(
        plain["structuredContent"]["error"][key] for key in ("code", "message")
    )
    assert {"ok": True, "data": {"ok": False, "error": hidden["structuredContent"]["data"]["error"]}} == hidden[
        "structuredContent"
    ]
    assert "ERR_NOT_FOUND" == hidden["structuredContent"]["data"]["error"]["code"]


def test_taxonomy_has_every_field_of_its_specification() -> None:
    """Actions, hint, fallback tool, correlation id and wait are in the specified fields."""
    envelope = build_envelope(
        ErrorCode.RATE_LIMITED,
        "slow down",
        retry=Retry.after(seconds=2),
        tool="t",
        recovery={"hint": "Wait.", "fallbackTool": "cached", "userMessage": "Busy."},
    )
    written, text = dialect_named("taxonomy").write(envelope, limits=DEFAULT_LIMITS)
    assert written == json.loads(text)
    assert written.pop("details").keys() <= {"retryable", "recovery", "mcpcore"}
    assert {
        "code": "RATE_LIMITED",
        "message": "slow down",
        "retry_after_ms": 2000,
        "recovery_actions": ["wait_and_retry", "use_cached_data"],
        "fallback_tool": "cached",
        "correlation_id": envelope.correlation_id,
        "timestamp": envelope.timestamp,
        "recovery_hint": "RETRY_LATER",
        "userMessage": "Busy.",
    } == written


def test_taxonomy_has_default_actions_if_the_author_declared_none() -> None:
    """The specification maps its codes to actions, and declared actions override the map."""
    assert set(taxonomy.READ) == set(taxonomy.ACTIONS)
    envelope = build_envelope(ErrorCode.DATABASE_ERROR, "no", retry=Retry.never(), tool="t")
    written, _ = dialect_named("taxonomy").write(envelope, limits=DEFAULT_LIMITS)
    assert ("DEPENDENCY_FAILED", ["use_fallback_service", "retry_later"]) == (
        written["code"],
        written["recovery_actions"],
    )
    own = build_envelope(
        ErrorCode.CONFLICT, "no", retry=Retry.never(), tool="t", recovery={"hint": "Wait.", "actions": ["ask"]}
    )
    assert ["ask"] == dialect_named("taxonomy").write(own, limits=DEFAULT_LIMITS)[0]["recovery_actions"]


def test_tool_error_always_has_its_retry() -> None:
    """`retry` is the union and the suggestion is the hint; the root has no other fields."""
    envelope = build_envelope(
        ErrorCode.TIMEOUT, "slow", retry=Retry.now(), tool="t", recovery={"hint": "Ask for less."}
    )
    written, _ = dialect_named("tool_error").write(envelope, limits=DEFAULT_LIMITS)
    assert {"code", "message", "retry", "suggestion", "details"} == written.keys()
    assert ({"kind": "retryable_immediate"}, "Ask for less.") == (written["retry"], written["suggestion"])


@pytest.mark.parametrize(
    ("foreign", "dialect", "code", "native"),
    [
        (
            {
                "isError": True,
                "structuredContent": {"error": {"code": -32001, "message": "x", "data": {"reason": "r"}}},
            },
            "canonical",
            ErrorCode.NOT_FOUND,
            None,
        ),
        (
            {
                "structuredContent": {
                    "ok": True,
                    "data": {"ok": False, "error": {"code": "ERR_NOT_FINALIZED", "message": "x"}},
                }
            },
            "ok_envelope_b",
            ErrorCode.CONFLICT,
            "ERR_NOT_FINALIZED",
        ),
        (
            {
                "structuredContent": {
                    "ok": False,
                    "error": {"code": "INVALID_PARAMS", "message": "x", "details": {"issues": []}},
                }
            },
            "ok_envelope",
            ErrorCode.INVALID_PARAMS,
            "INVALID_PARAMS",
        ),
        (
            {
                "isError": True,
                "content": [
                    {
                        "type": "text",
                        "text": json.dumps(
                            {
                                "code": "CIRCUIT_OPEN",
                                "message": "x",
                                "retry_after_ms": 5000,
                                "recovery_actions": ["use_fallback_service"],
                                "correlation_id": "c",
                                "timestamp": "t",
                            }
                        ),
                    }
                ],
            },
            "taxonomy",
            ErrorCode.SERVICE_UNAVAILABLE,
            "CIRCUIT_OPEN",
        ),
        (
            {
                "isError": True,
                "structuredContent": {"code": "TOKEN_EXPIRED", "message": "x", "retry": {"kind": "not_retryable"}},
            },
            "tool_error",
            ErrorCode.UNKNOWN_ERROR,
            "TOKEN_EXPIRED",
        ),
        (
            {
                "isError": True,
                "structuredContent": {"error_code": "SESSION_LOCKED", "human_message": "x", "tool_name": "t"},
            },
            "system_error",
            ErrorCode.FORBIDDEN,
            "SESSION_LOCKED",
        ),
        (
            {"isError": True, "content": [{"type": "text", "text": "Error executing tool fetch"}]},
            "unknown",
            ErrorCode.UNKNOWN_ERROR,
            None,
        ),
    ],
)
def test_envelopes_of_other_implementations_are_read(
    foreign: dict[str, Any], dialect: str, code: ErrorCode, native: str | None
) -> None:
    """They contain nothing from this framework."""
    read = envelope_of(foreign)
    assert (dialect, code, native) == (read.dialect, read.error_code, read.native_code)


@pytest.mark.parametrize(
    "structured",
    [
        {"ok": True, "data": {"ok": True}},
        {"ok": True, "data": {"error": None}},
        {"ok": False},
        {"ok": False, "error": None},
        {"ok": False, "error": "not a code"},
        {"error": None},
        {"error": {}},
        {"error": {"code": 0, "message": "compiled without errors"}},
        {"error": {"code": -32001, "message": "the last error that the log has"}},
        {"code": "print(1)", "message": "a snippet"},
        {"code": "A1", "message": "x", "retry": 3},
        {"code": "NOT_FOUND", "message": "in a list of codes"},
        {"code": "A", "message": "x", "recovery_actions": []},
        {"error_code": "E501", "human_message": "line too long"},
        {"error_code": "E501", "human_message": "line too long", "tool_name": "ruff", "timestamp": "now"},
        {"ok": False, "error": {"code": "E501", "message": "line too long"}},
        {"ok": False, "error": {"code": "SC2086", "message": "quote this", "line": 3}},
        {"ok": False, "error": {"code": "TIMEOUT", "message": "x"}, "task": "the check that was asked for"},
        {"ok": True, "data": {"ok": False, "error": {"code": "ERR_X", "message": "x"}, "runs": 3}},
        {"ok": True, "data": {"ok": False, "error": {"code": "ERR_X", "message": "x"}}, "page": 1},
        {"ok": False, "error": "channel_not_found"},
        {"error": {"code": 404, "message": "what the proxied service said"}, "status": 404},
        {"error": {"code": 404, "message": "Not found", "status": "NOT_FOUND"}},
        {
            "id": 7,
            "error": {
                "code": -32001,
                "name": "NOT_FOUND",
                "message": "the last failure of the log",
                "retry": {"kind": "not_retryable"},
                "correlationId": "0123456789abcdef",
                "timestamp": "then",
            },
        },
        {"code": "print", "message": "m", "retry": {"kind": "not_retryable"}},
        {
            "code": "OUT_OF_STOCK",
            "message": "a support ticket",
            "recovery_actions": ["reorder"],
            "correlation_id": "c",
            "timestamp": "t",
        },
        {
            "code": "TIMEOUT",
            "message": "a recorded incident",
            "recovery_actions": [],
            "correlation_id": "c",
            "timestamp": "t",
            "assignee": "ann",
        },
        {"result": [{"ok": False, "error": {"code": "ERR_X", "message": "x"}}]},
        {"result": {"ok": True}},
        {"result": "Error: not one"},
        {},
    ],
)
def test_a_success_is_never_mistaken_for_a_failure(structured: dict[str, Any]) -> None:
    """Results that share a word with a failure are successes."""
    text = {"type": "text", "text": json.dumps(structured)}
    assert Envelope.from_result({"isError": False, "structuredContent": structured, "content": [text]}) is None


def test_the_text_of_a_success_that_has_structured_content_is_not_read() -> None:
    """A tool that reads files may return another tool's failure as text, also in one of several blocks."""
    failure = json.dumps({"ok": False, "error": {"code": "ERR_NOT_FOUND", "message": "x"}})
    block = {"type": "text", "text": failure}
    assert Envelope.from_result({"structuredContent": {"path": "a.json", "text": failure}, "content": [block]}) is None
    assert Envelope.from_result({"content": [{"type": "text", "text": "a.json:"}, block]}) is None
    for alone in ({"content": [block]}, {"content": [block], "structuredContent": {"result": failure}}):
        read = envelope_of(alone)
        assert ("ok_envelope", "ERR_NOT_FOUND") == (read.dialect, read.native_code)


@settings(max_examples=40)
@given(
    structured=st.dictionaries(
        st.sampled_from(["ok", "error", "data", "code", "message", "retry", "result"]), plain_json
    )
)
def test_reading_never_raises(structured: dict[str, Any]) -> None:
    """Reading returns an answer for any result from a server."""
    for is_error in (False, True, None, "yes"):
        Envelope.from_result({"isError": is_error, "structuredContent": structured, "content": None})
        Envelope.from_result({"isError": is_error, "content": [{"text": json.dumps(structured)}, 3, None]})


def test_tables_cover_every_code() -> None:
    """In each dialect with separate codes, every code is written and every written code is read."""
    for written, read in (
        (system_error.WRITTEN, system_error.READ),
        (ok_envelope.DOMAIN_CODES, ok_envelope.READ),
        (taxonomy.WRITTEN, taxonomy.READ),
    ):
        assert set(ErrorCode) == set(written)
        assert set(written.values()) <= set(read)


@pytest.mark.usefixtures("door")
@pytest.mark.parametrize("dialect", NAMES)
@pytest.mark.anyio
async def test_a_server_answers_in_any_dialect(dialect: str) -> None:
    """A real client gets the dialect, the advertised schema accepts it, and successes do not change."""

    @tool(errors=[FailureMode("full", ErrorCode.CONFLICT, when="The store is full.", recovery="Delete an item first.")])
    def put(ctx: Context[Literal["full"]], code: int) -> dict[str, int]:
        if code:
            raise ctx.fail("full", "broken", {"n": code})
        return {"code": code}

    async with Client(Server("s", tools=[put], dialect=dialect)) as client:
        schema = (await client.list_tools()).tools[0].output_schema
        assert schema is not None
        assert {"code": 0} == (await client.call_tool("put", {"code": 0})).structured_content
        result = await client.call_tool("put", {"code": 3})
    jsonschema.validate(result.structured_content, schema)
    read = envelope_of(result)
    assert (dialect, "broken") == (read.dialect, read.message)


@pytest.mark.usefixtures("door")
@pytest.mark.parametrize("dialect", NAMES)
@pytest.mark.anyio
async def test_every_kind_of_failure_uses_the_dialect(dialect: str) -> None:
    """Bad arguments, unknown tools, crashes, SDK tools and oversized failures are covered."""
    from mcp.server.mcpserver.exceptions import ToolError

    @tool(errors=[FailureMode("full", ErrorCode.CONFLICT, when="The store is full.", recovery="Delete an item first.")])
    def put(ctx: Context[Literal["full"]], how: Literal["crash", "large"]) -> dict[str, int]:
        if how == "crash":
            raise RuntimeError("a secret of the crash")
        raise ctx.fail("full", "m" * 5_000, {"n": "d" * 100_000})

    server = Server("s", tools=[put], dialect=dialect, unknown_tool="result", bind={"session_id": "S"})

    @server.tool()
    def plain() -> Any:  # without an output schema, so that its failure is structured on FastMCP too
        raise ToolError("as the SDK's own tools fail")

    async with Client(server) as client:
        for name, arguments, code, said in (
            ("put", {"how": 3}, ErrorCode.INVALID_PARAMS, "how"),
            ("putt", {}, ErrorCode.NOT_FOUND, "put"),
            ("put", {"how": "crash"}, ErrorCode.INTERNAL_ERROR, ErrorCode.INTERNAL_ERROR.sentence),
            ("plain", {}, ErrorCode.INTERNAL_ERROR, "as the SDK's own tools fail"),
            ("put", {"how": "large"}, ErrorCode.CONFLICT, "mmm"),
        ):
            result = await client.call_tool(name, arguments)
            text = json.dumps(result.structured_content)
            read = envelope_of(result)
            assert (dialect, DIALECTS[dialect].is_error) == (read.dialect, result.is_error)
            assert dialect == "system_error" or code == read.error_code
            assert said in read.message
            assert read.context == {"session_id": "S"}
            assert len(text) < 50_000
            assert "secret" not in text + str(result.content)


@pytest.mark.usefixtures("door")
@pytest.mark.parametrize("dialect", NAMES)
@pytest.mark.anyio
async def test_only_exposure_adds_causes_and_traces(dialect: str) -> None:
    """With `expose_internal_errors` the exception is in the dialect's own field."""

    @tool
    def act() -> str:
        raise RuntimeError("why it crashed")

    async with Client(Server("s", tools=[act], dialect=dialect, expose_internal_errors=True)) as client:
        content: Any = (await client.call_tool("act", {})).structured_content
    assert "why it crashed" in json.dumps(content)
    if dialect == "system_error":
        assert ("RuntimeError", "why it crashed") == (content["cause"]["name"], content["cause"]["message"])
        assert "Traceback" in content["stack_trace"]


@pytest.mark.usefixtures("door")
@pytest.mark.parametrize("dialect", NAMES)
@pytest.mark.anyio
async def test_advertised_schemas_have_a_root_that_older_clients_accept(dialect: str) -> None:
    """The root is an object that accepts failures and successes, but no empty object and no mixture."""
    from pydantic import BaseModel

    class Found(BaseModel):
        code: int
        ok: bool

    @tool
    def find() -> Found:
        return Found(code=1, ok=True)

    async with Client(Server("s", tools=[find], dialect=dialect)) as client:
        schema = (await client.list_tools()).tools[0].output_schema
    assert schema is not None
    assert "object" == schema["type"]
    jsonschema.Draft7Validator.check_schema(schema)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    envelope = build_envelope(ErrorCode.CONFLICT, "no", retry=Retry.never(), tool="find")
    assert validator.is_valid({"code": 1, "ok": True})
    assert validator.is_valid(as_result(dialect, envelope)["structuredContent"])
    assert not validator.is_valid({})
    assert not validator.is_valid({"code": "one"})


def test_an_unknown_dialect_is_refused() -> None:
    """The error lists the valid names."""
    with pytest.raises(ValueError, match="'canonical'"):
        Server("s", dialect="klingon")


FOREIGN: dict[str, list[dict[str, Any]]] = {
    "system_error": [
        {
            "error_code": "HASH_MISMATCH",
            "human_message": "the file changed",
            "role": "WINDSURF",
            "session_id": "550e8400-e29b",
            "workspace_root": "/home/user/project",
            "tool_name": "write_file",
            "invariant_id": "MANDATORY_DIAGNOSTICS",
            "phase_id": "PHASE_5A",
            "plan_hash": "abc123",
            "cause": {"message": "m", "code": "ENOENT", "name": "Error"},
            "timestamp": "2026-01-19T15:32:10.123Z",
            "stack_trace": "Error: m\\n at x",
        },
        *(
            {
                "error_code": code,
                "human_message": "x",
                "role": None,
                "session_id": None,
                "workspace_root": None,
                "tool_name": "t",
                "invariant_id": None,
                "phase_id": None,
                "plan_hash": None,
                "cause": cause,
                "timestamp": "2026-01-19T15:32:10.123Z",
            }
            for code, cause in (
                ("FILE_READ_FAILED", "why"),
                ("NEW_ONE", {"any": [1], "name": "E"}),
                ("UNKNOWN_TOOL_FAILURE", {"message": "only"}),
                ("SESSION_LOCKED", {"message": "m", "code": None, "name": "E"}),
                ("PLAN_NOT_FOUND", None),
            )
        ),
    ],
    "taxonomy": [
        {
            "code": code,
            "message": "x",
            "retry_after_ms": 5000,
            "recovery_actions": actions,
            "fallback_tool": "list_orders",
            "correlation_id": "u-1",
            "timestamp": "2026-01-19T15:32:10.123Z",
            "recovery_hint": "CHECK_INPUT",
            "userMessage": "Look.",
            "corrective_params": {"id": "7"},
        }
        for code, actions in (("CIRCUIT_OPEN", ["check_service_status"]), ("INSUFFICIENT_BALANCE", ["add_funds"]))
    ],
    "tool_error": [
        {"code": "TOKEN_EXPIRED", "message": "x", "retry": {"kind": "retryable_immediate"}, "suggestion": "Again."}
    ],
    "ok_envelope": [{"ok": False, "error": {"code": "HANDLER_ERROR", "message": "ROUND_NOT_FOUND: x"}}],
    "ok_envelope_b": [
        {"ok": True, "data": {"ok": False, "error": {"code": code, "message": "x"}}}
        for code in ("ERR_WRITEBACK_REQUIRED", "ERR_NOT_FINALIZED", "ERR_OF_THEIRS")
    ],
}


def without_ours(value: Any) -> Any:
    """Return the written envelope without the details that this framework adds."""
    if not isinstance(value, dict):
        return value
    return {key: without_ours(inner) for key, inner in value.items() if key != "details"}


@pytest.mark.parametrize(
    ("dialect", "foreign"), [(name, foreign) for name, forms in FOREIGN.items() for foreign in forms]
)
def test_foreign_envelopes_are_written_back_unchanged(dialect: str, foreign: dict[str, Any]) -> None:
    """A proxy that answers in the dialect of the envelope that it read keeps its code, cause and fields."""
    read = failure_in({"isError": dialect != "ok_envelope_b", "structuredContent": foreign})
    assert dialect == read.dialect
    written, _ = dialect_named(dialect).write(read, limits=DEFAULT_LIMITS)
    assert foreign == without_ours(written)
    assert read_result({"isError": dialect != "ok_envelope_b", "structuredContent": written}) == read


def test_a_reason_that_is_a_code_of_the_dialect_is_written_as_that_code() -> None:
    """The declared reason is more specific than its code, and so is an application code with that name."""

    def envelope_with(reason: str, code: Any = ErrorCode.CONFLICT) -> Envelope:
        return build_envelope(code, "x", retry=Retry.never(), tool="t", reason=reason)

    assert (
        "INSUFFICIENT_BALANCE"
        == as_result("taxonomy", envelope_with("insufficient_balance"))["structuredContent"]["code"]
    )
    assert ["check_balance", "add_funds"] == as_result("taxonomy", envelope_with("insufficient_balance"))[
        "structuredContent"
    ]["recovery_actions"]
    hidden = as_result("ok_envelope_b", envelope_with("writeback_required"))["structuredContent"]
    assert "ERR_WRITEBACK_REQUIRED" == hidden["data"]["error"]["code"]
    assert (
        "HANDLER_ERROR"
        == as_result("ok_envelope", envelope_with("writeback_required"))["structuredContent"]["error"]["code"]
    )
    custom = CustomCode(
        "PLAN_NOT_APPROVED", 41500, http_status=403, category="client", retry=Retry.never(), sentence="Not approved."
    )
    assert "PLAN_NOT_APPROVED" == system_error.registered_code(envelope_with("of_ours", custom))
    assert (
        "BUSINESS_RULE_VIOLATION"
        == as_result("taxonomy", envelope_with("of_ours", custom))["structuredContent"]["code"]
    )
    for dialect in LOSSLESS:
        envelope = envelope_with("insufficient_balance", custom)
        assert envelope == read_result(as_result(dialect, envelope))


@pytest.mark.usefixtures("door")
@pytest.mark.anyio
async def test_an_absent_argument_is_a_missing_field_in_system_error() -> None:
    """The specification has separate codes for absent arguments and for wrong types or both."""

    @tool
    def write(path: str, mode: int = 0) -> str:
        return path

    async with Client(Server("s", tools=[write], dialect="system_error")) as client:
        for arguments, code in (
            ({}, "MISSING_REQUIRED_FIELD"),
            ({"path": 3}, "INVALID_INPUT_TYPE"),
            ({"mode": "x"}, "INVALID_INPUT_TYPE"),
            ({"path": "a", "x": 1}, "INVALID_INPUT_TYPE"),
        ):
            result = await client.call_tool("write", arguments)
            assert code == (result.structured_content or {})["error_code"]
            assert ErrorCode.INVALID_PARAMS == envelope_of(result).error_code


def test_an_authors_own_invalid_arguments_have_no_issues() -> None:
    """A failure whose reason has that name but whose data differ is mapped by the table."""
    for data in ({}, {"issues": "none"}, {"issues": []}, {"issues": ["missing"]}):
        envelope = build_envelope(
            ErrorCode.INVALID_PARAMS, "x", retry=Retry.never(), tool="t", data=data, reason="invalid_arguments"
        )
        assert "INVALID_INPUT_TYPE" == system_error.registered_code(envelope)


@pytest.mark.parametrize(
    ("retry", "recovery", "hint"),
    [
        (Retry.never(), None, "REPORT_TO_USER"),
        (Retry.after(seconds=1), None, "RETRY_LATER"),
        (Retry.never(), {"hint": "h", "fallbackTool": "cached"}, "TRY_ALTERNATIVE"),
        (Retry.after(seconds=1), {"hint": "h", "fallbackTool": "cached"}, "RETRY_LATER"),
        (Retry.never(), {"hint": "h", "correctiveParams": {"a": 1}}, "CHECK_INPUT"),
        (Retry.never(), {"hint": "h", "strategy": "retry_later"}, "RETRY_LATER"),
    ],
)
def test_the_hint_never_contradicts_the_advice(retry: Retry, recovery: dict[str, Any] | None, hint: str) -> None:
    """A rate limit without a retry is only reported, while fallback tools and other parameters are to be used."""
    envelope = build_envelope(ErrorCode.RATE_LIMITED, "x", retry=retry, tool="t", recovery=recovery)
    written = as_result("taxonomy", envelope)["structuredContent"]
    assert hint == written["recovery_hint"]
    assert (recovery or {}).get("correctiveParams") == written.get("corrective_params")


@pytest.mark.usefixtures("door")
@pytest.mark.parametrize("dialect", NAMES)
@pytest.mark.anyio
async def test_the_failed_items_of_a_batch_use_the_dialect(dialect: str) -> None:
    """They are listed next to successful items, and in the data of a batch that failed as a whole."""
    from mcpcore.services.batch import Batch, BatchResult

    @tool(errors=[FailureMode("full", ErrorCode.CONFLICT, when="The store is full.", recovery="Delete an item first.")])
    def put(ctx: Context[Literal["full"]], items: list[int]) -> BatchResult[int]:
        batch = Batch[int](ctx)
        for item in items:
            with batch.item(item):
                if item < 0:
                    raise ctx.fail("full", f"no room for {item}", {"item": item})
                batch.add(item)
        return batch.result()

    async with Client(Server("s", tools=[put], dialect=dialect)) as client:
        some = await client.call_tool("put", {"items": [1, -2]})
        none = await client.call_tool("put", {"items": [-1, -2]})
    assert not some.is_error
    assert Envelope.from_result(some) is None
    content: Any = some.structured_content
    failures = [*content["failed"], *envelope_of(none).details.get("failed", [])]
    assert (1 if dialect == "system_error" else 3) == len(failures)
    for failure in failures:
        error = failure["error"]
        wrapped = {"canonical": {"error": error}, "ok_envelope": {"ok": False, "error": error}}.get(dialect, error)
        if dialect == "ok_envelope_b":
            wrapped = {"ok": True, "data": {"ok": False, "error": error}}
        read = envelope_of({"isError": True, "structuredContent": wrapped})
        assert (dialect, f"no room for {failure['item']}") == (read.dialect, read.message)
        assert dialect == "system_error" or "full" == read.reason


@pytest.mark.usefixtures("door")
@pytest.mark.parametrize("dialect", NAMES)
@pytest.mark.anyio
async def test_a_protocol_error_uses_the_dialect(dialect: str) -> None:
    """An unknown tool has no result, so the error's data has the content of one."""
    async with Client(Server("s", dialect=dialect, bind={"role": "R"})) as client:
        error = await settled(client.call_tool("nothing", {}))
    assert -32602 == error.code
    jsonschema.validate(error.data, {"type": "object", **DIALECTS[dialect].schema})
    read = envelope_of(error)
    assert (dialect, ErrorCode.NOT_FOUND, {"role": "R"}) == (read.dialect, read.error_code, read.context)


@pytest.mark.usefixtures("door")
@pytest.mark.anyio
async def test_the_cause_of_a_crash_in_an_sdk_tool_is_the_original_exception() -> None:
    """The SDK's wrapper is not the cause."""
    server: Any = Server("s", dialect="system_error", expose_internal_errors=True)

    @server.tool()
    def act() -> Any:  # as above
        raise OSError("the disk")

    async with Client(server) as client:
        content: Any = (await client.call_tool("act", {})).structured_content
    assert {"message": "the disk", "code": None, "name": "OSError"} == content["cause"]


HIDDEN: dict[str, dict[str, Any]] = {
    "taxonomy": {
        "code": "DEPENDENCY_FAILED",
        "message": "Order service unavailable",
        "retry_after_ms": 5000,
        "recovery_actions": ["use_fallback_service"],
        "correlation_id": "u-1",
        "timestamp": "2026-01-19T15:32:10.123Z",
    },
    "tool_error": {"code": "TIMEOUT", "message": "x", "retry": {"kind": "retryable_immediate"}},
    "ok_envelope": {"ok": False, "error": {"code": "ERR_NOT_FOUND", "message": "x"}},
    "ok_envelope_b": {"ok": True, "data": {"ok": False, "error": {"code": "ERR_NOT_FOUND", "message": "x"}}},
    "system_error": {**FOREIGN["system_error"][0], "stack_trace": "at x"},
}
PLAIN: tuple[dict[str, Any], ...] = (
    {"code": 404},
    {"status": "error"},
    {"success": True, "errors": []},
    {"ok": False},
    {"ok": True, "data": {"ok": True}},
    {"result": {"code": "NOT_FOUND", "message": "in a list of codes"}},
    {"errors": [{"ok": False, "error": {"code": "ERR_X", "message": "x"}}]},
)


@pytest.mark.usefixtures("door")
@pytest.mark.parametrize("dialect", NAMES)
@pytest.mark.anyio
async def test_a_failure_returned_as_data_uses_the_servers_dialect(
    dialect: str, door: str, caplog: pytest.LogCaptureFixture
) -> None:
    """It is recorded and sent like any other; data and texts that only resemble a failure stay data.

    So does the data of FastMCP's own tools, whose successes nothing changes.
    """

    @tool
    def act(kind: str) -> dict[str, Any]:
        return HIDDEN[kind] if kind in HIDDEN else PLAIN[int(kind)]

    @tool
    def read(kind: str) -> str:
        return json.dumps(HIDDEN[kind])

    server: Any = Server("s", tools=[act, read], dialect=dialect)

    @server.tool()
    def plain(kind: str) -> dict[str, Any]:
        return HIDDEN[kind]

    async with Client(server) as client:
        for kind, hidden in HIDDEN.items():
            returned = envelope_of({"structuredContent": hidden})
            for name in ("act", "plain"):
                caplog.clear()
                with caplog.at_level("INFO", "mcpcore.audit"):
                    result = await client.call_tool(name, {"kind": kind})
                if (name, door) == ("plain", "fastmcp"):
                    assert (False, hidden, 0) == (result.is_error, result.structured_content, len(caplog.records))
                    continue
                seen = envelope_of(result)
                assert (dialect, DIALECTS[dialect].is_error) == (seen.dialect, result.is_error)
                assert returned.message == seen.message
                assert dialect == "system_error" or (returned.name, returned.retry) == (seen.name, seen.retry)
                assert 1 == len(caplog.records)
            text = await client.call_tool("read", {"kind": kind})
            assert (False, {"result": json.dumps(hidden)}) == (text.is_error, text.structured_content)
        for number, fine in enumerate(PLAIN):
            result = await client.call_tool("act", {"kind": str(number)})
            assert (False, fine) == (result.is_error, result.structured_content)
            assert Envelope.from_result(result) is None
