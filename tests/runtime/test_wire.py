"""Each sentence of the wire specification, in both eras of the protocol."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.server.elicitation import CancelledElicitation
from mcp.server.mcpserver import Context as SDKContext
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
from mcp.server.mcpserver.tools import Tool as SDKTool
from mcp.shared.exceptions import MCPError, UrlElicitationRequiredError
from mcp_types import CallToolResult, ElicitRequestURLParams, Icon, ImageContent, TextContent
from pydantic import BaseModel

import mcpcore
from mcpcore import (
    CodedError,
    Context,
    CustomCode,
    Envelope,
    ErrorCode,
    FailureMode,
    Limits,
    Retry,
    Server,
    not_found,
    tool,
)
from mcpcore.contract.errors import FACTORIES
from mcpcore.sdk.errors import ToolFailure
from mcpcore.sdk.private import lowlevel_of
from tests.answers import ask, envelope_of

pytestmark = pytest.mark.usefixtures("door")

NO_MATCH = FailureMode(
    "no_match",
    ErrorCode.NOT_FOUND,
    when="No requested PMID returned data.",
    recovery="Call search_articles to discover valid PMIDs first.",
    fallback_tool="search_articles",
)
FULL = FailureMode(
    "queue_full",
    ErrorCode.RATE_LIMITED,
    when="The queue is full.",
    recovery="Wait 30 seconds and retry.",
    retry=Retry.after(seconds=45),
)


class Result(BaseModel):
    number: int


def error_of(result: Any) -> dict[str, Any]:
    assert result.is_error, result
    (block,) = result.content
    assert isinstance(block, TextContent)
    error = envelope_of(result).to_json()
    # On FastMCP, only the text has the failure if the schema of a plain tool does not admit it.
    assert result.structured_content in (None, {"error": error})
    return error


def text_of(result: Any) -> str:
    return str(result.content[0].text)


def raising(exc: Any, *, errors: Any = (NO_MATCH, FULL), idempotent: bool | None = None, **options: Any) -> Server[Any]:
    """Return a server whose tool `f` raises `exc`, or the exception that `exc` creates from the context."""

    @tool(errors=list(errors), idempotent=idempotent)
    def f(ctx: Context[Any]) -> dict[str, int]:
        raise exc(ctx) if callable(exc) else exc

    return Server("s", tools=[f], **options)


def test_a_declared_failure_is_complete_on_both_surfaces(era: str, call: Any) -> None:
    """The example of the specification is matched field for field and word for word."""
    server = raising(
        lambda ctx: ctx.fail("no_match", "None of 3 PMIDs returned data.", data={"pmids": ["1", "2", "3"]})
    )
    result = call(server, "f", mode=era)
    error = error_of(result)
    identity, timestamp = error.pop("correlationId"), error.pop("timestamp")
    assert {
        "code": -32001,
        "name": "NOT_FOUND",
        "message": "None of 3 PMIDs returned data.",
        "advice": "not retryable · try search_articles",
        "retry": {"kind": "not_retryable"},
        "tool": "f",
        "data": {
            "pmids": ["1", "2", "3"],
            "retryable": False,
            "recovery": {
                "hint": "Call search_articles to discover valid PMIDs first.",
                "fallbackTool": "search_articles",
            },
            "reason": "no_match",
        },
    } == error
    assert ["recovery", "reason", "pmids", "retryable"] == list(error["data"])
    assert timestamp.endswith("Z")
    assert (
        "Error: None of 3 PMIDs returned data.\n\n"
        "Recovery: Call search_articles to discover valid PMIDs first.\n\n"
        'Details: {"pmids":["1","2","3"]}\n\n'
        f"(reason no_match · NOT_FOUND · not retryable · try search_articles · id {identity})"
    ) == text_of(result)
    assert identity != error_of(call(server, "f", mode=era))["correlationId"]


def test_omitted_parts_come_from_the_declaration(call: Any) -> None:
    """Message, recovery and retry advice are filled in for handlers and services alike."""
    for exc in (lambda ctx: ctx.fail("queue_full"), CodedError(ErrorCode.RATE_LIMITED, data={"reason": "queue_full"})):
        error = error_of(call(raising(exc), "f"))
        assert "The queue is full." == error["message"]
        assert {"kind": "retryable_after_ms", "afterMs": 45_000} == error["retry"]
        assert {"retryable": True, "recovery": {"hint": "Wait 30 seconds and retry."}, "reason": "queue_full"} == error["data"]  # fmt: skip


def test_the_throw_site_replaces_or_removes(call: Any) -> None:
    """Recovery and retry are arguments, and `None` removes the recovery."""
    cases: list[tuple[dict[str, Any], Any]] = [
        ({"recovery": "Other."}, {"hint": "Other."}),
        ({"recovery": {"hint": "O", "strategy": "retry_later"}}, {"hint": "O", "strategy": "retry_later"}),
        ({"recovery": None}, None),
        ({"recovery": None, "data": {"recovery": {"hint": "A caller's words."}}}, None),
    ]
    for options, expected in cases:
        for make in (
            lambda ctx, options=options: ctx.fail("no_match", **options),
            lambda ctx, options=options: not_found(reason="no_match", **options),
        ):
            result = call(raising(make), "f")
            assert expected == error_of(result)["data"].get("recovery")
            assert ("Recovery:" in text_of(result)) == (expected is not None)
    now = error_of(call(raising(lambda ctx: ctx.fail("no_match", retry=Retry.now())), "f"))
    assert ({"kind": "retryable_immediate"}, True) == (now["retry"], now["data"]["retryable"])


def test_reserved_keys_belong_to_the_framework(call: Any) -> None:
    """`data` cannot override reason or retryable, which surround it; other keys keep their order."""
    data = {"reason": "other", "a": 1, "retryable": True, "recovery": 3, "b": 2}
    error = error_of(call(raising(lambda ctx: ctx.fail("no_match", data=data)), "f"))
    assert ["recovery", "reason", "a", "b", "retryable"] == list(error["data"])
    assert ("no_match", False) == (error["data"]["reason"], error["data"]["retryable"])


@pytest.mark.parametrize("name", FACTORIES)
def test_every_factory_sends_its_code(name: str, call: Any) -> None:
    """Message, data, recovery and retry reach the client, declared or not, and the default message is the code's."""
    make, code = getattr(mcpcore, name), FACTORIES[name]
    error = error_of(call(raising(make("Said.", {"a": 1}, recovery="Do it.", retry=Retry.now())), "f"))
    assert (int(code), code.name, "Said.") == (error["code"], error["name"], error["message"])
    assert {"a": 1, "retryable": True, "recovery": {"hint": "Do it."}} == error["data"]
    plain = error_of(call(raising(make(), idempotent=True), "f"))
    assert (code.sentence, code.retry.to_json()) == (plain["message"], plain["retry"])


# This runs once because a name cannot be registered twice and the test runs for both kinds of server.
WIRE_TEST = CustomCode("WIRE_TEST", 4711, http_status=402, category="client", retry=Retry.now(), sentence="Pay first.")


def test_a_custom_code_is_sent_like_any_other(call: Any) -> None:
    """The client gets its number, name, sentence and retry advice."""
    error = error_of(call(raising(CodedError(WIRE_TEST), idempotent=True), "f"))
    assert (4711, "WIRE_TEST", "Pay first.") == (error["code"], error["name"], error["message"])
    assert {"kind": "retryable_immediate"} == error["retry"]
    assert WIRE_TEST is Envelope.from_json(error).error_code


def test_cut_values_have_a_note(call: Any) -> None:
    """Message, hint, data and details are cut at the default or configured limits."""
    make: Any = lambda ctx: ctx.fail("no_match", "m" * 3_000, {"d": "x" * 100_000}, recovery="h" * 900)  # noqa: E731
    for limits, message, hint, data, details in (
        (Limits(), 1_000, 500, 32 * 1024, 2 * 1024),
        (Limits(message=100, hint=50, data=5_000, details=100), 100, 50, 5_000, 100),
    ):
        result = call(raising(make, limits=limits), "f")
        error = error_of(result)
        assert message == len(error["message"])
        assert error["message"].endswith("… (cut: 3000 characters in all)")
        assert hint == len(error["data"]["recovery"]["hint"])
        assert len(json.dumps(error["data"], separators=(",", ":")).encode()) <= data
        assert error["data"]["d"].endswith("characters in all)")
        assert len(text_of(result).split("Details: ")[1].split("\n\n")[0].encode()) <= details


@pytest.mark.parametrize(
    ("exc", "code"),
    [
        (ValueError("hunter2"), "VALIDATION_ERROR"),
        (KeyError("hunter2"), "INTERNAL_ERROR"),
        (FileNotFoundError("hunter2"), "NOT_FOUND"),
        (TimeoutError("hunter2"), "TIMEOUT"),
        (SystemExit("hunter2"), "INTERNAL_ERROR"),
        (BaseException("hunter2"), "INTERNAL_ERROR"),
        (StopIteration("hunter2"), "INTERNAL_ERROR"),
    ],
)
def test_an_undeclared_exception_is_masked(exc: Any, code: str, call: Any, era: str) -> None:
    """The client gets the classified code, its safe sentence and an id, without data or the exception's text."""
    result = call(raising(exc), "f", mode=era)
    error = error_of(result)
    expected = ErrorCode[code]
    assert (expected.name, expected.sentence) == (error["name"], error["message"])
    assert "data" not in error
    assert "hunter2" not in result.model_dump_json()


@pytest.mark.parametrize("by", ["option", "variable"])
def test_expose_internal_errors_shows_the_exception(by: str, call: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The option or environment variable adds the text, the causes and the traceback."""
    if by == "variable":
        monkeypatch.setenv("MCPCORE_EXPOSE_INTERNAL_ERRORS", "1")

    def make(ctx: Any) -> Exception:
        exc = ValueError("hunter2")
        exc.__cause__ = KeyError("hunter3")
        return exc

    error = error_of(call(raising(make, expose_internal_errors=by == "option"), "f"))
    assert "hunter2" == error["message"]
    shown = error["data"]["exception"]
    assert ("ValueError", "hunter2") == (shown["type"], shown["message"])
    assert [{"type": "KeyError", "message": "'hunter3'"}] == shown["causes"]
    assert "test_wire.py" in shown["traceback"]
    monkeypatch.setenv("MCPCORE_EXPOSE_INTERNAL_ERRORS", "0")
    assert "data" not in error_of(call(raising(make), "f"))


@pytest.mark.parametrize(("option", "variable"), [("message", ""), (False, "message")])
def test_expose_internal_errors_can_show_the_text_alone(
    option: Any, variable: str, call: Any, era: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With "message" clients read the text, as from version 1 of the SDK, and neither causes nor a traceback."""
    monkeypatch.setenv("MCPCORE_EXPOSE_INTERNAL_ERRORS", variable)
    error = error_of(call(raising(ValueError("No file a.txt"), expose_internal_errors=option), "f", mode=era))
    assert ("VALIDATION_ERROR", "No file a.txt") == (error["name"], error["message"])
    assert {"retryable": False} == error["data"]
    plain = SDKTool.from_function(lambda: json.loads("no"), name="f")
    for declared in plain, tool(name="f", errors=[])(lambda: json.loads("no")):
        with pytest.raises(ToolError, match="Error executing tool f: Expecting value"):
            anyio.run(Server("s", tools=[declared], expose_internal_errors=option).call_tool, "f", {})
    hidden = raising(KeyError("password=hunter2hunter2"), expose_internal_errors=option)
    with pytest.raises(ToolFailure, match=r"password=\[redacted\]"):
        anyio.run(hidden.call_tool, "f", {})
    with pytest.raises(ValueError, match="must be False or True or 'message', not 'messages'"):
        Server("s", expose_internal_errors="messages")  # type: ignore[arg-type]


class TestGroups:
    def test_the_most_specific_declared_failure_wins(self, call: Any, caplog: pytest.LogCaptureFixture) -> None:
        """It is preferred to undeclared failures, general codes and crashes; the log counts the others."""
        general = FailureMode("slow", ErrorCode.TIMEOUT, when="Slow.", recovery="Again.")
        group = lambda ctx: BaseExceptionGroup(  # noqa: E731
            "g",
            [
                ValueError("x"),
                ExceptionGroup("h", [ctx.fail("slow"), not_found(), ctx.fail("no_match")]),
                ToolError("t"),
                not_found(reason="other"),
            ],
        )
        assert "no_match" == error_of(call(raising(group, errors=[general, NO_MATCH]), "f"))["data"]["reason"]
        assert "had 5 more failures" in caplog.text

    def test_a_group_with_one_crash_is_that_crash(self, call: Any) -> None:
        """A task group wraps the exception of its only task."""
        error = error_of(call(raising(ExceptionGroup("g", [ExceptionGroup("h", [TimeoutError()])])), "f"))
        assert "TIMEOUT" == error["name"]
        mixed = error_of(call(raising(ExceptionGroup("g", [TimeoutError(), FileNotFoundError()])), "f"))
        assert "INTERNAL_ERROR" == mixed["name"]


class TestProtocolErrors:
    @pytest.mark.parametrize(
        ("code", "name"),
        [
            (-32700, "PARSE_ERROR"),
            (-32602, "INVALID_PARAMS"),
            (-32603, "INTERNAL_ERROR"),
            (-32002, "NOT_FOUND"),
            (-32001, "TIMEOUT"),
            (-32000, "SERVICE_UNAVAILABLE"),
            (12345, "INTERNAL_ERROR"),
        ],
    )
    def test_an_sdk_error_in_a_contract_tool_is_a_tool_failure(self, code: int, name: str, call: Any, era: str) -> None:
        """It has the nearest code, its message and its data, so that the model sees it."""
        error = error_of(call(raising(MCPError(code=code, message="Said.", data={"a": 1})), "f", mode=era))
        assert (name, "Said.", 1) == (error["name"], error["message"], error["data"]["a"])

    def test_errors_that_the_protocol_needs_are_passed_on(self, call: Any, era: str) -> None:
        """These are URL elicitation and missing capabilities, even inside a task group."""
        url = UrlElicitationRequiredError(
            [ElicitRequestURLParams(message="m", url="https://e.com", elicitation_id="1")]
        )
        missing = MCPError(code=-32021, message="needs sampling", data={"requiredCapabilities": {"sampling": {}}})
        for exc in (url, missing, ExceptionGroup("g", [url])):
            with pytest.raises(MCPError) as raised:
                call(raising(exc), "f", mode=era)
            assert raised.value.code in (url.code, missing.code)

    def test_an_unknown_tool_is_a_protocol_error(self, call: Any, era: str) -> None:
        """The error -32602 has near names in the message, and an envelope with a separate code in the data."""
        with pytest.raises(MCPError) as raised:
            call(Server("s", tools=[tool(name="search_articles")(lambda: 1)]), "serch_articles", mode=era)
        assert -32602 == raised.value.code
        assert "Unknown tool: serch_articles. Did you mean search_articles?" == raised.value.message
        envelope = Envelope.from_json(raised.value.data["error"])
        assert ("NOT_FOUND", "unknown_tool", "search_articles") == (
            envelope.name,
            envelope.reason,
            envelope.fallback_tool,
        )
        assert {"tool": "serch_articles", "near": ["search_articles"]} == envelope.details

    def test_an_unknown_tool_may_be_a_result(self, call: Any, era: str) -> None:
        """With `unknown_tool="result"` the model sees it; if no name is near, the hint is to list the tools."""
        error = error_of(call(Server("s", unknown_tool="result"), "zzz\x1b" * 100_000, mode=era))
        assert "unknown_tool" == error["data"]["reason"]
        assert "List the tools to see what there is." == error["data"]["recovery"]["hint"]
        assert len(error["message"]) < 220
        assert len(error["tool"]) == 200
        with pytest.raises(ValueError, match="must be 'protocol' or 'result'"):
            Server("s", unknown_tool="ignore")  # type: ignore[arg-type]


class TestResults:
    def test_one_that_violates_its_model_is_an_internal_error(self, call: Any, era: str) -> None:
        """The failure has no data, for contract and SDK tools; a pydantic error in the handler differs."""

        server = Server("s")

        @tool
        def contract() -> Result:
            return {"number": "hunter2"}  # type: ignore[return-value]

        @server.tool(name="sdk")
        def own() -> Result:
            return {"number": "hunter2"}  # type: ignore[return-value]

        @tool
        def handler() -> Result:
            return Result.model_validate({"number": "hunter2"})

        server.add_tool(contract)
        server.add_tool(handler)
        for name in ("contract", "sdk"):
            result = call(server, name, mode=era)
            assert "INTERNAL_ERROR" == error_of(result)["name"]
            assert "data" not in error_of(result)
            assert "hunter2" not in result.model_dump_json()
        assert "VALIDATION_ERROR" == error_of(call(server, "handler", mode=era))["name"]

    @pytest.mark.parametrize("strict", [False, True])
    def test_one_with_a_key_error_is_sent_unless_the_server_is_strict(
        self, call: Any, door: str, caplog: pytest.LogCaptureFixture, *, strict: bool
    ) -> None:
        """The key is found in any mapping from contract and SDK tools, and the log gives the reason in both modes.

        FastMCP's own tools may have it.
        """
        server = Server("s", tools=[tool(name="f")(error_mapping)], strict=strict)
        server.add_tool(error_mapping, name="g")
        names = ["f"] if door == "fastmcp" else ["f", "g"]
        for name in names:
            result = call(server, name)
            if strict:
                assert "INTERNAL_ERROR" == error_of(result)["name"]
            else:
                assert (False, {"error": "boom"}) == (result.is_error, result.structured_content)
                assert {"error": "boom"} == json.loads(result.content[0].text)
        warned = [record.getMessage() for record in caplog.records if "broke its contract" in record.getMessage()]
        assert len(names) == len(warned)
        assert all("the result has a key 'error', where clients look for a failure" in said for said in warned)


def error_mapping() -> dict[str, Any]:
    return {"error": "boom"}


class TestSDKTools:
    @pytest.fixture
    def server(self) -> Server[Any]:
        server: Server[Any] = Server("s")

        @server.tool()
        def f(kind: str, ctx: SDKContext) -> dict[str, Any]:
            match kind:
                case "tool":
                    raise ToolError("Told to the model.")
                case "wrapped":
                    raise ToolError("Told again.") from ToolError("the cause")
                case "resource":
                    raise ResourceError("Told of a resource.")
                case "missing":
                    raise ResourceNotFoundError("No such resource.")
                case "coded":
                    raise not_found("Coded.", {"reason": "gone"})
                case "crash":
                    raise KeyError("hunter2")
                case "mcp":
                    raise MCPError(code=-32001, message="Chosen.", data={"a": 1})
            return {"kind": kind}

        return server

    @pytest.mark.parametrize(
        ("kind", "name", "message"),
        [
            ("tool", "INTERNAL_ERROR", "Told to the model."),
            ("wrapped", "INTERNAL_ERROR", "Told again."),
            ("resource", "INTERNAL_ERROR", "Told of a resource."),
            ("missing", "NOT_FOUND", "No such resource."),
            ("coded", "NOT_FOUND", "Coded."),
            ("crash", "INTERNAL_ERROR", ErrorCode.INTERNAL_ERROR.sentence),
        ],
    )
    def test_fail_with_the_same_envelope(
        self, server: Server[Any], kind: str, name: str, message: str, call: Any, era: str
    ) -> None:
        """Messages meant for clients are sent, and a crash is masked."""
        error = error_of(call(server, "f", {"kind": kind}, mode=era))
        assert (name, message, "f") == (error["name"], error["message"], error["tool"])

    @pytest.mark.server_only("FastMCP turns an MCPError of a tool into a result, and refuses unknown arguments")
    def test_keep_their_protocol_errors_and_their_arguments(self, server: Server[Any], call: Any, era: str) -> None:
        """An `MCPError` is not converted, and unknown arguments are dropped."""
        with pytest.raises(MCPError) as raised:
            call(server, "f", {"kind": "mcp"}, mode=era)
        assert (-32001, "Chosen.", {"a": 1}) == (raised.value.code, raised.value.message, raised.value.data)
        assert {"kind": "x"} == call(server, "f", {"kind": "x", "unknown": 1}, mode=era).structured_content

    def test_report_bad_arguments_in_the_envelope(self, server: Server[Any], call: Any, era: str) -> None:
        """The issues have the path, the kind and the validator's message."""
        error = error_of(call(server, "f", {"kind": 5}, mode=era))
        assert ("INVALID_PARAMS", "invalid_arguments") == (error["name"], error["data"]["reason"])
        assert [{"path": "kind", "type": "string_type", "message": "Input should be a valid string"}] == error["data"]["issues"]  # fmt: skip

    def test_failure_results_built_by_a_handler_become_envelopes(self, call: Any) -> None:
        """Texts and structured content are kept; an existing envelope is read and gets a new id."""
        server: Server[Any] = Server("s")
        image = ImageContent(type="image", data="", mime_type="image/png")
        canonical = {
            "error": {"code": -32002, "name": "CONFLICT", "message": "Held.", "retry": {"kind": "not_retryable"}}
        }
        results = {
            "text": CallToolResult(content=[TextContent(type="text", text="By hand."), image], is_error=True),
            "data": CallToolResult(content=[], structured_content={"why": "x"}, is_error=True),
            "odd": CallToolResult(
                content=[TextContent(type="text", text="t")], structured_content={"error": "odd"}, is_error=True
            ),
            "canonical": CallToolResult(content=[], structured_content=canonical, is_error=True),
        }

        def f(which: str) -> CallToolResult:
            return results[which]

        server.add_tool(f)
        server.add_tool(f, name="contract", errors=[NO_MATCH])
        for name in ("f", "contract"):
            assert "By hand." == error_of(call(server, name, {"which": "text"}))["message"]
            assert "x" == error_of(call(server, name, {"which": "data"}))["data"]["why"]
            assert "odd" == error_of(call(server, name, {"which": "odd"}))["data"]["error"]
            error = error_of(call(server, name, {"which": "canonical"}))
            assert canonical["error"] == {key: error[key] for key in canonical["error"]}
            assert (name, 16, {"retryable": False}) == (error["tool"], len(error["correlationId"]), error["data"])

    @pytest.mark.parametrize(
        ("text", "structured", "message", "rest"),
        [
            ("Held.", {"error": "Held."}, "Held.", {}),
            ('{"error": "Held."}', {"error": "Held."}, "Held.", {}),
            ('{"error": "Held."}', None, "Held.", {}),
            # What no message says stays where it was.
            ("Held.", {"error": "Held.", "reason": "lock"}, "Held.", {"error": "Held."}),
            ('{"foo": "Held."}', None, '{"foo": "Held."}', {}),
            ('{"error": "Held."}', {"error": "Gone."}, '{"error": "Held."}', {"error": "Gone."}),
            ("{", {"error": [1]}, "{", {"error": [1]}),
        ],
    )
    def test_failure_results_of_one_text_say_it_once(
        self, text: str, structured: dict[str, Any] | None, message: str, rest: dict[str, Any], call: Any
    ) -> None:
        """A JSON object that holds only the text is the text; other objects are data."""
        result = CallToolResult(
            content=[TextContent(type="text", text=text)], structured_content=structured, is_error=True
        )
        server: Server[Any] = Server("s")
        server.add_tool(lambda: result, name="f")
        error = error_of(call(server, "f"))
        assert (message, "INTERNAL_ERROR") == (error["message"], error["name"])
        assert {**rest, "retryable": False} == error["data"]

    @pytest.mark.server_only("it serves a class of tools of the SDK's")
    def test_with_a_custom_run_method_still_convert_their_results(self, call: Any) -> None:
        """A tool class that overrides `run` is asked to convert its own result."""

        class Loud(SDKTool):
            async def run(self, arguments: Any, context: Any, convert_result: bool = False) -> Any:
                result = await super().run(arguments, context, convert_result=convert_result)
                return result.model_copy(update={"meta": {"loud": True}})

        def f(x: int) -> Any:
            return CallToolResult(content=[TextContent(type="text", text="no\ud800")], is_error=True) if x < 0 else x

        plain = SDKTool.from_function(f, structured_output=False)
        loud = Loud.model_construct(**{name: getattr(plain, name) for name in SDKTool.model_fields})
        result = call(Server("s", tools=[loud]), "f", {"x": 1})
        assert ("1", True) == (result.content[0].text, result.meta["loud"])
        assert "no\ufffd" == error_of(call(Server("s", tools=[loud]), "f", {"x": -1}))["message"]


class TestNested:
    """`server.call_tool(...)` from a handler or a test."""

    @pytest.fixture
    def server(self) -> Server[Any]:
        server: Server[Any] = Server("s")

        @server.tool()
        def plain(kind: str) -> str:
            if kind == "tool":
                raise ToolError("Told.")
            raise KeyError("hunter2")

        @server.tool(errors=[NO_MATCH])
        def inner(ctx: Context[Any], kind: str) -> str:
            if kind == "service":
                raise not_found(data={"reason": "no_match"})
            if kind == "mcp":
                raise MCPError(code=-32602, message="Inner.")
            if kind == "url":
                raise UrlElicitationRequiredError([])
            if kind == "cancelled":
                raise TypeError(CancelledElicitation)
            raise ctx.fail("no_match", "Inner.")

        @server.tool(errors=[FULL])
        async def outer(ctx: Context[Any], name: str, arguments: dict[str, Any]) -> str:
            result = await server.call_tool(name, arguments, ctx.sdk)
            assert isinstance(result, CallToolResult)
            return text_of(result)

        @server.tool()
        async def sdk_outer(name: str, arguments: dict[str, Any], ctx: SDKContext) -> str:
            return text_of(await server.call_tool(name, arguments, ctx))

        return server

    @pytest.mark.server_only("the handlers call tools through the server itself")
    @pytest.mark.parametrize("through", ["outer", "sdk_outer"])
    @pytest.mark.parametrize(
        ("name", "kind", "code", "message"),
        [
            ("inner", "fail", "NOT_FOUND", "Inner."),
            ("inner", "service", "NOT_FOUND", NO_MATCH.when),
            ("inner", "mcp", "INVALID_PARAMS", "Inner."),
            ("inner", 5, "VALIDATION_ERROR", ErrorCode.VALIDATION_ERROR.sentence),
            ("plain", "tool", "INTERNAL_ERROR", "Told."),
            ("plain", "crash", "INTERNAL_ERROR", ErrorCode.INTERNAL_ERROR.sentence),
            ("plain", 5, "VALIDATION_ERROR", ErrorCode.VALIDATION_ERROR.sentence),
        ],
    )
    def test_a_failure_inside_keeps_its_identity(
        self, server: Server[Any], through: str, name: str, kind: Any, code: str, message: str, call: Any
    ) -> None:
        """It keeps its code, text and recovery; bad arguments inside are the handler's fault and are not shown."""
        result = call(server, through, {"name": name, "arguments": {"kind": kind}})
        error = error_of(result)
        assert (code, message, through) == (error["name"], error["message"], error["tool"])
        if code == "NOT_FOUND":
            assert NO_MATCH.recovery == error["data"]["recovery"]["hint"]
        assert "hunter2" not in result.model_dump_json()

    @pytest.mark.no_server
    @pytest.mark.anyio
    async def test_outside_a_request_a_failure_is_an_sdk_error(self, server: Server[Any]) -> None:
        """`except ToolError` catches it, and it has the envelope; protocol errors are unchanged."""
        with pytest.raises(ToolError) as raised:
            await server.call_tool("inner", {"kind": "fail"})
        assert isinstance(raised.value, ToolFailure)
        assert ("Inner.", "no_match") == (str(raised.value), raised.value.envelope.reason)
        assert isinstance(raised.value.__cause__, CodedError)
        with pytest.raises(UrlElicitationRequiredError):
            await server.call_tool("inner", {"kind": "url"})
        with pytest.raises(ToolFailure):
            await server.call_tool("inner", {"kind": "mcp"})


class TestListing:
    def test_has_the_contract_and_may_describe_it(self, era: str) -> None:
        """`_meta` always has it; `describe_failures=True` adds it to the description."""

        lost = FailureMode("lost", ErrorCode.TIMEOUT, when="It hung.", recovery="Look at it.", effects="unknown")

        @tool(errors=[NO_MATCH, FULL, lost])
        def f() -> str:
            """Fetch."""
            return ""

        @tool
        def plain() -> str:
            """Nothing declared."""
            return ""

        def listed(**options: Any) -> list[Any]:
            server = Server("s", tools=[f, plain], **options)
            return ask(Client(server, mode=era), lambda client: client.list_tools()).tools

        first, second = listed()
        assert ["no_match", "queue_full", "lost"] == [entry["reason"] for entry in first.meta["dev.mcpcore/errors"]]
        assert "Fetch." == first.description
        assert "dev.mcpcore/errors" not in (second.meta or {})
        first, second = listed(describe_failures=True)
        assert (
            "Fetch.\n\nFails with:\n"
            "- no_match (NOT_FOUND): No requested PMID returned data. "
            "Call search_articles to discover valid PMIDs first.\n"
            "- queue_full (RATE_LIMITED): The queue is full. Wait 30 seconds and retry.\n"
            "- lost (TIMEOUT): It hung. Look at it. (it may have taken effect: check before you call again)"
        ) == first.description
        assert "Nothing declared." == second.description


class TestContextFields:
    def test_bound_fields_are_in_the_envelope(self, call: Any) -> None:
        """Fields of the call override those of the server, and unbound fields are absent."""

        def make(ctx: Any) -> Exception:
            ctx.bind(role="writer", phase_id="P1")
            return ValueError()

        error = error_of(call(raising(make, bind={"role": "reader", "session_id": "s1", "plan_hash": None}), "f"))
        assert {"role": "writer", "session_id": "s1", "phase_id": "P1"} == error["context"]
        assert "context" not in error_of(call(raising(ValueError()), "f"))
        with pytest.raises(TypeError, match="'colour' is not a field"):
            Server("s", bind={"colour": "red"})

    def test_is_bounded(self, call: Any) -> None:
        """Unexpectedly long fields are cut."""
        error = error_of(call(raising(ValueError(), bind={"role": "x" * 100_000}), "f"))
        assert len(json.dumps(error["context"])) <= 5_000

    def test_the_callers_trace_is_read(self, era: str) -> None:
        """W3C Trace Context is read from the request's `_meta`, and invalid values are ignored."""

        def run(parent: str) -> Any:
            client = Client(raising(ValueError()), mode=era)
            return ask(client, lambda connected: connected.call_tool("f", {}, meta={"traceparent": parent}))

        trace = "4bf92f3577b34da6a3ce929d0e0e4736"
        assert {"trace_id": trace} == error_of(run(f"00-{trace.upper()}-00f067aa0ba902b7-01"))["context"]
        for parent in ("junk", f"00-{'0' * 32}-00f067aa0ba902b7-01", "00-zz-x-01", "00-" + "g" * 32 + "-x-01"):
            assert "context" not in error_of(run(parent))


@pytest.mark.no_server
def test_an_unknown_option_of_a_server_is_refused_with_the_nearest_one() -> None:
    """It may be an option of the SDK's server, and a subclass of one's own may add some."""

    class Mine(Server[Any]):
        def __init__(self, name: str, *, colour: str = "", **options: Any) -> None:
            super().__init__(name, **options)

    for cls, option, near in (
        (Server, "tolls", "tools"),
        (Server, "log_levle", "log_level"),
        (Mine, "color", "colour"),
    ):
        with pytest.raises(TypeError, match=f"{cls.__name__} has no option '{option}'; did you mean '{near}'"):
            cls("s", **{option: None})
    with pytest.raises(TypeError, match=r"Server has no option 'zzzz'$"):
        Server("s", zzzz=1)  # type: ignore[call-arg]


@pytest.mark.no_server
def test_invalid_options_are_refused() -> None:
    """Invalid limits, dialects and option names raise an error."""
    for match, error, call in (
        ("must be Limits", TypeError, lambda: Server("s", limits={"message": 10})),
        ("at least 40", ValueError, lambda: Limits(message=3)),
        ("dialect must be one of", ValueError, lambda: Server("s", dialect="esperanto")),
        ("colour", TypeError, lambda: Server("s", colour="red")),
    ):
        with pytest.raises(error, match=match):
            call()


@pytest.mark.no_server
@pytest.mark.parametrize("icons", [None, [Icon(src="https://example.org/shop.png")]])
def test_each_answer_has_its_own_copy_of_the_servers_name(icons: list[Icon] | None) -> None:
    """The SDK puts it into the answer, whose reader may change it."""
    lowlevel = lowlevel_of(Server("shop", version="1.2", icons=icons))
    expected = lowlevel.server_info.model_dump(by_alias=True, mode="json", exclude_none=True)
    copy = lowlevel.server_info_stamp
    assert (dict, expected) == (type(copy), copy)
    copy["name"] = "changed"
    for icon in copy.get("icons", ()):
        icon["src"] = "changed"
    assert expected == lowlevel.server_info_stamp


@pytest.mark.server_only("FastMCP has no such method")
def test_a_server_of_a_subclass_may_handle_calls_itself(call: Any) -> None:
    """Its method is called, and gets results of the SDK's own kind."""
    seen: list[Any] = []

    class Watched(mcpcore.Server):
        async def _handle_call_tool(self, ctx: Any, params: Any) -> Any:
            result = await super()._handle_call_tool(ctx, params)
            seen.append(result)
            return result

    server = Watched("s")
    server.tool()(lambda_tool)
    assert "done" == call(server, "lambda_tool").content[0].text
    assert [CallToolResult] == [type(result) for result in seen]


def lambda_tool() -> str:
    """Be done."""
    return "done"
