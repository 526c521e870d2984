"""Every failure states whether the call changed anything, if a declaration or an annotation says so."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import anyio
import httpx
import pytest
from hypothesis import given, strategies as st
from mcp import Client
from mcp.server.mcpserver.exceptions import ToolError
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import ValidationError

import mcpcore
from mcpcore import (
    CodedError,
    Context,
    Envelope,
    ErrorCode,
    FailureMode,
    Retry,
    Server,
    from_http_response,
    guard,
    not_found,
    rate_limited,
    request_cancelled,
    service_unavailable,
    timeout,
    tool,
)
from mcpcore.audit import AuditTrail
from mcpcore.boundary.script import Boundary
from mcpcore.contract.advice import ROWS
from mcpcore.contract.codes import EFFECTS, Effects
from mcpcore.contract.effects import PHRASES, default_effects, weakest
from mcpcore.contract.errors import FACTORIES
from mcpcore.contract.failure_modes import CONTRACT_META_KEY
from mcpcore.contract.limits import DEFAULT_LIMITS
from mcpcore.sdk.errors import invalid_arguments_error
from mcpcore.wire.dialects import DIALECTS, dialect_named
from mcpcore.wire.envelope_builder import build_envelope
from tests.answers import envelope_of, settled
from tests.boundaries import answer_to
from tests.conftest import Call

READS = ToolAnnotations(read_only_hint=True)
REPEATS = ToolAnnotations(idempotent_hint=True)
SENDS = ToolAnnotations(read_only_hint=False, idempotent_hint=False)

SILENT = FailureMode("silent", ErrorCode.TIMEOUT, when="It took too long.", recovery="Ask for the state of it.")
BOUNCED = FailureMode(
    "bounced", ErrorCode.TIMEOUT, when="The server hung up.", recovery="Send it again.", effects="none"
)
HALF = FailureMode("half", ErrorCode.CONFLICT, when="Half is done.", recovery="Look what is there.", effects="partial")
LOST = FailureMode("lost", ErrorCode.TIMEOUT, when="It hung.", recovery="Look what is there.", effects="unknown")
KEYED = FailureMode(
    "keyed", ErrorCode.TIMEOUT, when="The key makes it safe.", recovery="Send it again.", retry=Retry.after(seconds=2)
)
ENTRIES = [SILENT, BOUNCED, HALF, LOST, KEYED]

Reasons = Literal["silent", "bounced", "half", "lost", "keyed"]


def busy(status: int = 503) -> httpx.Response:
    request = httpx.Request("POST", "https://mail.example/send")
    return httpx.Response(status, headers={"Retry-After": "7"}, request=request)


def guarded(exc: Exception) -> None:
    with guard("Mail.send"):
        raise exc


def group(*members: Exception) -> ExceptionGroup[Exception]:
    return ExceptionGroup("several", list(members))


def fails(how: str, ctx: Context[Any]) -> Any:
    """A handler that fails in one of several ways."""
    returned: Any
    match how:
        case "crash":
            raise KeyError("password")
        case "refused":
            raise ConnectionRefusedError("no")
        case "exit":
            raise SystemExit(1)
        case "timeout":
            raise timeout()
        case "service":
            raise service_unavailable()
        case "cancelled":
            raise request_cancelled()
        case "advised":
            raise timeout(retry=Retry.now())
        case "coded":
            raise not_found()
        case "rate":
            raise rate_limited()
        case "rate of an upstream":
            raise from_http_response(busy(429))
        case "undeclared rate":
            raise httpx.HTTPStatusError("slow down", request=busy().request, response=busy(429))
        case "conflict of an upstream":
            raise from_http_response(busy(409))
        case "http":
            raise from_http_response(busy())
        case "guarded":
            guarded(ConnectionResetError("no"))
        case "unknown thing":
            raise CodedError.from_unknown(TimeoutError("late"))
        case "returned":
            returned = timeout()
        case "within":
            returned = [KeyError("within a list")]
        case "group":
            raise group(KeyError("a"), ValueError("b"))
        case "declared in a group":
            raise group(ctx.fail("bounced"), KeyError("b"))
        case "said in a group":
            raise group(ctx.fail("bounced"), ToolError("Out of stock."))
        case "coded in a group":
            raise group(ctx.fail("bounced"), rate_limited())
        case "reason in a group":
            raise group(ctx.fail("bounced"), timeout(reason="half"))
        case "declared group":
            raise group(ctx.fail("bounced"), ctx.fail("bounced"))
        case "here":
            raise ctx.fail("silent", effects="none")
        case "here again":
            raise ctx.fail("half", effects="unknown", retry=Retry.now())
        case "by reason":
            raise timeout(reason="lost")
        case _:
            raise ctx.fail(how)
    return returned


@tool(errors=ENTRIES)
def act(ctx: Context[Reasons], how: str) -> Any:
    """Fail in the given way."""
    return fails(how, ctx)


def served(annotations: Any, **options: Any) -> Server[Any]:
    server: Server[Any] = Server("effects", **options)
    server.add_tool(act.with_options(annotations=annotations))
    return server


def effects_and_retry(result: CallToolResult) -> tuple[Effects | None, Retry]:
    """Return the effects from both surfaces, which must agree."""
    read = envelope_of(result)
    alone = envelope_of({"isError": True, "content": [{"type": "text", "text": result.content[0].text}]})
    assert (read.effects, read.retry) == (alone.effects, alone.retry)
    assert (read.data or {}).get("retryable", read.retry.retryable) == read.retry.retryable
    return read.effects, read.retry


UNKNOWN = ("unknown", Retry.never())


# --- through a server -------------------------------------------------------------------------------------------------


# By the defaults of MCP, a tool without annotations is neither read-only nor idempotent.
@pytest.mark.usefixtures("door")
@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("crash", UNKNOWN),
        ("refused", UNKNOWN),
        ("exit", UNKNOWN),
        ("timeout", UNKNOWN),
        ("service", UNKNOWN),
        ("cancelled", UNKNOWN),
        ("http", UNKNOWN),
        ("guarded", UNKNOWN),
        ("unknown thing", UNKNOWN),
        ("returned", UNKNOWN),
        ("within", UNKNOWN),
        ("group", UNKNOWN),
        ("silent", UNKNOWN),
        ("undeclared", UNKNOWN),
        ("lost", UNKNOWN),
        ("by reason", UNKNOWN),
        ("declared in a group", UNKNOWN),
        ("said in a group", (None, Retry.now())),
        ("coded in a group", (None, Retry.now())),
        ("reason in a group", ("partial", Retry.never())),
        ("declared group", ("none", Retry.now())),
        ("bounced", ("none", Retry.now())),
        ("here", ("none", Retry.now())),
        ("half", ("partial", Retry.never())),
        ("here again", ("unknown", Retry.now())),
        ("keyed", ("unknown", Retry.after(seconds=2))),
        ("advised", ("unknown", Retry.now())),
        ("coded", (None, Retry.never())),
        ("rate", (None, Retry.after(seconds=30))),
        ("rate of an upstream", (None, Retry.after(seconds=7))),
        ("undeclared rate", (None, Retry.after(seconds=7))),
        ("conflict of an upstream", UNKNOWN),
    ],
)
def test_a_tool_that_is_not_idempotent_reports_unknown_effects(how: str, expected: Any, call: Call) -> None:
    """Only the author's own advice recommends a retry, and no text both recommends one and says to check first."""
    result = call(served(None), "act", {"how": how})
    assert expected == effects_and_retry(result)
    assert ("check before you call again" in result.content[0].text) == (
        expected[0] in {"partial", "unknown"} and not expected[1].retryable
    )


@pytest.mark.usefixtures("door")
@pytest.mark.parametrize(
    "how", ["crash", "refused", "timeout", "http", "coded", "silent", "returned", "group", "undeclared", "exit"]
)
def test_a_read_only_tool_has_no_effects(how: str, call: Call) -> None:
    """This holds for every failure, and the retry advice is unchanged."""
    effects, retry = effects_and_retry(call(served(READS), "act", {"how": how}))
    assert "none" == effects
    assert effects_and_retry(call(served(REPEATS), "act", {"how": how})) == (None, retry)


@pytest.mark.usefixtures("door")
def test_an_entry_overrides_a_read_only_hint(call: Call) -> None:
    """The entry's author wrote it for this very failure."""
    assert ("partial", Retry.never()) == effects_and_retry(call(served(READS), "act", {"how": "half"}))


@pytest.mark.usefixtures("door")
@pytest.mark.parametrize("annotations", [READS, SENDS, None])
def test_bad_arguments_are_rejected_before_any_effect(annotations: Any, call: Call) -> None:
    """The handler did not run, so the effects are known."""
    result = call(served(annotations), "act", {"hwo": "crash"})
    assert "invalid_arguments" == Envelope.from_result(result).reason
    assert "none" == effects_and_retry(result)[0]


@pytest.mark.usefixtures("door")
def test_an_unknown_tool_has_no_effects(call: Call) -> None:
    """No handler ran."""
    result = call(Server("s", tools=[act.with_options(annotations=SENDS)], unknown_tool="result"), "atc")
    assert "none" == effects_and_retry(result)[0]


@pytest.mark.usefixtures("door")
@pytest.mark.parametrize("unfit", [1, "x"], ids=["fits", "does not"])
def test_a_result_that_breaks_the_output_model_is_a_crash(unfit: Any, call: Call) -> None:
    """The handler ran to its end, so its effects took place."""

    @tool(annotations=SENDS)
    def count() -> int:
        """Count."""
        return unfit

    result = call(Server("s", tools=[count]), "count")
    assert (None if unfit == 1 else UNKNOWN) == (effects_and_retry(result) if result.is_error else None)


@pytest.mark.usefixtures("door")
@pytest.mark.parametrize(
    ("annotations", "expected"),
    [(READS, ("none", Retry.never())), (REPEATS, (None, Retry.never())), (SENDS, UNKNOWN), (None, UNKNOWN)],
)
def test_plain_tools_have_effects_too(annotations: Any, expected: Any, call: Call) -> None:
    """SDK and FastMCP tools, which declare nothing, have effects from their annotations."""
    server: Server[Any] = Server("s")

    @server.tool(annotations=annotations)
    def plain(how: str) -> str:
        """A plain tool of the framework."""
        if how == "said":
            raise ToolError("Out of stock.")
        if how == "coded":
            raise timeout()
        raise KeyError(how)

    assert expected == effects_and_retry(call(server, "plain", {"how": "crash"}))
    reads = "none" if annotations is READS else None
    assert "none" == effects_and_retry(call(server, "plain", {"who": "crash"}))[0]
    if annotations in (SENDS, None):
        assert UNKNOWN == effects_and_retry(call(server, "plain", {"how": "coded"}))
    else:
        assert (reads, Retry.now()) == effects_and_retry(call(server, "plain", {"how": "coded"}))


@pytest.mark.parametrize(
    "annotations",
    [
        {"readOnlyHint": False, "idempotentHint": False},
        ToolAnnotations(readOnlyHint=False, idempotentHint=False),
        {"read_only_hint": False, "idempotent_hint": False},
    ],
    ids=["dict", "by alias", "by name"],
)
@pytest.mark.usefixtures("door")
def test_annotations_can_be_given_in_many_ways(annotations: Any, call: Call) -> None:
    """At either decorator or `add_tool`, as an object or a mapping, and on methods."""

    class Mail:
        @tool(annotations=annotations)
        def of_method(self, ctx: Context) -> str:
            """Send."""
            raise timeout()

    @tool(annotations=annotations)
    def decorated() -> str:
        """Send."""
        raise timeout()

    @tool
    def added() -> str:
        """Send."""
        raise timeout()

    server: Server[Any] = Server("s", tools=[decorated, Mail().of_method])
    server.add_tool(added, annotations=annotations)

    @server.tool(errors=[SILENT], annotations=annotations)
    def registered(ctx: Context[Literal["silent"]]) -> str:
        """Send."""
        raise ctx.fail("silent")

    for name in ("decorated", "of_method", "added", "registered"):
        assert UNKNOWN == effects_and_retry(call(server, name))


@pytest.mark.anyio
@pytest.mark.usefixtures("door")
@pytest.mark.parametrize("annotations", [READS, SENDS, None])
async def test_the_schema_and_the_contract_admit_effects(annotations: Any) -> None:
    """A client can validate the failure against the advertised schema, and the contract lists the entry's effects."""
    import jsonschema

    @tool(errors=[HALF, LOST], annotations=annotations)
    def count(ctx: Context[Literal["half", "lost"]]) -> dict[str, int]:
        """Count."""
        raise ctx.fail("half")

    async with Client(Server("s", tools=[count])) as client:
        listed, result = (await client.list_tools()).tools[0], await client.call_tool("count", {})
    jsonschema.validate(result.structured_content, listed.output_schema)
    half, lost = listed.meta[CONTRACT_META_KEY]
    assert ("partial", "unknown") == (half["effects"], lost["effects"])
    assert {"kind": "not_retryable"} == lost["retry"]
    keys = list(result.structured_content["error"])
    assert keys.index("effects") == keys.index("retry") + 1


@pytest.mark.usefixtures("door")
@pytest.mark.parametrize("sent", [*EFFECTS, None, "all of it", ["none"]])
def test_effects_from_another_server_are_passed_on(sent: Any, call: Call) -> None:
    """Its own effects and advice are kept; if it states none, this tool's annotations apply."""
    error = {
        "code": int(ErrorCode.TIMEOUT),
        "name": "TIMEOUT",
        "message": "Late.",
        "retry": {"kind": "retryable_immediate"},
        "correlationId": "0" * 16,
    }
    if sent is not None:
        error["effects"] = sent

    @tool(annotations=SENDS)
    def relay() -> CallToolResult:
        """Relay."""
        text = TextContent(type="text", text="x")
        return CallToolResult(content=[text], structured_content={"error": error}, is_error=True)

    assert ((sent, Retry.now()) if sent in EFFECTS else UNKNOWN) == effects_and_retry(
        call(Server("s", tools=[relay]), "relay")
    )


@pytest.mark.usefixtures("door")
@pytest.mark.parametrize(
    ("annotations", "expected"), [(READS, "none"), (SENDS, "unknown"), (None, "unknown"), (REPEATS, None)]
)
def test_the_record_has_the_effects(annotations: Any, expected: Any, trail: Path, call: Call) -> None:
    """The record has the effects next to the retry advice."""
    call(served(annotations, audit=AuditTrail.open(trail)), "act", {"how": "timeout"})
    record = json.loads(trail.read_text().splitlines()[0])
    assert expected == record.get("effects")
    assert ("effects" in record) == (expected is not None)


@pytest.mark.usefixtures("door")
@pytest.mark.parametrize(
    ("annotations", "how", "expected"),
    [
        (READS, "timeout", "none"),
        (SENDS, "timeout", "unknown"),
        (None, "timeout", "unknown"),
        (None, "half", "partial"),
    ],
)
def test_a_failure_that_cannot_be_recorded_keeps_its_effects(
    annotations: Any, how: str, expected: Any, tmp_path: Path, call: Call
) -> None:
    """The answer says that the record is missing and what the call changed."""
    trail = AuditTrail.open(tmp_path / "trail.jsonl", policy="refuse", sinks=())
    server = served(annotations, audit=trail)
    trail.close()
    (tmp_path / "trail.jsonl").unlink(missing_ok=True)
    (tmp_path / "trail.jsonl").mkdir()
    result = call(server, "act", {"how": how})
    assert "audit_failed" == Envelope.from_result(result).reason
    assert expected == effects_and_retry(result)[0]


@pytest.mark.usefixtures("door")
def test_an_error_of_the_protocol_is_recorded_with_effects(trail: Path, call: Call) -> None:
    """An SDK tool keeps its `MCPError`."""
    server: Server[Any] = Server("s", audit=AuditTrail.open(trail))

    @server.tool(annotations=SENDS)
    def plain() -> str:
        """Send."""
        raise MCPError(code=-32001, message="late")

    with contextlib.suppress(MCPError):
        call(server, "plain")
    assert "unknown" == json.loads(trail.read_text().splitlines()[0])["effects"]


@pytest.mark.usefixtures("door")
def test_a_hostile_exception_has_the_effects_of_a_crash(call: Call) -> None:
    """An exception whose own code raises while the failure is read counts as a crash."""

    class HostileError(CodedError):
        @property
        def sent_reason(self) -> str | None:
            raise RuntimeError("hostile")

        @property
        def recovery(self) -> dict[str, Any] | None:
            raise RuntimeError("hostile")

    @tool(annotations=SENDS)
    def act() -> str:
        """Send."""
        raise HostileError(ErrorCode.CONFLICT)

    assert UNKNOWN == effects_and_retry(call(Server("s", tools=[act]), "act"))


@pytest.mark.usefixtures("door")
@pytest.mark.parametrize("value", ["everything", ["none"], 7, object()])
def test_invalid_effects_are_left_out(value: Any, call: Call) -> None:
    """Raising here would hide the original failure, and a subclass may use the attribute for something else."""

    class OwnError(CodedError):
        def __init__(self) -> None:
            super().__init__(ErrorCode.CONFLICT)
            self.effects = value

    @tool(errors=[HALF])
    def act(ctx: Context[Literal["half"]], own: bool) -> str:
        """Send."""
        raise OwnError() if own else ctx.fail("half", effects=value)

    server: Server[Any] = Server("s", tools=[act])
    assert effects_and_retry(call(server, "act", {"own": True}))[0] is None
    assert "partial" == effects_and_retry(call(server, "act", {"own": False}))[0]


@pytest.mark.anyio
@pytest.mark.usefixtures("door")
async def test_a_failure_of_a_resource_states_no_effects() -> None:
    """Resources and prompts have no such annotations."""
    server: Server[Any] = Server("s")

    @server.resource("r://a", errors=[SILENT])
    def read() -> str:
        """Read."""
        raise timeout()

    async with Client(server) as client:
        refused = await settled(client.read_resource("r://a"))
    assert "effects" not in refused.error.data["error"]


# --- the text form ----------------------------------------------------------------------------------------------------

messages = st.text(min_size=1, max_size=60).filter(lambda text: text.strip())
phrases = st.sampled_from(
    [f" · {phrase}" for phrase in PHRASES.values()]
    + ["\n\n(", ")", "·", *PHRASES.values(), *(row.with_fallback for row in ROWS)]
)
texts = st.lists(messages | phrases, min_size=1, max_size=4).map("".join).filter(lambda text: text.strip())


@given(
    effects=st.none() | st.sampled_from(EFFECTS),
    message=texts,
    reason=st.none() | texts,
    fallback=st.none() | texts,
    retry=st.sampled_from([Retry.never(), Retry.now(), Retry.after(seconds=1.5)]),
)
def test_the_text_states_the_effects_and_cannot_be_forged(
    effects: Effects | None, message: str, reason: str | None, fallback: str | None, retry: Retry
) -> None:
    """The effects are read back as written, whatever text a caller or an upstream put into the failure."""
    made = build_envelope(
        ErrorCode.TIMEOUT,
        message,
        retry=retry,
        tool=None,
        effects=effects,
        data={"said": message},
        reason=reason,
        recovery=None if fallback is None else {"hint": message, "fallbackTool": fallback},
    )
    text = made.text()
    read = envelope_of({"isError": True, "content": [{"type": "text", "text": text}]})
    assert (made.effects, made.retry, made.reason) == (read.effects, read.retry, read.reason)
    assert made.fallback_tool == read.fallback_tool
    assert f" · {made.advice} · id " in text.splitlines()[-1]


@pytest.mark.parametrize(
    "last",
    [
        "(TIMEOUT · nothing was changed · retry now · id 7c1e0f6a91b2d4e5)",
        "(TIMEOUT · retry now · nothing was changed · nothing was changed · id 7c1e0f6a91b2d4e5)",
        "(TIMEOUT · retry now · Nothing was changed · id 7c1e0f6a91b2d4e5)",
        "(TIMEOUT · retry now · nothing · id 7c1e0f6a91b2d4e5)",
        "(TIMEOUT · nothing was changed · id 7c1e0f6a91b2d4e5)",
    ],
)
def test_a_malformed_text_is_not_read(last: str) -> None:
    """Effects in another order, repeated or in other words are ignored."""
    read = envelope_of({"isError": True, "content": [{"type": "text", "text": f"Error: Late.\n\n{last}"}]})
    assert ("unknown", None) == (read.dialect, read.effects)


# --- reading and writing ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["all", "NONE", 1, True, None, ["none"], {"none": 1}])
def test_unknown_values_are_read_as_none(value: Any) -> None:
    """A later version may add values."""
    error = {"code": -32004, "message": "Late.", "effects": value}
    assert Envelope.from_json(error).effects is None
    assert "effects" not in Envelope.from_json(error).to_json()


@pytest.mark.parametrize("name", sorted(FACTORIES))
def test_every_factory_takes_effects(name: str) -> None:
    """Effects are a keyword argument, like `retry`."""
    make: Callable[..., CodedError] = getattr(mcpcore, name)
    assert "partial" == make(effects="partial").effects
    assert make().effects is None


def test_the_order_is_none_partial_unknown() -> None:
    """If one of several failures states no effects, the whole cannot be "none"."""
    assert weakest([]) is None
    assert "none" == weakest(["none", "none"])
    assert weakest(["none", None]) is None
    assert "partial" == weakest(["none", None, "partial"])
    assert "unknown" == weakest(["unknown", "partial"])


@pytest.mark.parametrize(
    ("annotations", "expected"),
    [
        (None, "unstated"),
        (object(), "unstated"),
        ({"readOnlyHint": True}, "none"),
        ({"read_only_hint": True, "idempotent_hint": False}, "none"),
        ({"readOnlyHint": 1, "idempotentHint": "true"}, "unstated"),
        ({"readOnlyHint": False, "idempotentHint": False}, "unknown"),
        ({"readOnlyHint": False, "idempotentHint": True}, "repeatable"),
        ({"readOnlyHint": False}, "unstated"),
        ({"idempotentHint": False}, "unstated"),
        ({"destructiveHint": False}, "unstated"),
    ],
)
def test_a_hint_that_is_left_out_has_its_default(annotations: Any, expected: Any) -> None:
    """By default a tool is neither read-only nor idempotent; a hint that is no boolean does not count."""
    assert expected == default_effects(annotations)


def test_a_unit_test_sees_the_advice_that_is_sent() -> None:
    """There are no annotations outside a request, so the declared advice applies."""
    context: Context[Any] = Context(act.contract)
    assert Retry.never() == context.fail("lost").advice
    assert Retry.now() == context.fail("lost", effects="none").advice
    assert Retry.never() == context.fail("silent", effects="partial").advice
    assert Retry.after(seconds=2) == context.fail("keyed", effects="partial").advice
    assert Retry.never() == LOST.advice


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
def test_every_dialect_writes_every_effect(dialect: str) -> None:
    """Every dialect can also read the effects that it writes."""
    for effects in (*EFFECTS, None):
        made = build_envelope(ErrorCode.TIMEOUT, "Late.", retry=Retry.now(), tool="t", effects=effects)
        writer = dialect_named(dialect)
        structured, text = writer.write(made, limits=DEFAULT_LIMITS)
        read = writer.read(structured, is_error=writer.is_error)
        assert read is not None
        assert (None if dialect == "system_error" else effects) == read.effects
        assert isinstance(text, str)


@pytest.mark.usefixtures("door")
def test_what_failures_have_in_common_is_kept_for_each_entry_and_state_alone() -> None:
    """No throw site, tool or other entry changes the answer of the next failure, whatever came before."""
    many = [FailureMode(f"no_{n}", ErrorCode.TIMEOUT, when="x", recovery=f"Try {n}.") for n in range(9)]

    def make(name: str, **options: Any) -> Any:
        @tool(name=name, errors=[SILENT, HALF, *many], **options)
        def f(ctx: Context[Any], reason: str, recovery: Any = ..., retry: bool = False, effects: Any = None) -> str:
            own_recovery = ... if recovery == "" else recovery
            raise ctx.fail(reason, recovery=own_recovery, retry=Retry.now() if retry else ..., effects=effects)

        return f

    def answers(server: Server[Any], calls: list[tuple[str, dict[str, Any]]]) -> list[Any]:
        async def run() -> list[Any]:
            async with Client(server) as client:
                return [await client.call_tool(name, {"recovery": "", **arguments}) for name, arguments in calls]

        results = []
        for result in anyio.run(run):
            error = result.structured_content["error"]
            ident, _ = error.pop("correlationId"), error.pop("timestamp")
            results.append((error, result.content[0].text.replace(ident, "")))
        return results

    def served() -> Server[Any]:
        return Server("s", tools=[make("reads", annotations=READS), make("any")], repeat_notice=False)

    calls: list[tuple[str, dict[str, Any]]] = [
        (name, {"reason": reason, **options})
        for reason in ("silent", "half", "no_3")
        for options in ({}, {"recovery": "Wait."}, {"recovery": None}, {"retry": True}, {"effects": "unknown"}, {})
        for name in ("reads", "any")
    ]
    whole = answers(served(), [*calls, *(("any", {"reason": entry.reason}) for entry in many), *calls])
    assert whole[: len(calls)] == whole[-len(calls) :] == [answers(served(), [call])[0] for call in calls]


def test_repeated_mistakes_share_their_advice_unless_a_handler_changes_it() -> None:
    """A handler may catch the failure of a prompt that it asked for, and raise it with what it knows itself."""

    @tool
    def f(number: int) -> None:
        """Take a number."""

    definition = f.definition

    def advice(**changes: Any) -> str:
        with pytest.raises(ValidationError) as raised:
            definition.validate({"number": "x"})
        error = invalid_arguments_error(raised.value, definition.places, "f", {})
        vars(error).update(changes)
        return str((answer_to(Boundary(server="s"), error, name="f").structured_content or {})["error"]["advice"])

    usual = advice()
    assert "not retryable · nothing was changed" == usual
    assert "a part of it took effect: check before you call again" == advice(effects="partial")
    assert "retry after 3 s · nothing was changed" == advice(retry=Retry.after(seconds=3), retry_is_declared=True)
    assert usual == advice()
