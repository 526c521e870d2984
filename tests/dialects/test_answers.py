"""`Envelope.from_result` reads anything that a client returns or raises; None means that the call succeeded."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import UserDict
from collections.abc import Callable, Iterator
from types import MappingProxyType, SimpleNamespace
from typing import Any, Literal

import fastmcp
import mcp_types
import pytest
from fastmcp.exceptions import ToolError as FastMCPToolError
from fastmcp.prompts.base import PromptResult
from fastmcp.resources.base import ResourceContent, ResourceResult
from fastmcp.tools.base import ToolResult
from hypothesis import given, settings, strategies as st
from mcp.client import Client
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, ErrorData, JSONRPCError, JSONRPCResponse, TextContent

from mcpcore import Context, Envelope, ErrorCode, FailureMode, Retry, Server, prompt, resource, tool
from mcpcore.contract.limits import DEFAULT_LIMITS
from mcpcore.integrations.fastmcp import ContractMiddleware
from mcpcore.wire.dialects import DIALECTS, dialect_named
from mcpcore.wire.envelope_builder import build_envelope
from tests.answers import envelope_of, settled
from tests.tables import in_one_test

NO_ROW = FailureMode(
    "no_row", ErrorCode.NOT_FOUND, when="There is no such row.", recovery="List the rows first.", fallback_tool="rows"
)


@tool(errors=[NO_ROW])
def get_row(ctx: Context[Literal["no_row"]], row: int) -> str:
    """Get a row."""
    if row:
        raise ctx.fail("no_row", data={"row": row})
    return "zero"


def row_text(ctx: Context[Literal["no_row"]], row: str) -> str:
    """A row, as a resource and as a prompt."""
    if row != "0":
        raise ctx.fail("no_row", data={"row": int(row)})
    return "zero"


def rows() -> Server:
    """Return a server that the SDK's client and FastMCP's client can call."""
    resources = [resource("rows://{row}", errors=[NO_ROW])(row_text)]
    return Server("rows", tools=[get_row], resources=resources, prompts=[prompt(name="ask", errors=[NO_ROW])(row_text)])


def require_no_row(read: Envelope | None) -> None:
    """Check that everything that a client acts on was read."""
    assert read is not None
    assert ("no_row", ErrorCode.NOT_FOUND, NO_ROW.when, {"row": 7}) == (
        read.reason,
        read.error_code,
        read.message,
        read.details,
    )
    assert ("List the rows first.", "rows", Retry.never(), 16) == (
        read.hint,
        read.fallback_tool,
        read.retry,
        len(read.correlation_id),
    )


class Hostile:
    """An object whose methods raise or end the program."""

    def __getattribute__(self, name: str) -> Any:
        raise SystemExit(name)


class HostileMapping(UserDict[str, Any]):
    """A mapping that cannot be read."""

    def get(self, key: str, default: Any = None) -> Any:
        raise RuntimeError(key)

    def __contains__(self, key: object) -> bool:
        raise RuntimeError(str(key))

    def __iter__(self) -> Iterator[str]:
        raise RuntimeError

    def __len__(self) -> int:
        raise RuntimeError


class HostileText(str):
    """A text whose methods raise."""

    __slots__ = ()

    def strip(self, *_: Any) -> str:
        raise RuntimeError

    def startswith(self, *_: Any) -> bool:
        raise RuntimeError


class HostileResult(CallToolResult):
    """A result whose `isError` cannot be read."""

    def __getattribute__(self, name: str) -> Any:
        if name == "is_error":
            raise RuntimeError
        return super().__getattribute__(name)


@pytest.mark.usefixtures("door")
@pytest.mark.anyio
async def test_results_and_errors_of_the_sdk_client_are_read() -> None:
    """These are tool results, errors of resources and prompts, and errors of calls within the server."""
    server = rows()
    async with Client(server) as client:
        require_no_row(Envelope.from_result(await client.call_tool("get_row", {"row": 7})))
        for failing in (client.read_resource("rows://7"), client.get_prompt("ask", {"row": "7"})):
            raised = await settled(failing)
            require_no_row(Envelope.from_result(raised))
            require_no_row(Envelope.from_result(raised.error))
            require_no_row(Envelope.from_result(raised.data))
            require_no_row(Envelope.from_result(JSONRPCError(jsonrpc="2.0", id=1, error=raised.error)))
        successes = [
            await client.call_tool("get_row", {"row": 0}),
            await client.read_resource("rows://0"),
            await client.get_prompt("ask", {"row": "0"}),
            await client.list_tools(),
        ]
    with pytest.raises(ToolError) as within:
        await server.call_tool("get_row", {"row": 7})
    require_no_row(Envelope.from_result(within.value))
    for success in successes:
        assert Envelope.from_result(success) is None
        assert Envelope.from_result(success.model_dump(by_alias=True, mode="json")) is None


@pytest.mark.parametrize("kind", ["server", "fastmcp"])
@pytest.mark.anyio
async def test_results_and_errors_of_the_fastmcp_client_are_read(kind: str) -> None:
    """These are its result class, its error with only a text, and its lists."""
    server: Any = rows()
    if kind == "fastmcp":
        server = fastmcp.FastMCP("rows")
        server.add_middleware(ContractMiddleware())
        server.tool(get_row)
    async with fastmcp.Client(server) as client:
        with pytest.raises(FastMCPToolError) as raised:
            await client.call_tool("get_row", {"row": 7})
        require_no_row(Envelope.from_result(raised.value))
        require_no_row(Envelope.from_result(str(raised.value)))
        require_no_row(Envelope.from_result(await client.call_tool("get_row", {"row": 7}, raise_on_error=False)))
        require_no_row(Envelope.from_result(await client.call_tool_mcp("get_row", {"row": 7})))
        successes = [await client.call_tool("get_row", {"row": 0}), await client.list_tools()]
        if kind == "server":
            require_no_row(Envelope.from_result(await settled(client.read_resource("rows://7"))))
            successes += [await client.read_resource("rows://0"), await client.get_prompt("ask", {"row": "0"})]
    for success in successes:
        assert Envelope.from_result(success) is None


@in_one_test(
    "success",
    [
        ToolResult(content="zero"),
        ToolResult(structured_content={"error": None}),
        ResourceResult([ResourceContent("zero")]),
        PromptResult("zero"),
        mcp_types.InputRequiredResult(request_state="s"),
        mcp_types.InputRequiredResult(request_state="s").model_dump(by_alias=True),
        JSONRPCResponse(jsonrpc="2.0", id=1, result={"content": []}),
        mcp_types.EmptyResult(),
        {},
        {"content": [{"type": "text", "text": "Error: x"}], "isError": False},
        {"content": [], "isError": None},
        {"isError": 0},
        {"isError": "false"},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        {"result": {"content": []}},
        {"messages": []},
        (),
    ],
)
def test_a_success_is_none(success: object) -> None:
    """A result that asks for input counts as a success, since the call has not failed."""
    assert Envelope.from_result(success) is None


def test_failed_fastmcp_results_are_read() -> None:
    """Middleware on the server sees them."""
    envelope = build_envelope(ErrorCode.CONFLICT, "no", retry=Retry.never(), tool="t")
    assert envelope == Envelope.from_result(ToolResult(structured_content={"error": envelope.to_json()}, is_error=True))


@in_one_test("dialect", DIALECTS)
@in_one_test("error", [FastMCPToolError, ToolError, ResourceError])
def test_an_exception_with_a_text_is_read_in_every_dialect(dialect: str, error: type[Exception]) -> None:
    """The clients keep the first text of a failed result."""
    envelope = build_envelope(ErrorCode.CONFLICT, "taken", retry=Retry.after(seconds=2), tool="t", data={"id": 7})
    _, text = dialect_named(dialect).write(envelope, limits=DEFAULT_LIMITS)
    read = envelope_of(error(text))
    assert (dialect, "taken") == (read.dialect, read.message)


@in_one_test(
    ("failed", "message", "code", "native"),
    [
        (FastMCPToolError("boom"), "boom", ErrorCode.UNKNOWN_ERROR, None),
        (FastMCPToolError(""), ErrorCode.UNKNOWN_ERROR.sentence, ErrorCode.UNKNOWN_ERROR, None),
        (FastMCPToolError("a\x1b[2J\u202eb"), "a\\u001b[2J\\u202eb", ErrorCode.UNKNOWN_ERROR, None),
        (MCPError(-32602, "Unknown tool: x"), "Unknown tool: x", ErrorCode.INVALID_PARAMS, -32602),
        (MCPError(-32002, "gone", {"uri": "x"}), "gone", ErrorCode.NOT_FOUND, -32002),
        (ErrorData(code=77, message="odd"), "odd", ErrorCode.UNKNOWN_ERROR, 77),
        (JSONRPCResponse(jsonrpc="2.0", id=1, result={"isError": True, "content": "boom"}), "boom", None, None),
        ({"jsonrpc": "2.0", "error": {"code": True, "message": "x"}}, "x", None, None),
        ({"jsonrpc": "2.0", "error": {"code": "NOT_FOUND", "message": "x"}}, "x", ErrorCode.NOT_FOUND, "NOT_FOUND"),
        ({"jsonrpc": "2.0", "error": "boom"}, "boom", None, None),
        ({"jsonrpc": "2.0", "error": None}, ErrorCode.UNKNOWN_ERROR.sentence, None, None),
        ({"result": {"isError": True, "content": [{"text": "boom"}]}}, "boom", None, None),
        ({"isError": True}, ErrorCode.UNKNOWN_ERROR.sentence, None, None),
        ({"isError": True, "message": "boom", "code": 404}, "boom", ErrorCode.NOT_FOUND, 404),
        ({"isError": True, "content": {"type": "text", "text": "boom"}}, "boom", None, None),
        ({"isError": True, "content": ["boom"]}, "boom", None, None),
        ({"isError": True, "content": [{"resource": {"uri": "x:y", "text": "boom"}}]}, "boom", None, None),
        ({"isError": True, "content": [None, 3, {"text": 3}, {"resource": 3}]}, None, None, None),
        ({"isError": True, "content": 3, "structuredContent": [1]}, None, None, None),
        ({"isError": True, "is_error": False, "content": [{"text": "boom"}]}, "boom", None, None),
        ({"isError": "true", "content": [{"text": "boom"}]}, "boom", None, None),
        ({"isError": 1}, None, None, None),
        ({"isError": []}, None, None, None),
        (MappingProxyType({"isError": True, "content": [{"text": "boom"}]}), "boom", None, None),
        (HostileMapping(isError=True), None, None, None),
        (HostileText('{"isError": true}'), None, None, None),
        (HostileResult(content=[TextContent(type="text", text="boom")]), "boom", None, None),
        (CallToolResult.model_construct(is_error=True, content=[Hostile()]), None, None, None),
        (CallToolResult.model_construct(is_error=True, content=[{"text": HostileText("boom")}]), "boom", None, None),
        (CallToolResult.model_construct(is_error=Hostile(), content=Hostile()), None, None, None),
        (CallToolResult.model_construct(is_error=True, structured_content=HostileMapping()), None, None, None),
    ],
)
def test_an_unreadable_failure_is_still_a_failure(
    failed: object, message: str | None, code: ErrorCode | None, native: object
) -> None:
    """It has any available text, escaped, and the code if it is known."""
    read = envelope_of(failed)
    assert ("unknown", code or ErrorCode.UNKNOWN_ERROR, native) == (read.dialect, read.error_code, read.native_code)
    assert message is None or message == read.message
    json.dumps(read.to_json(), allow_nan=False)
    assert read.text().isprintable() or "\x1b" not in read.text()


@in_one_test(
    ("answer", "instead"),
    [
        (None, "null"),
        ("null", "null"),
        (3, "a number or a boolean"),
        (float("nan"), "a number or a boolean"),
        (True, "a number or a boolean"),
        ("true", "a number or a boolean"),
        ([3], "a list"),
        (b"[{}]", "a list"),
        ('"done"', "a string: done"),
        ("", "a text that is not JSON: "),
        ("done", "a text that is not JSON: done"),
        ("[" * 100_000, "a text that is not JSON: [[["),
        (b"\xff", "a text that is not JSON: \ufffd"),
        (bytearray(b"oops"), "a text that is not JSON: oops"),
        ({"jsonrpc": "2.0", "id": 1, "result": 3}, "a JSON-RPC message without a result"),
        ({"jsonrpc": "2.0", "method": "ping"}, "a JSON-RPC message without a result"),
    ],
)
def test_an_invalid_answer_is_a_failure(answer: object, instead: str) -> None:
    """An invalid answer is not a success, so it is not None."""
    read = envelope_of(answer)
    assert ErrorCode.UNKNOWN_ERROR == read.error_code
    assert read.message.startswith(f"The answer is not the result of a call, but {instead}".strip())


class Unsaid(type):
    """A metaclass that hides the name of its types."""

    def __getattribute__(cls, name: str) -> Any:
        raise RuntimeError(name)


UNSAID = Unsaid("Unsaid", (), {"__module__": "m\n"})()


@pytest.mark.parametrize(
    ("unknown", "name"),
    [
        (object, "builtins.object"),
        (lambda: SimpleNamespace(is_error=True, isError=True, content=[]), "types.SimpleNamespace"),
        (ValueError, "builtins.ValueError"),
        (lambda: ErrorCode, "enum.EnumType"),
        (set, "builtins.set"),
        (lambda: memoryview(b"{}"), "builtins.memoryview"),
        (lambda: TextContent(type="text", text="Error: x"), "mcp_types._types.TextContent"),
        (mcp_types.GetTaskPayloadResult, "mcp_types._types.GetTaskPayloadResult"),
        (Hostile, f"{__name__}.Hostile"),
        (lambda: UNSAID, "m\\n.Unsaid"),
    ],
)
def test_an_object_of_an_unknown_type_is_a_type_error(unknown: Callable[[], object], name: str) -> None:
    """The error names the type and lists the accepted ones; None would hide that the wrong object was passed."""
    with pytest.raises(TypeError) as raised:
        Envelope.from_result(unknown())
    message = str(raised.value)
    assert message.startswith(f"Envelope.from_result() cannot read an object of the type {name}; pass what")
    assert all(name in message for name in ("CallToolResult", "ToolResult", "MCPError", "ToolError", "JSON"))


def test_values_from_hostile_objects_are_plain() -> None:
    """Values that are not JSON are converted, so that they raise no errors later."""
    error = {**build_envelope(ErrorCode.CONFLICT, "no", retry=Retry.never(), tool="t").to_json()}
    cyclic: dict[str, Any] = {}
    cyclic["again"] = cyclic
    for data in (
        {"id": 7, "odd": Hostile()},
        {"id": 7, "odd": HostileMapping()},
        {"id": 7, "odd": cyclic},
        {"id": 7, 3: HostileText("x")},
        {"id": 7, "odd": (1, {2})},
    ):
        structured = {"error": {**error, "data": data}}
        for result in (
            CallToolResult.model_construct(is_error=True, content=[], structured_content=structured),
            {"isError": True, "structuredContent": structured},
            MCPError(-32603, "no", structured),
        ):
            read = envelope_of(result)
            assert ("CONFLICT", 7) == (read.name, read.details["id"])
            json.dumps(read.to_json(), allow_nan=False)
            assert "Details: " in read.text()


KEYS = [
    "jsonrpc", "id", "result", "error", "code", "message", "data",
    "retry", "kind", "afterMs", "name", "reason", "recovery", "hint",
    "content", "text", "structuredContent", "isError", "is_error", "ok", "details",
    "recovery_actions", "error_code", "human_message", "tool_name", "timestamp", "correlation_id", "mcpcore",
    "hasData", "status", "type", "retryable", "resource",
]  # fmt: skip

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(KEYS) | st.text(max_size=5),
            inner,
            max_size=6,
        )
    ),
    max_leaves=25,
)


@settings(max_examples=150, deadline=None)
@given(value=JSON)
def test_reading_json_never_raises(value: Any) -> None:
    """This holds for values and text, and an envelope that was read can be written."""
    for form in (value, json.dumps(value), json.dumps(value).encode()):
        read = Envelope.from_result(form)
        if read is not None:
            assert read.message
            read.text()


@settings(max_examples=150, deadline=None)
@given(content=JSON, structured=JSON, more=st.dictionaries(st.text(max_size=5), JSON, max_size=2))
def test_a_failed_result_is_never_none(content: Any, structured: Any, more: dict[str, Any]) -> None:
    """Its content may be anything, as JSON or as an object created without validation."""
    for form in (
        {**more, "isError": True, "content": content, "structuredContent": structured},
        {"jsonrpc": "2.0", "id": 1, "result": {"isError": True, "content": content, "structuredContent": structured}},
        {"jsonrpc": "2.0", "id": 1, "error": structured},
        CallToolResult.model_construct(is_error=True, content=content, structured_content=structured),
        fastmcp.client.client.CallToolResult(is_error=True, content=content, structured_content=structured, meta=None),
        ErrorData.model_construct(code=content, message=structured, data=more),
    ):
        envelope_of(form).text()


def test_reading_loads_neither_fastmcp_nor_the_server() -> None:
    """A class is recognised through modules that are already loaded."""
    code = (
        "import sys; from mcpcore import Envelope; Envelope.from_result({'isError': True});\n"
        "try: Envelope.from_result(object())\n"
        "except TypeError: pass\n"
        "assert not {'fastmcp', 'mcp.server', 'mcp.client'} & set(sys.modules), sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
