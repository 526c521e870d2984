"""Upstream failures that a handler passes on are rebuilt with this server's id, limits and escaping."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from mcp import Client
from mcp_types import CallToolResult, ImageContent, TextContent

from mcpcore import CodedError, ErrorCode, FailureMode, Limits, Server, tool
from mcpcore.values.escaping import clean_text
from mcpcore.wire.dialects import DIALECTS
from tests.answers import ask, envelope_of

pytestmark = pytest.mark.usefixtures("door")

HELD = FailureMode(
    "held",
    ErrorCode.CONFLICT,
    when="The row is held.",
    recovery="Wait until it is free.",
    fallback_tool="list_rows",
)
ID = re.compile(r"[0-9a-f]{16}")
LIMITS = Limits(message=200, hint=100, data=4_096)


def handed_on(result: CallToolResult, *, dialect: str = "canonical", contract: bool = True, **options: Any) -> Any:
    """Return the client's result from a server whose tool returns `result`."""
    server: Server[Any] = Server("proxy", dialect=dialect, **options)

    def forward() -> CallToolResult:
        return result

    if contract:
        server.add_tool(forward, errors=[HELD])
    else:
        server.add_tool(forward)

    return ask(Client(server), lambda client: client.call_tool("forward", {}))


def sent_by(dialect: str) -> CallToolResult:
    """Return a failure of another server in a dialect."""

    @tool(errors=[HELD])
    def hold(row: int) -> int:
        raise HELD_ERROR()

    return ask(
        Client(Server("theirs", tools=[hold], dialect=dialect)), lambda client: client.call_tool("hold", {"row": 1})
    )  # type: ignore[no-any-return]


def HELD_ERROR() -> Exception:  # noqa: N802 - a failure

    return CodedError(ErrorCode.CONFLICT, "Row 1 is held.", {"row": 1}, reason="held")


def canonical(**changes: Any) -> dict[str, Any]:
    error = {
        "code": -32002,
        "name": "CONFLICT",
        "message": "Held.",
        "retry": {"kind": "not_retryable"},
        "tool": "hold",
        "correlationId": "0123456789abcdef",
        "timestamp": "1970-01-01T00:00:00.000Z",
        "data": {"row": 1, "retryable": False, "reason": "held", "recovery": {"hint": "Wait."}},
    }
    return {"error": {**error, **changes}}


def failure(structured: dict[str, Any] | None, *texts: str, is_error: bool = True) -> CallToolResult:
    blocks: list[Any] = [TextContent(type="text", text=text) for text in texts]
    return CallToolResult(content=blocks, structured_content=structured, is_error=is_error)


@pytest.mark.parametrize(
    ("theirs", "ours", "contract"),
    [(theirs, ours, (i + j) % 2 == 0) for i, theirs in enumerate(DIALECTS) for j, ours in enumerate(DIALECTS)],
)
def test_a_failure_keeps_its_facts_and_gets_a_new_id(theirs: str, ours: str, contract: bool, trail: Path) -> None:
    """From each dialect to each, every fact survives that both can represent."""
    sent = sent_by(theirs)
    read = envelope_of(sent)
    result = handed_on(sent, dialect=ours, contract=contract, audit=trail)
    assert DIALECTS[ours].is_error == result.is_error
    forwarded = envelope_of(result)
    assert (ours, read.message) == (forwarded.dialect, forwarded.message)
    record = json.loads(trail.read_text())
    assert (read.name, "forward") == (record["name"], record["tool"])
    assert read.correlation_id != record["correlationId"]
    if ours != "system_error":
        assert record["correlationId"] == forwarded.correlation_id
        assert (read.name, read.reason, read.retry, read.hint, read.fallback_tool, "forward") == (
            forwarded.name, forwarded.reason, forwarded.retry, forwarded.hint, forwarded.fallback_tool, forwarded.tool,
        )  # fmt: skip
        origin = {"correlationId": read.correlation_id, "tool": "hold"} if read.correlation_id else None
        assert origin == forwarded.details.get("upstream")
        assert read.details.get("row") == forwarded.details.get("row")


def test_the_text_has_the_new_id() -> None:
    """The result has a single text block, whatever else the other server sent."""
    image = ImageContent(type="image", data="AAAA", mime_type="image/png")
    sent = failure(canonical(), "Error: x\n\n(CONFLICT · not retryable · id 0123456789abcdef)", "More.")
    sent.content.append(image)
    result = handed_on(sent)
    (block,) = result.content
    error = result.structured_content["error"]
    assert f"id {error['correlationId']}" in block.text
    assert ("forward", True) == (error["tool"], error["timestamp"] > "2020")


@pytest.mark.parametrize("ours", DIALECTS)
def test_the_limits_of_this_server_apply(ours: str) -> None:
    """They apply to the message, the hint and the data."""
    sent = failure(
        canonical(
            message="m" * 10_000,
            correlationId="i" * 10_000,
            tool="t" * 10_000,
            data={"recovery": {"hint": "h" * 10_000}, "reason": "r" * 10_000, "rows": ["x" * 1_000] * 1_000},
        )
    )
    result = handed_on(sent, dialect=ours, limits=LIMITS)
    forwarded = envelope_of(result)
    assert 200 >= len(forwarded.message)
    assert len(json.dumps(result.structured_content)) < 10_000
    if ours == "canonical":
        assert 100 >= len(forwarded.hint or "")
        assert 128 >= len(forwarded.details["upstream"]["correlationId"])
        assert 128 >= len(forwarded.details["upstream"]["tool"])


@pytest.mark.parametrize("ours", DIALECTS)
def test_nothing_is_injected(ours: str) -> None:
    """Controls, bidi characters and broken UTF-16 are escaped in every text, including key names."""
    hostile = "a\x1b[2J\u202eb\udcff\u2028c\r"
    sent = failure(
        canonical(
            message=hostile,
            correlationId=hostile,
            tool=hostile,
            timestamp=hostile,
            context={"role": hostile},
            data={hostile: hostile, "reason": hostile, "recovery": {"hint": hostile, "fallbackTool": hostile}},
        )
    )
    result = handed_on(sent, dialect=ours)
    for surface in [result.content[0].text, json.dumps(result.structured_content, ensure_ascii=False)]:
        assert not set(surface) & {"\x1b", "\u202e", "\udcff", "\u2028", "\r"}


def test_a_line_break_in_an_id_or_a_tool_is_escaped() -> None:
    """Both appear within a line of a log."""
    sent = failure(canonical(correlationId="a\n(reason x)", tool="b\nRecovery: c"))
    upstream = handed_on(sent).structured_content["error"]["data"]["upstream"]
    assert {"correlationId": "a\\n(reason x)", "tool": "b\\nRecovery: c"} == upstream


@pytest.mark.parametrize(
    ("code", "name", "expected"),
    [
        (1402, "QUOTA_SPENT_ELSEWHERE", (1402, "QUOTA_SPENT_ELSEWHERE")),
        (-32002, "CONFLICT", (-32002, "CONFLICT")),
        (7, "CONFLICT", (-32002, "CONFLICT")),
        (-32002, "not a name", (-32002, "CONFLICT")),
        (-32002, "A" * 100, (-32002, "CONFLICT")),
        (1402, "x\n(reason y)", (-32603, "INTERNAL_ERROR")),
        (2**70, "QUOTA_SPENT_ELSEWHERE", (-32603, "INTERNAL_ERROR")),
    ],
)
def test_a_well_formed_code_of_another_application_is_kept(code: int, name: str, expected: tuple[int, str]) -> None:
    """Otherwise the nearest known code is used."""
    error = handed_on(failure(canonical(code=code, name=name))).structured_content["error"]
    assert expected == (error["code"], error["name"])


def test_a_well_formed_code_of_the_same_dialect_is_kept() -> None:
    """It is sent as the other server wrote it."""
    for code, expected in (("E_OWN", "E_OWN"), ("x\ny", "UNKNOWN_ERROR"), ("A" * 100, "UNKNOWN_ERROR")):
        sent = failure({"code": code, "message": "m", "retry": {"kind": "not_retryable"}})
        assert expected == handed_on(sent, dialect="tool_error").structured_content["code"]


def test_a_failure_passed_on_before_says_so() -> None:
    """It lists the ids of all servers on the way, the nearest first."""
    first = handed_on(failure(canonical()))
    data = handed_on(first).structured_content["error"]["data"]
    nearest = first.structured_content["error"]["correlationId"]
    assert {
        "correlationId": nearest,
        "tool": "forward",
        "upstream": {"correlationId": "0123456789abcdef", "tool": "hold"},
    } == data["upstream"]
    assert 1 == data["row"]


def test_without_an_id_there_is_no_upstream() -> None:
    """The author's own data under that key is then kept."""
    sent = failure(canonical(correlationId=" ", data={"upstream": "own"}))
    assert "own" == handed_on(sent).structured_content["error"]["data"]["upstream"]
    assert "own" not in str(handed_on(failure(canonical(data={"upstream": "own"}))).structured_content)


def test_an_unreadable_failure_is_a_broken_result(tmp_path: Path) -> None:
    """A local result may contain a mapping whose methods raise."""

    class Hostile(dict[str, Any]):
        def get(self, *_: Any) -> Any:
            raise RuntimeError("hunter2")

    trail = tmp_path / "audit.jsonl"
    for is_error in (True, False):
        result = CallToolResult.model_construct(
            content=[], structured_content=Hostile(error=1, code=1), is_error=is_error, meta=None
        )
        answer = handed_on(result, audit=trail)
        if is_error:
            assert "INTERNAL_ERROR" == answer.structured_content["error"]["name"]
        else:
            assert {"error": 1, "code": 1} == answer.structured_content  # not marked as a failure, so sent as it is
        assert "hunter2" not in answer.model_dump_json()


_TEXTS = st.text(st.characters(), max_size=40) | st.sampled_from(["\n\nRecovery: x", "\r\n(reason a)", "\u2066", ""])
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | _TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3),
    max_leaves=6,
)
_KEYS = st.sampled_from(
    ["ok", "error", "code", "name", "message", "retry", "tool", "correlationId", "data", "details", "error_code",
     "human_message", "recovery_actions", "correlation_id", "result", "mcpcore", "upstream", "kind", "afterMs"]
)  # fmt: skip
_OBJECTS = st.dictionaries(_KEYS, _VALUES | st.dictionaries(_KEYS, _VALUES, max_size=5), max_size=6)


@settings(max_examples=60, deadline=None)
@given(
    changes=st.dictionaries(_KEYS, _VALUES, max_size=5),
    plain=_OBJECTS,
    texts=st.lists(_TEXTS, max_size=2),
    as_changes=st.booleans(),
    ours=st.sampled_from(list(DIALECTS)),
)
def test_any_upstream_result_becomes_a_bounded_escaped_failure_with_a_new_id(
    changes: dict[str, Any], plain: dict[str, Any], texts: list[str], as_changes: bool, ours: str
) -> None:
    """This holds in each dialect for any structured content with `isError`."""
    result = handed_on(failure(canonical(**changes) if as_changes else plain, *texts), dialect=ours, limits=LIMITS)
    forwarded = envelope_of(result)
    assert ours == forwarded.dialect
    assert 200 >= len(forwarded.message)
    assert 60_000 > len(result.model_dump_json())
    assert 1 == len(result.content)
    if ours != "system_error":
        assert ID.fullmatch(forwarded.correlation_id)
        assert "0123456789abcdef" != forwarded.correlation_id
        assert "forward" == forwarded.tool
    for text in (result.content[0].text, forwarded.message):
        assert text == clean_text(text)
