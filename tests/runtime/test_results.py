"""A success that JSON cannot represent becomes valid JSON or a recorded failure, and the server keeps running."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

SERVER = Path(__file__).with_name("results_server.py")
Ask = Callable[..., dict[str, Any]]


def strictly(line: bytes) -> Any:
    """Parse a line as JSON under RFC 8259: UTF-8, without NaN and infinities."""

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not JSON")

    return json.loads(line.decode(), parse_constant=refuse)


@pytest.fixture(scope="module")
def trail(tmp_path_factory: pytest.TempPathFactory, served_by: str) -> Path:
    return tmp_path_factory.mktemp("results") / "audit.jsonl"


@pytest.fixture(scope="module")
def ask(trail: Path, served_by: str) -> Iterator[Ask]:
    """Call a server over its standard input and output, and parse the answers strictly."""
    process = subprocess.Popen(
        [sys.executable, str(SERVER), served_by],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "MCPCORE_AUDIT": str(trail)},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    numbers = iter(range(1, 10_000))
    reader, writer = process.stdout, process.stdin

    def asked(method: str, **params: Any) -> dict[str, Any]:
        number = next(numbers)
        writer.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n")
        writer.flush()
        while line := reader.readline():
            answer: dict[str, Any] = strictly(line)
            if answer.get("id") == number:
                return answer
        raise AssertionError(f"the server ended at {method} {params}")

    with process:
        client = {"name": "tests", "version": "1"}
        asked("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
        writer.write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
        yield asked
        writer.close()


def recorded(trail: Path, error: dict[str, Any]) -> dict[str, Any]:
    records = [json.loads(line) for line in trail.read_text().splitlines()]
    matches = [record for record in records if record["correlationId"] == error["correlationId"]]
    assert 1 == len(matches)
    return dict(matches[0])


PREFIXES = [
    "",
    pytest.param("sdk_", marks=pytest.mark.server_only("FastMCP converts the results of plain tools")),
]
BROKEN = [
    ("untyped", "half deep"), ("untyped", "half key"), ("untyped", "half"), ("untyped", "halves"), ("untyped", "deep"),
    ("untyped", "half in the texts"), ("untyped", "half in an image"), ("untyped", "half in the result"),
    ("untyped", "half in the meta"), ("untyped", "object"),
    ("mapping", "half deep"), ("mapping", "half key"), ("mapping", "deep"),
    ("mapping", "too deep for readers"),
    ("text", "half"), ("model", "value"), ("counts", ""), ("numbers", "nan"),
]  # fmt: skip


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize(("name", "kind"), BROKEN)
def test_a_result_that_json_cannot_represent_is_a_recorded_failure(
    ask: Ask, trail: Path, prefix: str, name: str, kind: str
) -> None:
    """This holds for contract and SDK tools and any part of the result, none of which is sent."""
    result = ask("tools/call", name=f"{prefix}{name}", arguments={"kind": kind})["result"]
    error = result["structuredContent"]["error"]
    assert (True, "INTERNAL_ERROR") == (result["isError"], error["name"])
    assert "data" not in error
    assert "mcpcore.values.unwrapping.BrokenResultError" == recorded(trail, error)["exception"]["type"]


def test_the_record_locates_invalid_numbers(ask: Ask, trail: Path) -> None:
    """It has the path of the first one, the count of the others, and a value to return instead."""
    error = ask("tools/call", name="counts", arguments={"kind": ""})["result"]["structuredContent"]["error"]
    said = recorded(trail, error)["exception"]["message"]
    assert "a NaN or an infinity in counts.1 and in 1 more places" in said
    assert "return None" in said


@pytest.mark.parametrize("prefix", PREFIXES)
def test_an_invalid_number_becomes_null_if_the_schema_allows_it(ask: Ask, prefix: str) -> None:
    """Both surfaces agree with each other and the advertised schema, and the tool's own text is kept."""
    listed = {tool["name"]: tool for tool in ask("tools/list")["result"]["tools"]}
    for name, kind, expected in (
        ("mapping", "nan", {"k": None, "l": [1.5, None]}),
        ("model", "maybe", {"value": 0.0, "maybe": None, "free": None}),
        ("model", "free", {"value": 0.0, "maybe": None, "free": {"k": [None]}}),
        ("mapping", "words", {"k": "NaN", "l": ["Infinity"]}),
    ):
        result = ask("tools/call", name=f"{prefix}{name}", arguments={"kind": kind})["result"]
        assert not result["isError"]
        assert expected == result["structuredContent"]
        assert expected == strictly(result["content"][0]["text"].encode())
        jsonschema.validate(result["structuredContent"], listed[f"{prefix}{name}"]["outputSchema"])
    untyped = ask("tools/call", name=f"{prefix}untyped", arguments={"kind": "nan"})["result"]
    assert {"k": None, "l": [1.5, None]} == strictly(untyped["content"][0]["text"].encode())
    several = ask("tools/call", name=f"{prefix}untyped", arguments={"kind": "numbers and words"})["result"]
    values = [1.5, None, "NaN and words", {"k": None}]
    texts = [block["text"] for block in several["content"]]
    # FastMCP writes a list as one text, the SDK each of its items.
    assert values == (
        json.loads(texts[0]) if len(texts) == 1 else [json.loads(texts[0]), None, texts[2], json.loads(texts[3])]
    )
    own = ask("tools/call", name=f"{prefix}untyped", arguments={"kind": "a nan of its own"})["result"]
    assert ({"k": [None]}, '{"k": NaN}') == (own["structuredContent"], own["content"][0]["text"])
    for said in ("NaN", '{"k": NaN}', "NaN is not a number"):
        result = ask("tools/call", name=f"{prefix}text", arguments={"kind": said})["result"]
        assert ({"result": said}, said) == (result["structuredContent"], result["content"][0]["text"])


def test_a_failure_result_built_by_a_handler_keeps_its_text(ask: Ask) -> None:
    """Values that cannot be written are replaced."""
    result = ask("tools/call", name="untyped", arguments={"kind": "half in a failure"})["result"]
    assert "a file \ufffd" == result["structuredContent"]["error"]["message"]


def test_logs_and_progress_do_not_end_the_server(ask: Ask) -> None:
    """Values that a handler logs or reports are made serializable."""
    result = ask("tools/call", name="tells", arguments={}, _meta={"progressToken": 1})["result"]
    assert {"result": "told"} == result["structuredContent"]


def test_resources_and_prompts_that_cannot_be_written_are_recorded_protocol_errors(ask: Ask, trail: Path) -> None:
    """They have no result that could report a failure."""
    for method, params, surface in (
        ("resources/read", {"uri": "file:///half"}, "resource"),
        ("prompts/get", {"name": "ask"}, "prompt"),
    ):
        error = ask(method, **params)["error"]
        assert -32603 == error["code"]
        assert surface == recorded(trail, error["data"]["error"])["surface"]


def test_nesting_that_clients_can_read_is_sent(ask: Ask) -> None:
    """The SDK's own client can read it; with slightly deeper nesting it would wait forever."""
    from pydantic_core import from_json

    for kind in ("wide", "as deep as may be"):
        answer = ask("tools/call", name="mapping", arguments={"kind": kind})
        assert not answer["result"]["isError"]
        assert answer == from_json(json.dumps(answer))


def test_finite_results_are_sent_as_they_are() -> None:
    """Valid results are unchanged."""
    from mcp_types import CallToolResult, TextContent

    from mcpcore.sdk.results import sendable

    for structured in (None, {}, {"a": [1.5, "NaN", {"Infinity": None}]}):
        for text in ("fine", 'NaN and ["Infinity"'):
            result = CallToolResult(content=[TextContent(type="text", text=text)], structured_content=structured)
            assert result == sendable(result, {"type": "object"})
