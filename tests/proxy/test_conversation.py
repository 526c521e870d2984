"""What becomes of single answers, and of the handshake of a server that is started again."""

from __future__ import annotations

import json
import logging
import time
from pathlib import Path
from typing import Any

import pytest

from mcpcore import CodedError, Contract, Envelope, ErrorCode
from mcpcore.audit import AuditTrail
from mcpcore.boundary.outcome import FailedCall
from mcpcore.boundary.script import Boundary
from mcpcore.contract.failure_modes import CONTRACT_META_KEY
from mcpcore.proxy.answers import ResponseRewriter
from mcpcore.proxy.conversation import Conversation
from mcpcore.proxy.learning import Learner
from mcpcore.proxy.listings import Listing
from mcpcore.proxy.overlay import Overlay
from mcpcore.sdk.definition import admitting_error
from tests.answers import envelope_of
from tests.proxy.conftest import request

MODERN = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}


def talk(
    method: str = "tools/call", *, overlay: Overlay | None = None, audit: Any = None, **params: Any
) -> Conversation:
    """Return a conversation in which the client has sent a request with the id 1."""
    answers = ResponseRewriter(Boundary(server="s", audit=audit), overlay or Overlay())
    conversation = Conversation(answers, Listing(complete=True))
    conversation.from_client(request(method, 1, **params))
    return conversation


def respond(conversation: Conversation, ident: Any = 1, **parts: Any) -> dict[str, Any]:
    """Return the message that the client gets for an answer of the server."""
    (sent,) = conversation.from_server(json.dumps({"jsonrpc": "2.0", "id": ident, **parts}).encode()).to_client
    message: dict[str, Any] = json.loads(sent)
    return message


@pytest.mark.parametrize("code", [-32700, -32600, -32601, -32020, -32021, -32022, -32042])
def test_errors_that_the_protocol_needs_stay(code: int) -> None:
    """A client acts on them by itself."""
    error = {"code": code, "message": "no", "data": {"x": 1}}
    assert error == respond(talk(name="t"), error=error)["error"]
    assert error == respond(talk("resources/read", uri="a://b"), error=error)["error"]


def result_of(**parts: Any) -> dict[str, Any]:
    return {"result": {"isError": True, "content": [{"type": "text", "text": "boom"}], **parts}}


PYTHON = (
    'Traceback (most recent call last):\n  File "/srv/app.py", line 3, in f\n    go("hunter22")\nKeyError: \'hunter22\''
)
JAVASCRIPT = "Error: hunter22\n    at f (C:\\new\\app.js:3:14)\n    at g (/app.js:1:2)"
GO = "panic: hunter22\n\ngoroutine 1 [running]:\nmain.main()"
AT_THE_END = "x" * 30_000 + "\n" + PYTHON


@pytest.mark.parametrize("trace", [PYTHON, JAVASCRIPT, GO, AT_THE_END], ids=["python", "javascript", "go", "late"])
@pytest.mark.parametrize("place", [
    lambda trace: result_of(content=[{"type": "text", "text": "boom"}, {"type": "text", "text": trace}]),
    lambda trace: result_of(structuredContent={"error": "boom", "traceback": trace}),
    lambda trace: result_of(content=[{"type": "text", "text": json.dumps({"error": "boom", "traceback": trace})}]),
    lambda trace: result_of(content=[{"type": "text", "text": "boom " + json.dumps([json.dumps([trace])])}]),
    lambda trace: result_of(content=[{"type": "resource", "resource": {"uri": "a:/b", "text": trace}}]),
    lambda trace: result_of(structuredContent={"lines": trace.splitlines()}),
    lambda trace: result_of(_meta={"deep": [{"trace": trace}]}),
    lambda trace: result_of(stack=trace),
    lambda trace: {**result_of(), "stack": trace},
    lambda trace: {"error": {"code": -32603, "message": "boom", "data": {"traceback": trace}}},
    lambda trace: {"error": {"code": -32603, "message": "boom", "data": trace}},
    lambda trace: {"error": {"code": -32602, "message": "boom", "stack": trace}},
    lambda trace: {"error": {"code": -32601, "message": trace}},
    lambda trace: {"error": {"code": "-32700", "message": "boom", "data": [trace]}},
    lambda trace: {"error": {"code": -32042, "message": "boom", "data": {"elicitations": [], "trace": trace}}},
])  # fmt: skip
def test_a_traceback_is_masked_wherever_it_is(place: Any, trace: str, tmp_path: Path) -> None:
    """Nothing of the answer is sent, and the record has the traceback."""
    trail = tmp_path / "trail.jsonl"
    conversation = talk(name="t", audit=trail)
    conversation.listing.learn({"tools": [{"name": "t"}]})
    answer = place(trace)

    sent = respond(conversation, **answer)

    assert "hunter22" not in json.dumps(sent)
    assert "boom" not in json.dumps(sent)
    assert "failed unexpectedly" in json.dumps(sent)
    assert sent.keys() <= {"jsonrpc", "id", "result", "error"}
    if "error" in sent:
        assert sent["error"]["code"] == int(answer["error"]["code"])
    (record,) = trail.read_text().splitlines()
    assert "hunter22" in record or trace is AT_THE_END


def test_the_data_that_a_client_needs_stays() -> None:
    sent = respond(talk(name="t"), error={"code": -32042, "message": PYTHON, "data": {"elicitations": [1]}})

    assert sent["error"]["code"] == -32042
    assert sent["error"]["message"] == "The tool failed unexpectedly."
    assert sent["error"]["data"]["elicitations"] == [1]


def test_a_traceback_in_the_data_of_a_contract_stays() -> None:
    """A server with contracts means it; what is beside its envelope nobody means."""
    exc = CodedError(ErrorCode.VALIDATION_ERROR, "It does not compile.", {"output": PYTHON}, reason="broken")
    envelope = Boundary(server="s", audit=None).record_failure(exc, FailedCall(name="check")).envelope
    failed = {
        "isError": True,
        "structuredContent": {"error": envelope.to_json()},
        "content": [{"type": "text", "text": envelope.text()}],
    }

    assert respond(talk(name="check"), result=failed)["result"] == failed
    assert "hunter22" not in json.dumps(respond(talk(name="check"), result={**failed, "_meta": {"stack": GO}}))


def test_an_error_in_answer_to_a_call_becomes_a_result() -> None:
    """Models see results, and hosts keep errors to themselves."""
    conversation = talk(name="t")
    conversation.listing.learn({"tools": [{"name": "t"}]})
    message = respond(conversation, error={"code": -32602, "message": "MCP error -32602: the id was not found"})
    envelope = envelope_of(message)
    assert ("INVALID_PARAMS", "the id was not found") == (envelope.name, envelope.message)
    assert message["result"]["isError"] is True


def test_an_unknown_tool_and_a_refused_answer_stay_errors() -> None:
    """The client has to know of both; the envelope is in the data."""
    unknown = respond(talk(name="nope"), error={"code": -32602, "message": "Unknown tool: nope", "data": [1]})["error"]
    assert (-32602, "Unknown tool: nope", [1]) == (unknown["code"], unknown["message"], unknown["data"]["details"])
    assert "correlationId" in unknown["data"]["error"]
    conversation = talk(name="t", requestState="forged")
    conversation.listing.learn({"tools": [{"name": "t"}]})
    assert -32602 == respond(conversation, error={"code": -32602, "message": "no"})["error"]["code"]


def test_requests_with_the_same_id_are_all_answered_with_envelopes() -> None:
    """A client that breaks the protocol cannot keep failures out of the record."""
    conversation = talk(name="first")
    for ident, name in ((1, "second"), ("1", "third")):
        conversation.from_client(request("tools/call", ident, name=name))
    failed = {"isError": True, "content": [{"type": "text", "text": "No."}]}
    names = [respond(conversation, result=failed)["result"]["structuredContent"]["error"]["tool"] for _ in range(3)]
    assert ["first", "second", "third"] == names, "an SDK takes 1 and '1' for the same id"
    assert failed == respond(conversation, result=failed)["result"], "nobody waits for a fourth answer"


def cancel(conversation: Conversation, ident: Any) -> list[bytes]:
    """Return what is sent to the server when the client cancels a request."""
    line = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": ident}}
    return conversation.from_client(json.dumps(line).encode()).to_server


def test_a_late_answer_to_a_cancelled_call_ends_here() -> None:
    """The client does not wait for it; a failure is recorded, and an id that is used again is answered."""
    failed = {"isError": True, "content": [{"type": "text", "text": "HTTP 404 no such order"}]}
    late = json.dumps({"jsonrpc": "2.0", "id": 1, "result": failed}).encode()
    for method, count, form in (
        ("tools/call", 1, b"%b"),
        ("completion/complete", 0, b"%b"),
        ("tools/call", 1, b"[%b]"),
    ):
        conversation = talk(method, name="t")
        assert 1 == len(cancel(conversation, 1))
        assert [] == conversation.from_server(form % late).to_client
        assert count == conversation.answers.statistics.failures["t", "NOT_FOUND"]
        assert [late] == conversation.from_server(late).to_client, "it is the client's to judge"
    conversation = talk(name="t")
    cancel(conversation, 1)
    conversation.from_client(request("tools/call", 1, name="u"))
    assert "u" == respond(conversation, result=failed)["result"]["structuredContent"]["error"]["tool"]
    for ident in range(1002):
        conversation.from_client(request("ping", ident))
        cancel(conversation, ident)
    assert [late] == conversation.from_server(late).to_client, "of too many, the oldest is forgotten"


def test_a_call_does_not_wait_for_a_list_that_was_cancelled() -> None:
    """The proxy asks for the tools itself."""
    conversation = Conversation(ResponseRewriter(Boundary(server="s", audit=None)), Listing())
    conversation.from_client(request("tools/list", 1))
    assert [] == conversation.from_client(request("tools/call", 2, name="t")).to_server
    assert ["notifications/cancelled", "tools/list"] == [json.loads(line)["method"] for line in cancel(conversation, 1)]


def test_requests_stay_in_order() -> None:
    """A request that was sent after a call that waits for the list of tools waits, too."""
    conversation = Conversation(ResponseRewriter(Boundary(server="s", audit=None)), Listing())
    lines = [request("tools/call", 1, name="t"), request("resources/read", 2, uri="a://b"), request("ping", 3)]
    (asked,) = conversation.from_client(lines[0]).to_server
    assert [[], []] == [conversation.from_client(line).to_server for line in lines[1:]]
    note, answer = b'{"jsonrpc":"2.0","method":"x"}', b'{"jsonrpc":"2.0","id":7,"result":{}}'
    assert [[note], [answer]] == [conversation.from_client(line).to_server for line in (note, answer)]
    assert [] == cancel(conversation, 3)
    listed = {"jsonrpc": "2.0", "id": json.loads(asked)["id"], "result": {"tools": []}}
    assert lines[:2] == conversation.from_server(json.dumps(listed).encode()).to_server


def test_requests_over_http_do_not_wait_for_each_other() -> None:
    """Each is sent by itself; only the first asks for the list of tools."""
    conversation = Conversation(ResponseRewriter(Boundary(server="s", audit=None)), Listing(), ordered=False)
    lines = [request("tools/call", ident, name="t") for ident in (1, 2)]
    assert [b"tools/list" in lines[0], True] == [
        False,
        b"tools/list" in conversation.from_client(lines[0]).to_server[0],
    ]
    assert [lines[1]] == conversation.from_client(lines[1]).to_server


def test_the_oldest_of_too_many_open_requests_is_forgotten() -> None:
    """A client can fill no memory with requests that the server never answers."""
    conversation = talk(name="t")
    for ident in range(2, 1002):
        conversation.from_client(request("tools/call", ident, name="t"))
    failed = {"isError": True, "content": [{"type": "text", "text": "No."}]}
    assert failed == respond(conversation, result=failed)["result"]
    assert "structuredContent" in respond(conversation, 2, result=failed)["result"]


def test_answers_with_unknown_ids_take_linear_time() -> None:
    """Each is looked up, and not compared with every open request."""
    conversation = talk(name="t")
    for ident in range(2, 1_000):
        conversation.from_client(request("tools/call", f"0x{ident:x}", name="t"))
    start = time.process_time()

    for ident in range(3_000):
        conversation.from_server(b'{"jsonrpc":"2.0","id":"x%d","result":{}}' % ident)

    assert time.process_time() - start < 2
    assert "INTERNAL_ERROR" in json.dumps(respond(conversation, 3, **result_of(stack=PYTHON)))
    assert conversation.from_server(b'{"jsonrpc":"2.0","id":"4.0","result":{}}').to_client
    assert len(conversation.lost("It ended.", final=True)) == 997
    assert not conversation.waits


def test_a_name_of_any_kind_is_answered() -> None:
    """One that is no text is for the server to refuse; a long one is repeated in part."""
    for name in ({}, [], None, 7):
        conversation = Conversation(ResponseRewriter(Boundary(server="s", audit=None)), Listing())
        line = request("tools/call", 1, name=name)
        assert [line] == conversation.from_client(line).to_server
    failed = {"isError": True, "content": [{"type": "text", "text": "No."}]}
    assert 2_000 > len(json.dumps(respond(talk(name="t" * 1_000_000), result=failed)))


def test_a_lost_call_of_a_read_only_tool_may_be_made_again() -> None:
    """The advice comes from the list of tools, which is forgotten only then."""
    for hints, advice in (({"readOnlyHint": True}, "Call again."), ({}, "Check whether the call took effect")):
        conversation = talk(name="t")
        conversation.listing.learn({"tools": [{"name": "t", "annotations": hints}]})
        (lost,) = conversation.lost("it ended", final=True)
        assert advice in json.loads(lost)["result"]["content"][0]["text"]
        assert {} == conversation.listing.tools


ENTRY = {"reason": "lost", "code": "NOT_FOUND", "when": "It is lost.", "recovery": "List them."}
GONE = {"version": 1, "resources": {"a://{x}": [{**ENTRY, "match": {"text": "gone", "in_success": True}}]},
        "prompts": {"p": [{**ENTRY, "match": [{"code": -32000}, {"text": "^lost$", "in_success": True}]}]}}  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "answer", "number"),
    [
        (("resources/read", {"uri": "a://b"}), {"error": {"code": -32002, "message": "gone"}}, -32002),
        (("resources/subscribe", {"uri": "a://b"}), {"error": {"code": -32603, "message": "gone"}}, -32603),
        (("resources/read", {"uri": "a://b"}), {"result": {"contents": [{"uri": "a://b", "text": "gone"}]}}, -32602),
        (("prompts/get", {"name": "p"}), {"error": {"code": -32000, "message": "KeyError: 'x'"}}, -32000),
        (("prompts/get", {"name": "p"}),
         {"result": {"messages": [{"role": "user", "content": {"type": "text", "text": "lost"}}]}}, -32602),
    ],
)  # fmt: skip
def test_entries_of_resources_and_prompts(asked: Any, answer: dict[str, Any], number: int) -> None:
    """The error keeps its number, and its data has the reason and the recovery; a crash shows none of its text."""
    method, params = asked
    conversation = talk(method, overlay=Overlay.of(GONE), **params)
    error = respond(conversation, **answer)["error"]
    envelope = envelope_of({"jsonrpc": "2.0", "id": 1, "error": error})
    assert (number, "lost", "NOT_FOUND", "List them.") == (
        error["code"], envelope.reason, envelope.name, envelope.hint,
    )  # fmt: skip
    assert ("It is lost." if "KeyError" in str(answer) else "gone" if method != "prompts/get" else "lost") == error[
        "message"
    ]
    section = "prompts.p" if method == "prompts/get" else "resources.a://{x}"
    assert (section, "lost") not in list(conversation.answers.overlay.unfired())


@pytest.mark.parametrize(
    "result",
    [
        {"contents": [{"uri": "a://b", "text": "all is well"}, {"uri": "a://b", "blob": "Z29uZQ=="}]},
        {"contents": [7, {"text": 7}], "messages": 7},
        {"resultType": "input_required", "contents": [{"text": "gone"}]},
    ],
)
def test_contents_that_match_no_entry_stay(result: dict[str, Any]) -> None:
    """Whatever a resource holds."""
    asked = talk("resources/read", uri="a://b", overlay=Overlay.of(GONE), _meta=MODERN)
    assert result == respond(asked, result=result)["result"]


@pytest.mark.parametrize(
    ("method", "key", "items"),
    [
        ("resources/list", "resources", [{"uri": "a://b", "name": "b"}, {"uri": "c://d", "name": "d"}]),
        ("resources/templates/list", "resourceTemplates", [{"uriTemplate": "a://{x}", "name": "x"}, 7]),
        ("prompts/list", "prompts", [{"name": "p"}, {"name": "q"}]),
    ],
)
def test_lists_have_the_contract(method: str, key: str, items: list[Any]) -> None:
    """The first item has entries, and the second one has none."""
    first, second = respond(talk(method, overlay=Overlay.of(GONE)), result={key: items})["result"][key]
    assert ("lost",) == Contract.from_listing(first).reasons
    assert items[1] == second


@pytest.mark.parametrize(
    ("method", "params", "learned"),
    [
        ("resources/read", {"uri": "a://b"}, {"resources": ["*"]}),
        ("prompts/get", {"name": "p"}, {"prompts": ["p"]}),
        ("prompts/list", {}, {"prompts": ["*"]}),
        ("tools/call", {"name": "unknown"}, {}),
        ("tools/list", {}, {}),
    ],
)
def test_errors_of_resources_and_prompts_are_learned(
    method: str, params: dict[str, Any], learned: Any, tmp_path: Path
) -> None:
    """Those of all resources together, since each URI is another; an unknown tool is no part of a contract."""
    conversation = talk(method, **params)
    conversation.answers.learner = learner = Learner(tmp_path / "draft.toml", "s")
    respond(conversation, error={"code": -32602, "message": "There is no such thing."})
    learner.write()
    sections = Overlay.read(learner.path).sections
    assert learned == {kind: list(section.entries) for kind, section in sections.items() if section.entries}


def test_errors_of_resources_keep_their_form() -> None:
    """Number, message and data stay; a crash is masked."""
    error = respond(
        talk("resources/read", uri="a://b"), error={"code": -32002, "message": "gone", "data": {"uri": "a://b"}}
    )["error"]
    assert (-32002, "gone", "a://b") == (error["code"], error["message"], error["data"]["uri"])
    assert "NOT_FOUND" == error["data"]["error"]["name"]
    crash = {"code": 0, "message": "'NoneType' object has no attribute 'row'", "data": {"stack": "secret"}}
    error = respond(talk("prompts/get", name="p"), error=crash)["error"]
    assert "NoneType" not in json.dumps(error)
    assert "secret" not in json.dumps(error)
    assert error == respond(talk("prompts/get", name="p"), error=error)["error"], "an envelope is passed on as it is"


def test_results_that_are_no_failures_stay() -> None:
    """Questions, tasks and results of unknown kinds pass."""
    asks = {"resultType": "input_required", "requestState": "s", "isError": True}
    assert asks == respond(talk(name="t", _meta=MODERN), result=asks)["result"]
    for result in (
        {"task": {"taskId": "1"}},
        {"content": []},
        [1],
        None,
    ):
        assert result == respond(talk(name="t"), result=result)["result"]


def test_a_surrogate_in_a_failure_is_written_as_an_escape() -> None:
    """UTF-8 has no half of a pair."""
    failed = {"isError": True, "content": [{"type": "text", "text": "No."}], "_meta": {"half": "\ud800"}}
    assert "\ud800" == respond(talk(name="t"), result=failed)["result"]["_meta"]["half"]


def test_a_list_of_the_server_is_changed_only_where_it_must_be() -> None:
    """Not where the server declares the reason itself, nor where its schema admits a failure."""
    entry = {**ENTRY, "match": {"text": "x"}}
    own = [{"reason": "lost", "code": "NOT_FOUND"}]
    schema = admitting_error({"type": "object", "properties": {"a": {"type": "string"}}})
    tools = [
        {"name": "t", "_meta": {CONTRACT_META_KEY: own}},
        {"inputSchema": {}},
        {"name": "u", "outputSchema": schema},
    ]
    conversation = talk("tools/list", overlay=Overlay.of({"version": 1, "tools": {"t": [entry]}}))
    assert tools == respond(conversation, result={"tools": tools})["result"]["tools"]
    assert {"t", "u"} == set(conversation.listing.tools)
    with_field = {"type": "object", "properties": {"error": {"type": "object"}}}
    conversation.listing.learn({"tools": [{"name": "v", "outputSchema": with_field}]})
    assert {"error"} == conversation.listing.fields["v"]
    wrapped = {"type": "object", "properties": {"result": {"anyOf": [with_field, {"properties": {"ok": {}}}]}}}
    conversation.listing.learn({"tools": [{"name": "w", "outputSchema": wrapped}]})
    assert {"error", "ok"} == conversation.listing.fields["w"]


def test_long_texts_and_data_are_kept() -> None:
    """The whole text is in the data if the message is cut, and so is structured content."""
    text = "404 not found " * 200
    long = respond(talk(name="t"), result={"isError": True, "content": [{"type": "text", "text": text}]})["result"]
    assert text.strip() == long["structuredContent"]["error"]["data"]["text"].strip()
    facts = {
        "isError": True,
        "content": [{"type": "text", "text": "bad"}],
        "structuredContent": {"row": 7},
        "_meta": {"m": 1},
    }
    kept = respond(talk(name="t"), result=facts)["result"]
    assert 7 == kept["structuredContent"]["error"]["data"]["row"]
    assert {"m": 1} == kept["_meta"]


def test_a_success_that_an_entry_knows_is_a_failure() -> None:
    """`in_success` makes a failure of words that nothing else would."""
    entry = {
        "reason": "none",
        "code": "NOT_FOUND",
        "when": "It is.",
        "recovery": "Do.",
        "match": {"text": "^Nope", "in_success": True},
    }
    overlay = Overlay.of({"version": 1, "tools": {"t": [entry]}})
    result = {"content": [{"type": "text", "text": "Nope, nothing"}]}
    assert (
        "none"
        == respond(talk(name="t", overlay=overlay), result=result)["result"]["structuredContent"]["error"]["data"][
            "reason"
        ]
    )
    assert result == respond(talk(name="u", overlay=overlay), result=result)["result"]


def test_names_that_the_server_does_not_have_are_reported(caplog: pytest.LogCaptureFixture) -> None:
    """Each once, when the list of tools is known."""
    entry = {
        "reason": "r",
        "code": "NOT_FOUND",
        "when": "It is.",
        "recovery": "Do.",
        "fallback_tool": "gone",
        "match": {"text": "x"},
    }
    unfit = entry | {"fallback_tool": "t", "fallback_arguments": {"q": 1}}
    conversation = talk("tools/list", overlay=Overlay.of({"version": 1, "tools": {"lost": [entry], "t": [unfit]}}))
    with caplog.at_level(logging.WARNING):
        respond(conversation, result={"tools": [{"name": "t"}]})
        conversation.from_client(request("tools/list", 2))
        respond(conversation, 2, result={"tools": [{"name": "t"}]})
    assert 1 == caplog.text.count("the server has no tool 'lost'")
    assert 1 == caplog.text.count("names the fallback tool 'gone'")
    assert 1 == caplog.text.count("fallback_arguments of 'r' do not fit 't': it takes no argument 'q'")


def test_a_failure_that_cannot_be_recorded_is_withheld(tmp_path: Path) -> None:
    """With the policy to refuse, also one that has an envelope already."""
    folder = tmp_path / "trails"
    folder.mkdir()
    trail = AuditTrail.open(folder / "trail.jsonl", policy="refuse")
    own = Envelope.from_json(
        {"code": -32001, "name": "NOT_FOUND", "message": "No.", "correlationId": "0123456789abcdef"}
    )
    content = [{"type": "text", "text": own.text()}]
    sent = {"isError": True, "content": content, "structuredContent": {"error": own.to_json()}}
    assert sent == respond(talk(name="t", audit=trail), result=sent)["result"]
    carried = {"code": -32602, "message": "No.", "data": {"error": own.to_json()}}
    assert carried == respond(talk("prompts/get", name="p", audit=trail), error=carried)["error"]
    # The file becomes a folder, so that nothing can be written to it.
    (folder / "trail.jsonl").unlink()
    (folder / "trail.jsonl").mkdir()
    assert "audit_failed" == envelope_of(respond(talk(name="t", audit=trail), result=sent)).reason
    assert "audit_failed" == envelope_of(respond(talk("prompts/get", name="p", audit=trail), error=carried)).reason


def test_a_server_that_was_started_again_gets_the_handshake() -> None:
    """With an id of the proxy; other messages wait, and the client sees none of it."""
    conversation = Conversation(ResponseRewriter(Boundary(server="s")), Listing(complete=True))
    assert [] == conversation.restart().to_server, "there was no handshake"
    initialize, initialized = request("initialize", 7, a=1), b'{"jsonrpc":"2.0","method":"notifications/initialized"}'
    conversation.from_client(initialize)
    assert [] == conversation.lost("it ended", final=False)
    assert [initialize] == conversation.restart().to_server, "the client still waits for this one"
    respond(conversation, 7, result={"protocolVersion": "2025-06-18"})
    conversation.from_client(initialized)
    conversation.from_client(request("completion/complete", 8))
    (lost,) = conversation.lost("it ended", final=False)
    assert 8 == json.loads(lost)["id"]
    (again,) = conversation.restart().to_server
    assert {"a": 1} == json.loads(again)["params"]
    ping = request("ping", 9)
    assert [] == conversation.from_client(ping).to_server
    assert conversation.holds_back
    answer = {"jsonrpc": "2.0", "id": json.loads(again)["id"], "result": {"protocolVersion": "2025-06-18"}}
    step = conversation.from_server(json.dumps(answer).encode())
    assert [initialized, ping] == step.to_server
    assert [] == step.to_client
    conversation.restart()
    conversation.from_client(request("ping", 10))
    assert {9, 10} == {json.loads(line)["id"] for line in conversation.lost("it ended", final=True)}


def test_a_client_whose_handshake_failed_begins_again() -> None:
    """No handshake is repeated that never succeeded."""
    conversation = talk("initialize")
    (lost,) = conversation.lost("it ended", final=True)
    assert 1 == json.loads(lost)["id"]
    assert [] == conversation.restart().to_server


def test_a_call_during_a_list_of_several_pages() -> None:
    """The call waits for the client's own list; if that is not the last page, the proxy asks for all."""
    conversation = Conversation(ResponseRewriter(Boundary(server="s")), Listing())
    conversation.from_client(request("tools/list", 1))
    call = request("tools/call", 2, name="t")
    assert [] == conversation.from_client(call).to_server
    page = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"tools": [], "nextCursor": "2"}}).encode()
    step = conversation.from_server(page)
    assert [page] == step.to_client
    (asked,) = map(json.loads, step.to_server)
    assert "tools/list" == asked["method"]
    (more,) = conversation.from_server(
        json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": {"tools": [], "nextCursor": "2"}}).encode()
    ).to_server
    assert {"cursor": "2"} == json.loads(more)["params"]
    error = {"jsonrpc": "2.0", "id": json.loads(more)["id"], "error": {"code": -32603, "message": "no"}}
    assert [call] == conversation.from_server(json.dumps(error).encode()).to_server
    changed = b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'
    assert [changed] == conversation.from_server(changed).to_client
    assert b"tools/list" in conversation.from_client(request("tools/call", 3, name="t")).to_server[0]


def test_a_draft_that_cannot_be_written(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The failure of the draft is logged, and costs no answer."""
    answers = ResponseRewriter(Boundary(server="s"), learner=Learner(tmp_path / "no" / "d.toml", "s"))
    conversation = Conversation(answers, Listing(complete=True))
    for ident, text in ((1, ""), (2, "odd thing happened")):
        conversation.from_client(request("tools/call", ident, name="t"))
        respond(conversation, ident, result={"isError": True, "content": [{"type": "text", "text": text}]})
    assert 1 == caplog.text.count("cannot be written")


@pytest.mark.parametrize(
    ("calls", "repeated"),
    [
        ("r=no r=no r=no", [None, None, 3]),
        ("r=no r=no w=ok r=no", [None] * 3),
        ("r=no r=no o=ok r=no", [None, None, 3]),
        ("r=no r=no r=ok r=no", [None] * 3),
        ("r=no r=no r=429 r=no", [None] * 4),
        ("r=no r=no r=? w=? r=no", [None, None, 3]),
    ],
)
def test_identical_calls_are_counted(calls: str, repeated: list[int | None]) -> None:
    """A success of a tool that may change something, or of the same call, starts the count again; a question does not."""
    conversation = Conversation(ResponseRewriter(Boundary(server="s"), Overlay()), Listing())
    read_only = {"annotations": {"readOnlyHint": True}}
    conversation.listing.learn({"tools": [{"name": "r", **read_only}, {"name": "o", **read_only}, {"name": "w"}]})
    counts = []
    for ident, step in enumerate(calls.split()):
        name, outcome = step.split("=")
        conversation.from_client(request("tools/call", ident, name=name, _meta=MODERN))
        content = [{"type": "text", "text": outcome}]
        question = (
            {"resultType": "input_required", "requestState": "x"} if outcome == "?" else {"resultType": "complete"}
        )
        sent = respond(
            conversation, ident, result={"content": content, "isError": outcome in ("no", "429"), **question}
        )
        if sent["result"].get("isError"):
            counts.append(sent["result"]["structuredContent"]["error"].get("repeated"))
    assert repeated == counts


def test_calls_with_other_answers_to_a_question_differ() -> None:
    """The answers of the user belong to the call."""
    conversation = Conversation(ResponseRewriter(Boundary(server="s"), Overlay()), Listing(complete=True))
    for ident, answer in enumerate("abcabc"):
        conversation.from_client(request("tools/call", ident, name="t", inputResponses={"size": answer}))
        assert "identical" not in str(respond(conversation, ident, **result_of()))
    conversation.from_client(request("tools/call", 7, name="t", inputResponses={"size": "a"}))
    assert "This is the 3rd identical call, " in str(respond(conversation, 7, **result_of()))
