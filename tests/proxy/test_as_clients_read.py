"""What a client of the SDK reads as a failure, the proxy reads as one; what it reads as a success passes unchanged."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import anyio
import pytest
from hypothesis import given, settings, strategies as st
from mcp import ClientSession
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp_types import (
    CONNECTION_CLOSED,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    DiscoverResult,
    Implementation,
    InitializeResult,
    InputRequiredResult,
    ServerCapabilities,
    jsonrpc_message_adapter,
)
from pydantic import TypeAdapter, ValidationError

from mcpcore.boundary.script import Boundary
from mcpcore.proxy.answers import ResponseRewriter
from mcpcore.proxy.conversation import Conversation
from mcpcore.proxy.listings import Listing
from tests.proxy.conftest import request

SECRET = "hunter2-hunter2"
TRACE = f'I ran it.\nTraceback (most recent call last):\n  File "a.py", line 1, in f\nKeyError: "{SECRET}"'
NEVER = "never"
"""A key that a message leaves out."""

MODERN = "2026-07-28"
VERSIONS = ["2024-11-05", "2025-06-18", "2025-11-25", MODERN]
RESULTS: TypeAdapter[Any] = TypeAdapter(CallToolResult | InputRequiredResult)


pytestmark = pytest.mark.usefixtures("quiet")


async def asked_and_read(version: str, raw: bytes) -> tuple[bytes, bool | None]:
    """Return the request of a client, and whether `raw` is a failure for it; None if it cannot read that."""
    to_client, receive = anyio.create_memory_object_stream[Any](1)
    send, from_client = anyio.create_memory_object_stream[Any](1)
    verdict: list[bool | None] = []
    shared: dict[str, Any] = {
        "capabilities": ServerCapabilities(),
        "server_info": Implementation(name="s", version="1"),
    }

    async def call(session: ClientSession) -> None:
        try:
            params = CallToolRequestParams(name="t", arguments={})
            result = await session.send_request(CallToolRequest(params=params), RESULTS)
        except MCPError as exc:
            verdict.append(None if exc.error.code == CONNECTION_CLOSED else True)
        except ValidationError:
            verdict.append(None)
        else:
            verdict.append(isinstance(result, CallToolResult) and result.is_error)

    async with ClientSession(receive, send) as session, anyio.create_task_group() as tasks:
        session.adopt(
            DiscoverResult(supported_versions=[version], **shared)
            if version == MODERN
            else InitializeResult(protocol_version=version, **shared)
        )
        tasks.start_soon(call, session)
        asked = (await from_client.receive()).message.model_dump_json(by_alias=True, exclude_none=True).encode()
        with contextlib.suppress(ValueError):
            await to_client.send(SessionMessage(jsonrpc_message_adapter.validate_json(raw, by_name=False)))
        await to_client.aclose()
    await from_client.aclose()
    return asked, verdict[0]


def relayed(asked: bytes, raw: bytes, answers: ResponseRewriter | None = None) -> tuple[bytes, int]:
    """Return what the client gets for the answer `raw`, and how many failures were counted."""
    answers = answers or ResponseRewriter(Boundary(server="s", audit=None))
    talk = Conversation(answers, Listing(complete=True))
    assert talk.from_client(asked).to_server == [asked]
    (sent,) = talk.from_server(raw).to_client
    return sent, sum(answers.statistics.failures.values())


def written(pairs: list[tuple[str, Any]]) -> str:
    """Return an object as JSON, whose keys may come twice, and whose values may be JSON already."""
    shown = (
        f"{json.dumps(key)}:{value if isinstance(value, Raw) else json.dumps(value)}"
        for key, value in pairs
        if value != NEVER
    )
    return "{" + ",".join(shown) + "}"


class Raw(str):
    """JSON."""

    __slots__ = ()


FLAGS = [
    NEVER, True, False, None, 1, 0, 1.0, 0.0, 2, -1, "true", "True", "TRUE", "t", "yes", "Y", "on", "1", "false", "F", "no",
    "n", "off", "0", "maybe", " true", [], {},
]  # fmt: skip
TYPES = [NEVER, "complete", "input_required", "task", "other", "", None, 3]
IDS = [1, "1", "01", " 1", "1_", "1.0", "0x1", 1.0, None, True, "x", 2]
METHODS: list[Any] = [NEVER, NEVER, None, 3, [], "x", "notifications/x"]
CONTENTS = [
    NEVER,
    [],
    [{"type": "text", "text": TRACE}],
    [{"type": "text", "text": "x"}, {"type": "odd"}],
    None,
    "text",
]


def one_of(values: list[Any]) -> st.SearchStrategy[Any]:
    return st.sampled_from(values)


result = st.lists(
    st.tuples(st.just("isError"), one_of(FLAGS))
    | st.tuples(st.just("resultType"), one_of(TYPES))
    | st.tuples(st.just("content"), one_of(CONTENTS))
    | st.tuples(st.just("requestState"), one_of([NEVER, "s", 1]))
    | st.tuples(st.just("structuredContent"), one_of([NEVER, None, {"a": 1}, [1], "x"]))
    | st.tuples(st.just("jsonrpc"), one_of(["2.0", 1]))
    | st.tuples(st.just("result"), one_of([{}, {"isError": False}])),
    max_size=5,
).map(lambda pairs: Raw(written([("content", [{"type": "text", "text": TRACE}]), ("isError", True), *pairs])))
error = st.fixed_dictionaries(
    {"code": one_of([-32603, -32000, 5, "5", True, 5.0, 5.5, None]), "message": one_of([TRACE, "", None, 5])},
    optional={"data": one_of([None, {"a": 1}, TRACE])},
)
PARTS = (
    st.tuples(st.just("id"), one_of(IDS))
    | st.tuples(st.just("method"), one_of(METHODS))
    | st.tuples(st.just("params"), one_of([NEVER, {}, 3, None]))
    | st.tuples(st.just("result"), result | one_of([NEVER, None, [], "x"]))
    | st.tuples(st.just("error"), error | one_of([NEVER, None, [], "x"]))
)
# A plain message first, so that each example is near to one that a client reads.
messages = st.tuples(result, st.lists(PARTS, max_size=3)).map(
    lambda drawn: written([("jsonrpc", "2.0"), ("id", 1), ("result", drawn[0]), *drawn[1]]).encode()
)


@settings(max_examples=300, deadline=None)
@given(one_of(VERSIONS), messages)
def test_the_proxy_reads_an_answer_as_a_client_of_the_sdk_does(version: str, raw: bytes) -> None:
    asked, is_failure = anyio.run(asked_and_read, version, raw)
    sent, failures = relayed(asked, raw)

    if is_failure:
        assert failures == 1
        assert SECRET.encode() not in sent
        assert anyio.run(asked_and_read, version, sent)[1] is True
    elif is_failure is False:
        assert sent == raw
        assert failures == 0


def failed(ident: str = "1", *, before: str = "", flag: str = "true", more: str = "") -> bytes:
    """Return the JSON of a failed result."""
    result = f'{{"content":[{{"type":"text","text":{json.dumps(TRACE)}}}],"isError":{flag}{more}}}'
    return f'{{"jsonrpc":"2.0",{before}"id":{ident},"result":{result}}}'.encode()


FORGED = {
    "a number as flag": failed(flag="1"),
    "a word as flag": failed(flag='"true"'),
    "another word as flag": failed(flag='"oN"'),
    "a flag that no client reads": failed(flag='"maybe"'),
    "a type before there were types": failed(more=',"resultType":"input_required"'),
    "a null type": failed(more=',"resultType":null'),
    "a null method": failed(before='"method":null,'),
    "a method that is a number": failed(before='"method":3,"params":[],'),
    "a null error": failed(before='"error":null,'),
    "the id as text": failed('"1"'),
    "the id as float": failed("1.0"),
    "the id in hexadecimal": failed('"0x1"'),
    "a result in the result": failed(more=',"jsonrpc":"2.0","result":{}'),
    "the last of two flags": failed(more=',"isError":"yes"'),
    "a long number": failed(more=',"_meta":{"a":' + "1" * 5_000 + "}"),
    "deep nesting": failed(more=',"_meta":{"a":' + "[" * 5_000 + "]" * 5_000 + "}"),
    "half of a surrogate pair": failed(more=',"_meta":{"\\ud800":"\\udfff"}'),
    "bytes that are no UTF-8": failed(more=',"_meta":{"a":"\xff"}').replace("\xff".encode(), b"\xff"),
    "a batch": b"[" + failed() + b"]",
}


@pytest.mark.parametrize("raw", FORGED.values(), ids=FORGED)
def test_a_forged_form_of_a_failure_is_converted_and_recorded(raw: bytes, tmp_path: Any) -> None:
    trail = tmp_path / "trail.jsonl"
    answers = ResponseRewriter(Boundary(server="s", audit=trail))

    sent, failures = relayed(request("tools/call", 1, name="t", arguments={}).strip(), raw, answers)

    answer = json.loads(sent)
    answer = answer[0] if isinstance(answer, list) else answer
    assert failures == len(trail.read_text().splitlines()) == 1
    assert answer["id"] == 1
    assert answer.keys() == {"jsonrpc", "id", "result"}
    assert answer["result"]["isError"] is True
    assert SECRET not in sent.decode()


def test_a_result_that_asks_for_input_passes_whatever_its_flag_says() -> None:
    raw = failed(more=',"resultType":"input_required","requestState":"s","inputRequests":{}')
    raw = raw.replace(b'"content":', b'"contents":')
    asked = request("tools/call", 1, name="t", _meta={"io.modelcontextprotocol/protocolVersion": MODERN}).strip()

    assert relayed(asked, raw) == (raw, 0)


def test_a_client_that_does_not_take_the_id_in_another_form_gets_no_raw_failure_afterwards() -> None:
    talk = Conversation(ResponseRewriter(Boundary(server="s", audit=None)), Listing(complete=True))
    talk.from_client(request("tools/call", 1, name="t"))
    fine = b'{"jsonrpc":"2.0","id":"1","result":{"content":[]}}'

    assert talk.from_server(fine).to_client == [fine]
    (sent,) = talk.from_server(failed()).to_client
    assert SECRET.encode() not in sent
    assert not talk.waits
    for ident in range(1_002):
        talk.from_client(request("tools/call", ident, name="t"))
        talk.from_server(fine.replace(b'"1"', b'"%d"' % ident))
    assert talk.from_server(failed("0")).to_client == [failed("0")], "of too many, the oldest is forgotten"


@pytest.mark.parametrize("batch", [b"[]", b"[1, 2]", b'[{"jsonrpc": "2.0", "id": 1, "result": {"content": []}}, null]'])
def test_a_list_without_a_failure_passes(batch: bytes) -> None:
    assert relayed(request("tools/call", 1, name="t").strip(), batch) == (batch, 0)
