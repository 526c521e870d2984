"""The whole table of advice in the documentation, on the wire of a server, of FastMCP and of the proxy."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp_types import ToolAnnotations
from pages import advice

from mcpcore import CodedError, Context, CustomCode, Envelope, ErrorCode, FailureMode, Retry, Server, tool
from mcpcore.catalog.items import item_of_listing
from mcpcore.classification import classifies, forget
from mcpcore.contract.advice import BETWEEN, ROWS, Facts, advice_phrase, read_advice
from mcpcore.contract.codes import KINDS, LATER, Code
from mcpcore.contract.failure_modes import CONTRACT_META_KEY, ContractError
from mcpcore.proxy.overlay import Overlay, OverlayError
from tests.answers import envelope_of
from tests.proxy.test_conversation import respond, talk

DOCS = Path(__file__).parents[2] / "docs"

HINTS = dict(zip(["any", "idempotent", "reads"], advice.ANNOTATIONS.values(), strict=True))
LEASE_LOST = CustomCode(
    "LEASE_LOST", 4200, http_status=503, category="upstream", retry=Retry.now(), sentence="The lease is lost."
)
CODES: list[Code] = [*ErrorCode, LEASE_LOST]
"""Every code, and one of an application that has default advice."""

CASES = [(code, declared) for code in CODES for declared in advice.DECLARED]
CRASHES = {code: type(f"{code.name}Error", (Exception,), {}) for code in CODES}
TEXTS = {"when": "It failed so.", "recovery": "Look at the state of it first."}


def is_of_entry(declared: Any) -> bool:
    """Whether an entry can declare it."""
    return declared.found is None and not declared.crashed


ENTRIES: list[FailureMode[Any]] = [
    FailureMode(f"case_{number}", code, **TEXTS, retry=declared.retry, effects=declared.effects)
    for number, (code, declared) in enumerate(CASES)
    if is_of_entry(declared)
] + [FailureMode(f"silent_{code.name.lower()}", code, **TEXTS) for code in CODES]


def act(ctx: Context[Any], number: int, where: str) -> str:
    """Fail in one of the ways of the table."""
    code, declared = CASES[number]
    if declared.crashed:
        raise CRASHES[code]
    if where == "entry":
        raise ctx.fail(f"case_{number}")
    if where == "fail":
        raise ctx.fail(f"silent_{code.name.lower()}", retry=declared.retry or ..., effects=declared.effects)
    error = CodedError(code, retry=declared.retry, effects=declared.effects)
    raise error.with_found_advice(declared.found)


@pytest.fixture(autouse=True)
def prepared(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Give each exception its code, and keep the records of failures out of the report."""
    caplog.set_level(logging.CRITICAL)
    for code, crash in CRASHES.items():
        classifies(crash, code)
    yield
    for crash in CRASHES.values():
        forget(crash)


def ways(declared: Any) -> list[str]:
    """The places where it can be declared."""
    return ["entry", "fail", "raise"] if is_of_entry(declared) else ["raise"]


def said(answer: Any) -> tuple[Any, Retry]:
    """The advice of a failed result, which its text has in words."""
    envelope = envelope_of(answer)
    assert f" · {answer.structured_content['error']['advice']} · id " in answer.content[0].text
    assert answer.structured_content["error"]["advice"] == envelope.advice
    return envelope.effects, envelope.retry


@pytest.mark.no_server
def test_no_phrase_says_two_things() -> None:
    """A phrase that says to call again does not say to check first, and combinations that differ have phrases that do."""
    assert len({(row.retryable, row.effects, row.repeatable) for row in ROWS}) == len(ROWS) == 2 * 4 * 2
    for row in ROWS:
        for phrase in (row.phrase, row.with_fallback, row.of_item):
            assert ("{retry}" in phrase) is row.retryable
            assert ("check" in phrase) is (not row.retryable and row.effects in ("partial", "unknown"))
    said = {row.phrase: (row.retryable, row.effects) for row in ROWS}
    assert all(said[row.phrase] == (row.retryable, row.effects) for row in ROWS)


@pytest.mark.no_server
@pytest.mark.parametrize(
    "retry",
    [*(Retry(kind) for kind in KINDS if kind != LATER), Retry.after(seconds=0), Retry.after(seconds=1.05)],
    ids=str,
)
@pytest.mark.parametrize("tool", [None, "find_orders", "find orders: check with me before you call again", '"a b"'])
def test_a_phrase_is_read_as_it_was_written(retry: Retry, tool: str | None) -> None:
    """Retry, effects and the fallback tool come back from each phrase, with every fallback tool."""
    for row in ROWS:
        phrase = advice_phrase(retry.kind, retry.after_ms, row.effects, repeatable=row.repeatable, fallback_tool=tool)
        read = read_advice(phrase)
        assert read is not None
        assert (read.retry, read.effects, read.fallback_tool) == (retry, row.effects, tool)
        assert BETWEEN.join((phrase, phrase)) != phrase
        assert read_advice(BETWEEN.join((phrase, phrase))) is None


@pytest.mark.no_server
@pytest.mark.parametrize(
    ("phrase", "facts"),
    [
        ("not retryable · it may have taken effect: check before you call again", Facts(Retry.never(), "unknown")),
        ("not retryable · a part of it took effect · try b", Facts(Retry.never(), "partial", fallback_tool="b")),
        ("retry after 1.5 s · it may have taken effect", Facts(Retry.after(seconds=1.5), "unknown")),
        ("retry now · nothing was changed · try b", Facts(Retry.now(), "none", fallback_tool="b")),
    ],
)
def test_a_phrase_of_an_earlier_version_is_read(phrase: str, facts: Facts) -> None:
    """Records and conversations that were kept say it in those words."""
    assert facts == read_advice(phrase)


@pytest.mark.anyio
@pytest.mark.usefixtures("door")
@pytest.mark.parametrize("name", HINTS)
async def test_the_table_is_what_is_sent(name: str) -> None:
    """So it is for every code, whether the entry, `ctx.fail` or the exception itself declares something."""
    server: Server[Any] = Server("table", tools=[tool(name=name, errors=ENTRIES, **HINTS[name])(act)])

    async with Client(server) as client:
        rows = [
            (code.name, declared.title, where, advice.sent(code, HINTS[name], declared), said(answer))
            for number, (code, declared) in enumerate(CASES)
            for where in ways(declared)
            for answer in [await client.call_tool(name, {"number": number, "where": where})]
        ]
    assert len(rows) == len(CODES) * (3 * len(advice.DECLARED) - 4)
    assert [] == [row for row in rows if row[-2] != row[-1]]


@pytest.mark.anyio
@pytest.mark.usefixtures("door")
@pytest.mark.parametrize("name", HINTS)
async def test_the_listing_and_the_catalog_show_what_is_sent(name: str) -> None:
    """The contract in `tools/list` has the advice of each entry in this very tool."""
    server: Server[Any] = Server("table", tools=[tool(name=name, errors=ENTRIES, **HINTS[name])(act)])

    async with Client(server) as client:
        listed = (await client.list_tools()).tools[0]
    item = item_of_listing("tool", listed)
    assert item is not None
    shown = {entry["reason"]: entry for entry in listed.meta[CONTRACT_META_KEY]}
    cataloged = {error.reason: error for error in item.errors}
    for number, (code, declared) in enumerate(CASES):
        if is_of_entry(declared):
            effects, retry = advice.sent(code, HINTS[name], declared)
            entry, error = shown[f"case_{number}"], cataloged[f"case_{number}"]
            assert (effects, retry.to_json()) == (entry.get("effects"), entry["retry"]), (code.name, declared.title)
            assert (effects, retry.kind, retry.after_ms) == (error.effects, error.retry.kind, error.retry.after_ms)


@pytest.mark.anyio
@pytest.mark.usefixtures("door")
async def test_annotations_of_the_sdk_and_short_hints_are_the_same() -> None:
    """Whichever way a tool is annotated, both list the same contract."""
    silent = [FailureMode("late", ErrorCode.TIMEOUT, **TEXTS)]
    tools = [
        tool(name="short", errors=silent, read_only=True, destructive=False)(act),
        tool(name="long", errors=silent, annotations=ToolAnnotations(read_only_hint=True, destructive_hint=False))(act),
    ]

    async with Client(Server("s", tools=tools)) as client:
        short, long = [(tool.annotations, tool.meta[CONTRACT_META_KEY]) for tool in (await client.list_tools()).tools]
    assert short == long
    assert ("none", {"kind": "retryable_immediate"}) == (short[1][0]["effects"], short[1][0]["retry"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"read_only": True, "annotations": ToolAnnotations(read_only_hint=False)}, "read_only=True contradicts"),
        ({"idempotent": False, "annotations": {"idempotentHint": True}}, "idempotent=False contradicts"),
        ({"destructive": True, "annotations": {"destructive_hint": False}}, "destructive=True contradicts"),
        ({"read_only": True, "destructive": True}, "cannot be destructive"),
        ({"read_only": True, "annotations": {"destructiveHint": True}}, "cannot be destructive"),
        ({"read_only": "yes"}, "read_only must be True or False, not 'yes'"),
        ({"idempotent": 1}, "idempotent must be True or False, not 1"),
    ],
)
def test_hints_that_contradict_the_annotations_are_refused(options: Any, message: str) -> None:
    """At the declaration, whichever way the tool is declared; the message names the file and the tool."""

    def work() -> str:
        """Work."""
        return ""

    server: Server[Any] = Server("s")
    for declare in (
        lambda: tool(**options)(work),
        lambda: server.tool(**options)(work),
        lambda: server.add_tool(work, **options),
        lambda: tool(work).with_options(**options),
    ):
        with pytest.raises(ContractError, match=rf"test_advice\.py:\d+: tool 'work': .*{message}"):
            declare()


@pytest.mark.anyio
async def test_a_decorator_of_fastmcp_cannot_contradict_the_hints_below_it() -> None:
    """Its own annotations are kept, and the hints are added to them."""
    from fastmcp import FastMCP

    mcp: FastMCP[Any] = FastMCP("s")

    @tool(read_only=True)
    def work() -> str:
        """Work."""
        return ""

    with pytest.raises(ContractError, match="read_only=True contradicts read_only_hint=False"):
        mcp.tool(annotations=ToolAnnotations(read_only_hint=False))(work)
    mcp.tool(annotations={"title": "Work", "openWorldHint": False})(work)
    async with Client(mcp._mcp_server) as client:
        assert (
            ToolAnnotations(title="Work", open_world_hint=False, read_only_hint=True)
            == (await client.list_tools()).tools[0].annotations
        )


def test_a_tool_of_fastmcp_lists_the_advice_of_the_annotations_that_a_client_sees() -> None:
    """A transform may give the tool other annotations than its handler has."""
    from fastmcp import FastMCP
    from fastmcp.tools import Tool

    from mcpcore.integrations.fastmcp import ContractMiddleware

    mcp: FastMCP[Any] = FastMCP("s")
    mcp.add_middleware(ContractMiddleware())
    late = tool(name="late", errors=[FailureMode("late", ErrorCode.TIMEOUT, **TEXTS)])(fail_late)
    plain = mcp.add_tool(late)
    mcp.add_tool(Tool.from_tool(plain, name="seen", annotations=ToolAnnotations(read_only_hint=True)))

    async def run() -> dict[str, Any]:
        async with Client(mcp._mcp_server) as client:
            listed = {tool.name: tool.meta[CONTRACT_META_KEY][0] for tool in (await client.list_tools()).tools}
            return {name: (entry, said(await client.call_tool(name, {}))) for name, entry in listed.items()}

    for entry, (effects, retry) in anyio.run(run).values():
        assert (effects, retry.to_json()) == (entry.get("effects"), entry["retry"])
        assert (retry.retryable, effects) in {(True, "none"), (False, "unknown")}


def fail_late(ctx: Context[Any]) -> str:
    """Fail."""
    raise ctx.fail("late")


# --- through the proxy ------------------------------------------------------------------------------------------------


def overlay_entry(number: int, code: Code, declared: Any) -> dict[str, Any]:
    """An entry of an overlay that declares it."""
    entry = {"reason": f"case_{number}", "code": code.name, **TEXTS, "match": {"text": f"^case {number}$"}}
    if declared.retry is not None:
        entry["retry"] = "now" if declared.retry.retryable else "never"
    return entry if declared.effects is None else {**entry, "effects": declared.effects}


PROXIED = [
    (number, code, declared)
    for number, (code, declared) in enumerate(CASES)
    if is_of_entry(declared) and isinstance(code, ErrorCode)
]


@pytest.mark.parametrize("by_overlay", [False, True], ids=["hints of the server", "hints of the overlay"])
@pytest.mark.parametrize("name", HINTS)
def test_the_proxy_sends_the_table_too(name: str, by_overlay: bool) -> None:
    """For the entries of an overlay; the hints may be the server's or the overlay's."""
    wire = {"read_only": "readOnlyHint", "idempotent": "idempotentHint"}
    annotations = {wire[hint]: value for hint, value in HINTS[name].items()}
    of_tool = {"errors": [overlay_entry(*case) for case in PROXIED], **(HINTS[name] if by_overlay else {})}
    overlay = Overlay.of({"version": 1, "tools": {name: of_tool}})
    listed = {"name": name} if by_overlay else {"name": name, "annotations": annotations}

    page = respond(talk("tools/list", overlay=overlay), result={"tools": [listed]})["result"]["tools"][0]
    assert annotations == (page.get("annotations") or {})
    entries = {entry["reason"]: entry for entry in page["_meta"][CONTRACT_META_KEY]}
    for number, code, declared in PROXIED:
        expected = advice.sent(code, HINTS[name], declared)
        call = talk(overlay=overlay, name=name)
        call.listing.learn({"tools": [listed]}, overlay)
        content = [{"type": "text", "text": f"case {number}"}]
        envelope = envelope_of(respond(call, result={"isError": True, "content": content}))
        assert (f"case_{number}", *expected) == (envelope.reason, envelope.effects, envelope.retry)
        entry = entries[f"case_{number}"]
        assert (expected[0], expected[1].to_json()) == (entry.get("effects"), entry["retry"])


def test_a_hint_of_the_overlay_never_replaces_one_of_the_server(caplog: pytest.LogCaptureFixture) -> None:
    """Whoever reads the log learns of the contradiction, and of a tool that the server does not have."""
    caplog.set_level(logging.WARNING)
    of_tools = {"charge": {"read_only": True, "idempotent": True}, "gone": {"read_only": True}}
    conversation = talk("tools/list", overlay=Overlay.of({"version": 1, "tools": of_tools}))
    listed = {"name": "charge", "annotations": {"readOnlyHint": False}}
    page = respond(conversation, result={"tools": [listed]})["result"]["tools"][0]
    assert {"readOnlyHint": False, "idempotentHint": True} == page["annotations"]
    warnings = [record.getMessage() for record in caplog.records]
    assert [
        "the overlay: the server has no tool 'gone'",
        "the overlay: tools.charge: read_only contradicts the server, whose own hint counts",
    ] == warnings


@pytest.mark.parametrize(
    "hints", [{"read_only": "true"}, {"idempotent": 1}, {"destructive": False}, {"readOnly": True}]
)
def test_a_hint_of_an_overlay_is_a_boolean_of_a_known_name(hints: dict[str, Any]) -> None:
    """The message names the place."""
    with pytest.raises(OverlayError, match=r"^the overlay: tools\.charge\."):
        Overlay.of({"version": 1, "tools": {"charge": hints}})


@pytest.mark.parametrize("annotations", [None, {}, {"readOnlyHint": False, "idempotentHint": False}])
@pytest.mark.parametrize(
    ("structured", "expected"),
    [
        ({"code": "TIMEOUT", "message": "Late.", "retry": {"kind": "retryable_immediate"}}, Retry.now()),
        ({"code": "TIMEOUT", "message": "Late.", "retry": {"kind": "not_retryable"}}, Retry.never()),
        ({"code": "TIMEOUT", "message": "Late.", "recovery_actions": ["wait"]}, Retry.never()),
        (
            {"code": "TIMEOUT", "message": "Late.", "recovery_actions": [], "retry_after_ms": 9},
            Retry.after(seconds=0.009),
        ),
        ({"ok": False, "error": {"code": "ERR_TIMEOUT", "message": "Late."}}, Retry.never()),
        ({"error": {"code": -32004, "name": "TIMEOUT", "message": "Late."}}, Retry.never()),
    ],
    ids=["says now", "says never", "says nothing", "says when", "has no place for it", "a bare code"],
)
def test_a_servers_own_structured_word_counts_as_declared(
    annotations: Any, structured: dict[str, Any], expected: Retry
) -> None:
    """The default of a code does not, whatever the dialect."""
    conversation = talk(name="charge")
    conversation.listing.learn({"tools": [{"name": "charge", "annotations": annotations}]})
    result = {"isError": True, "content": [], "structuredContent": structured}
    envelope = envelope_of(respond(conversation, result=result))
    assert ("unknown", expected) == (envelope.effects, envelope.retry)


# --- envelopes that were stored before --------------------------------------------------------------------------------

STORED = {
    "code": -32004,
    "name": "TIMEOUT",
    "message": "Late.",
    "retry": {"kind": "retryable_immediate"},
    "tool": "send",
    "correlationId": "7c1e0f6a91b2d4e5",
    "timestamp": "2026-11-21T08:15:00.000Z",
    "data": {"reason": "late", "retryable": True},
}
"""An envelope as it was sent for a tool without annotations, before the defaults of MCP counted."""


STORED_TEXT = "Error: Late.\n\n(reason late · TIMEOUT · retry now · id 7c1e0f6a91b2d4e5)"


@pytest.mark.parametrize(
    "stored",
    [
        {"isError": True, "structuredContent": {"error": STORED}, "content": []},
        {"isError": True, "content": [{"type": "text", "text": STORED_TEXT}]},
    ],
    ids=["structured", "text"],
)
def test_an_envelope_that_was_stored_before_is_still_read(stored: Any) -> None:
    """It is read as it was sent then."""
    envelope = envelope_of(stored)
    assert ("canonical", "late", None, Retry.now()) == (
        envelope.dialect,
        envelope.reason,
        envelope.effects,
        envelope.retry,
    )


@pytest.mark.parametrize("effects", ["partial", "unknown"])
def test_a_stored_text_that_says_both_is_still_read(effects: str) -> None:
    """Before, the text told to check first beside an author's own advice to call again."""
    words = {"partial": "a part of it took effect", "unknown": "it may have taken effect"}[effects]
    text = f"Error: Late.\n\n(TIMEOUT · retry now · {words}: check before you call again · id 7c1e0f6a91b2d4e5)"
    envelope = envelope_of({"isError": True, "content": [{"type": "text", "text": text}]})
    assert ("canonical", effects, Retry.now()) == (envelope.dialect, envelope.effects, envelope.retry)


@pytest.mark.no_server
@pytest.mark.parametrize(
    "phrase",
    [
        ": check with " * 100_000,
        "it may have taken effect: check with " * 30_000,
        " · try " * 100_000,
        "retry after 1 s" + " · or try b" * 100_000,
        "{retry} · nothing was changed",
        "it may have taken effect: check with  before you call again",
        "not retryable · try ",
        "retry after 1..5 s · nothing was changed",
    ],
)
def test_a_phrase_that_nobody_writes_is_not_read(phrase: str) -> None:
    """Another server may send any text as its advice, a megabyte of it, too; reading it takes linear time."""
    assert read_advice(phrase) is None
    assert Envelope(code=-32001, name="NOT_FOUND", message="m", retry=Retry.never(), effects="later").advice  # type: ignore[arg-type]
