"""A failure that a handler returns instead of raising fails the call, and its text is not sent."""

from __future__ import annotations

import asyncio
import collections
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest
from mcp import Client
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.prompts.base import AssistantMessage, UserMessage
from mcp.server.mcpserver.resources import FunctionResource, TextResource
from mcp.server.mcpserver.tools import Tool as SDKTool
from mcp.server.mcpserver.utilities.func_metadata import func_metadata
from mcp.server.mcpserver.utilities.types import Audio, Image
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel, ConfigDict, field_serializer

from mcpcore import CodedError, ErrorCode, FailureMode, Server, not_found
from mcpcore.sdk.results import converted, written_result
from mcpcore.sdk.returned import ResultForm
from tests import answers
from tests.answers import envelope_of

pytestmark = pytest.mark.usefixtures("door")

Shape = Callable[[BaseException], Any]
SECRET = "postgresql://app:hunter2@db/main"
NO_MATCH = FailureMode("no_match", ErrorCode.NOT_FOUND, when="Nothing matches.", recovery="Call search_articles first.")


class Model(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)
    free: Any = None


class Deliberate(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)
    error: ValueError

    @field_serializer("error")
    def write(self, error: ValueError) -> str:
        return f"declared: {error}"


@dataclass
class Record:
    value: Any = None


def no_match() -> CodedError:
    return CodedError(ErrorCode.NOT_FOUND, "None of 3.", {"pmids": ["1"]}, reason="no_match")


def crash() -> ValueError:
    return ValueError(SECRET)


def untyped(value):  # type: ignore[no-untyped-def]
    return value


def anything(value: Any) -> Any:
    return value


def items(value: Any) -> list[Any]:
    return value  # type: ignore[no-any-return]


def mapping(value: Any) -> dict[str, Any]:
    return value  # type: ignore[no-any-return]


def model(value: Any) -> Model:
    return value  # type: ignore[no-any-return]


def text(value: Any) -> str:
    return value  # type: ignore[no-any-return]


ANNOTATED = [untyped, anything, items, mapping, model, text]
CONVERTED_BY_THE_SDK = pytest.mark.server_only("FastMCP converts results in its own way")
KINDS = [
    "contract",
    "contract async",
    "sdk",
    "sdk async",
    "sdk tool",
]


def server_of(result: Any, annotated: Any, kind: str, **options: Any) -> Server[Any]:
    """Return a server with one tool that returns `result` with the return annotation `annotated`."""
    server: Server[Any] = Server("s", **options)

    def f() -> Any:
        return result() if callable(result) else result

    async def g() -> Any:
        return result() if callable(result) else result

    handler = g if kind.endswith("async") else f
    if "return" in annotated.__annotations__:
        handler.__annotations__["return"] = annotated.__annotations__["return"]
    else:
        del handler.__annotations__["return"]
    handler.__name__ = "f"
    if kind.startswith("contract"):
        server.add_tool(handler, errors=[NO_MATCH])
    elif kind == "sdk tool":
        server = Server("s", tools=[SDKTool.from_function(handler)], **options)
    else:
        server.add_tool(handler)
    return server


def ask(server: Server[Any], method: str, *args: Any) -> Any:
    """Return the client's result, or raise the error of the protocol."""
    return answers.ask(Client(server), lambda client: getattr(client, method)(*args))


def call(server: Server[Any], name: str = "f") -> Any:
    return ask(server, "call_tool", name, {})


def error_of(result: Any) -> dict[str, Any]:
    """Return the failure, which on FastMCP only the text has if the schema of a plain tool does not admit it."""
    assert result.is_error
    error: dict[str, Any] = envelope_of(result).to_json()
    assert result.structured_content in (None, {"error": error})
    return error


@pytest.mark.parametrize("kind", ["contract", "sdk async"])
@pytest.mark.parametrize("annotated", ANNOTATED, ids=lambda annotated: annotated.__name__)
class TestAlone:
    """An exception is the whole result of a tool."""

    def test_a_declared_failure_is_reported_as_declared(self, annotated: Any, kind: str) -> None:
        """Any return annotation works, and with a contract the failure has its entry's recovery."""
        error = error_of(call(server_of(no_match, annotated, kind)))
        assert ("NOT_FOUND", "None of 3.", "no_match") == (error["name"], error["message"], error["data"]["reason"])
        assert kind.startswith("contract") == ("recovery" in error["data"])

    def test_any_other_exception_is_a_crash(self, annotated: Any, kind: str, trail: Path) -> None:
        """The client sees a masked failure; the record has the type and the text without the password."""
        result = call(server_of(crash, annotated, kind, audit=trail))
        assert "data" not in error_of(result)
        assert "hunter2" not in result.model_dump_json()
        (record,) = map(json.loads, trail.read_text().splitlines())
        assert "ValueError" == record["exception"]["type"]
        assert "hunter2" not in trail.read_text()


def spread(shapes: dict[str, Shape]) -> pytest.MarkDecorator:
    """Give each shape to two kinds of tools in turn, one of them without an annotation."""
    return pytest.mark.parametrize(
        ("within", "annotated", "kind"),
        [
            (shape, annotated, KINDS[(number + turn * 2) % len(KINDS)])
            for number, shape in enumerate(shapes)
            for turn, annotated in enumerate((untyped, anything))
        ],
        ids=lambda value: getattr(value, "__name__", None),
    )


WITHIN: dict[str, Shape] = {
    "list": lambda exc: ["a", exc],
    "tuple": lambda exc: (exc, "a"),
    "dict": lambda exc: {"a": exc},
    "key": lambda exc: {exc: 1},
    "set": lambda exc: {exc},
    "nested": lambda exc: {"a": [{"b": ({"c": exc},)}]},
    "list of dicts": lambda exc: [{"a": 1}, {"a": exc}],
    "model": lambda exc: Model(free=exc),
    "model in a list": lambda exc: [Model(free=[exc])],
    "generator": lambda exc: (item for item in ("a", exc)),
    "deque": lambda exc: collections.deque([exc]),
    "plain dataclass": Record,
    "beside a content block": lambda exc: [TextContent(type="text", text="a"), exc],
    "beside what cannot be written": lambda exc: {"a": exc, "b": "half \udcff"},
    "group": lambda exc: [ExceptionGroup("several", [exc])],
    "structured content": lambda exc: CallToolResult(content=[], structured_content={"a": [exc]}),
    "meta": lambda exc: CallToolResult(content=[], _meta={"a": exc}),
}


@spread(WITHIN)
def test_an_exception_within_a_result_fails_the_call(within: str, annotated: Any, kind: str, trail: Path) -> None:
    """The position does not matter: its text is not sent, and the failure is recorded."""
    declared = error_of(call(server_of(lambda: WITHIN[within](no_match()), annotated, kind)))
    assert ("NOT_FOUND", "None of 3.") == (declared["name"], declared["message"])
    result = call(server_of(lambda: WITHIN[within](crash()), annotated, kind, audit=trail))
    error = error_of(result)
    assert "data" not in error
    assert "hunter2" not in result.model_dump_json() + trail.read_text()
    assert error["correlationId"] == json.loads(trail.read_text())["correlationId"]


@dataclass
class LedgerError(Exception):
    detail: str = SECRET


@dataclass(eq=False)
class OwnDataError(CodedError):
    detail: str = SECRET

    def __post_init__(self) -> None:
        super().__init__(ErrorCode.NOT_FOUND, "None of 3.", reason="no_match")


AROUND: dict[str, Shape] = {
    "alone": lambda exc: exc,
    "list": lambda exc: ["a", exc],
    "dict": lambda exc: {"a": exc},
    "nested": lambda exc: {"a": [{"b": ({"c": exc},)}]},
    "deque": lambda exc: collections.deque([exc]),
    "shared": lambda exc: {"a": [[exc]] * 2},
    "beside what cannot be written": lambda exc: {"a": exc, "b": "half \udcff"},
    "structured content": lambda exc: CallToolResult(content=[], structured_content={"a": [exc]}),
}


@spread(AROUND)
def test_an_exception_that_is_a_dataclass_fails_the_call(within: str, annotated: Any, kind: str, trail: Path) -> None:
    """Pydantic could serialize it field by field."""
    shape = AROUND[within]
    declared = error_of(call(server_of(lambda: shape(OwnDataError()), annotated, kind)))
    assert ("NOT_FOUND", "None of 3.") == (declared["name"], declared["message"])
    result = call(server_of(lambda: shape(LedgerError()), annotated, kind, audit=trail))
    assert "INTERNAL_ERROR" == error_of(result)["name"]
    assert "hunter2" not in result.model_dump_json() + trail.read_text()
    assert "LedgerError" in json.loads(trail.read_text())["exception"]["type"]


@pytest.mark.parametrize("kind", ["contract", "sdk"])
@pytest.mark.parametrize(
    ("annotated", "result"),
    [(items, lambda: [crash()]), (mapping, lambda: {"a": crash()}), (model, lambda: Model(free=crash()))],
    ids=["list[Any]", "dict[str, Any]", "model"],
)
def test_an_exception_where_the_schema_accepts_anything_is_recorded_as_itself(
    annotated: Any, result: Any, kind: str, trail: Path
) -> None:
    """The record does not report a result that violates its model."""
    assert error_of(call(server_of(result, annotated, kind, audit=trail)))
    assert "ValueError" == json.loads(trail.read_text())["exception"]["type"]


@pytest.mark.parametrize("kind", ["contract", "sdk"])
class TestGathered:
    """`gather(..., return_exceptions=True)`."""

    @staticmethod
    async def _gathered(*failures: BaseException | None) -> list[Any]:
        async def work(failure: BaseException | None) -> str:
            if failure is not None:
                raise failure
            return "fine"

        return await asyncio.gather(*map(work, failures), return_exceptions=True)

    def test_the_declared_failure_represents_all(self, kind: str, trail: Path) -> None:
        """The record counts the others."""
        result = asyncio.run(self._gathered(None, crash(), KeyError("hunter2"), no_match()))
        answer = call(server_of(result, anything, kind, audit=trail))
        error = error_of(answer)
        assert ("no_match", "None of 3.") == (error["data"]["reason"], error["message"])
        record = json.loads(trail.read_text())
        assert (2, "ExceptionGroup") == (record["others"], record["exception"]["type"])
        assert "hunter2" not in answer.model_dump_json()

    def test_a_cancellation_among_the_results_is_a_failure(self, kind: str) -> None:
        """The call was not cancelled, so the failure is classified as a cancelled dependency."""
        for result in ([asyncio.CancelledError()], ["fine", asyncio.CancelledError(), crash()]):
            assert error_of(call(server_of(result, anything, kind)))["name"] in ErrorCode.__members__

    def test_an_exit_among_the_results_does_not_end_the_server(self, kind: str) -> None:
        """A returned exit is a crash like any other exception."""
        for exit_ in (KeyboardInterrupt("x"), SystemExit(3), GeneratorExit()):
            assert "INTERNAL_ERROR" == error_of(call(server_of([exit_], anything, kind)))["name"]
            assert "INTERNAL_ERROR" == error_of(call(server_of(lambda exit_=exit_: exit_, untyped, kind)))["name"]

    def test_the_same_exception_twice_counts_once(self, kind: str, trail: Path) -> None:
        """The record has no group."""
        exc = crash()
        assert error_of(call(server_of([exc, exc], anything, kind, audit=trail)))
        assert "ValueError" == json.loads(trail.read_text())["exception"]["type"]


@pytest.mark.parametrize(
    "kind", [kind if kind.startswith("contract") else pytest.param(kind, marks=CONVERTED_BY_THE_SDK) for kind in KINDS]
)
def test_an_exception_that_a_model_serializes_on_purpose_is_data(kind: str) -> None:
    """The model defines the serialization; an author may also return the text."""
    result = call(server_of(Deliberate(error=ValueError("x")), anything, kind))
    assert not result.is_error
    assert {"error": "declared: x"} == json.loads(result.content[0].text)
    assert not call(server_of([ValueError], anything, kind)).is_error


@pytest.mark.server_only("FastMCP turns an MCPError of a tool into a result")
def test_a_protocol_error_returned_by_an_sdk_tool_is_sent_as_if_raised() -> None:
    """The client gets a protocol error."""
    with pytest.raises(MCPError, match="Later"):
        call(server_of(lambda: MCPError(code=-32000, message="Later."), anything, "sdk"))


def test_a_protocol_error_returned_by_a_contract_tool_is_a_failure() -> None:
    """The result is the same as if it had been raised."""
    error = error_of(call(server_of(lambda: MCPError(code=-32000, message="Later."), anything, "contract")))
    assert ("SERVICE_UNAVAILABLE", "Later.") == (error["name"], error["message"])


class TestResources:
    """Functions of static and templated resources."""

    RETURNED: ClassVar[dict[str, Shape]] = {
        "alone": lambda exc: exc,
        "list": lambda exc: ["a", exc],
        "nested": lambda exc: {"a": [exc]},
        "model": lambda exc: Model(free=exc),
    }

    @staticmethod
    def _read(made: Any, *, is_async: bool, template: bool, **options: Any) -> Any:
        server: Server[Any] = Server("s", **options)
        uri = "data://x/{name}" if template else "data://x/one"

        def f(name: str = "") -> Any:
            return made()

        async def g(name: str = "") -> Any:
            return made()

        if template:
            server.resource(uri)(g if is_async else f)
        else:
            server.resource(uri)(no_arguments(g if is_async else f, is_async=is_async))

        return ask(server, "read_resource", "data://x/one")

    @pytest.mark.parametrize("template", [False, True], ids=["static", "template"])
    @pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
    @pytest.mark.parametrize("returned", RETURNED)
    def test_a_returned_exception_fails_the_read(
        self, returned: str, is_async: bool, template: bool, trail: Path
    ) -> None:
        """A declared failure has its message and a crash is masked; both are recorded."""
        shape = self.RETURNED[returned]
        with pytest.raises(MCPError) as declared:
            self._read(lambda: shape(not_found("No such row.")), is_async=is_async, template=template)
        assert "NOT_FOUND" == declared.value.error.data["error"]["name"]
        assert "No such row." == declared.value.error.message
        with pytest.raises(MCPError) as masked:
            self._read(lambda: shape(crash()), is_async=is_async, template=template, audit=trail)
        assert "hunter2" not in str(masked.value.error.model_dump())
        record = json.loads(trail.read_text())
        assert ("resource", "ValueError") == (record["surface"], record["exception"]["type"])

    @CONVERTED_BY_THE_SDK
    @pytest.mark.parametrize("template", [False, True], ids=["static", "template"])
    def test_results_are_converted_as_by_the_sdk(self, template: bool) -> None:
        """Texts, bytes, other values and returned resources are converted."""
        nested = FunctionResource.from_function(lambda: {"a": 1}, uri="data://y", name="y")
        fixed = TextResource(uri="data://z", name="z", text="fixed")
        for value, text_ in (
            ("a", "a"),
            ({"a": [1]}, '{\n  "a": [\n    1\n  ]\n}'),
            (object, str(object)),
            (nested, '{\n  "a": 1\n}'),
            (fixed, "fixed"),
        ):
            result = self._read(lambda value=value: value, is_async=False, template=template)
            assert text_ == (json.loads(result.contents[0].text) if value is object else result.contents[0].text)
        assert "AQ==" == self._read(lambda: b"\x01", is_async=True, template=template).contents[0].blob

    def test_a_resource_returned_by_a_function_may_not_return_an_exception(self) -> None:
        """The returned resource is read in turn."""
        nested = FunctionResource.from_function(crash, uri="data://y", name="y")
        with pytest.raises(MCPError):
            self._read(lambda: nested, is_async=False, template=True)

    def test_resources_passed_to_the_server_are_watched(self) -> None:
        """This covers the option `resources` and `add_resource`."""
        first = FunctionResource.from_function(crash, uri="data://one", name="one")
        second = FunctionResource.from_function(crash, uri="data://two", name="two")
        server: Server[Any] = Server("s", resources=[first])
        server.add_resource(second)
        for uri in ("data://one", "data://two"):
            with pytest.raises(MCPError):
                ask(server, "read_resource", uri)


def no_arguments(handler: Any, *, is_async: bool) -> Any:
    def f() -> Any:
        return handler()

    async def g() -> Any:
        return await handler()

    return g if is_async else f


class TestPrompts:
    """Functions of prompts."""

    RETURNED: ClassVar[dict[str, Shape]] = {
        "alone": lambda exc: exc,
        "list": lambda exc: ["a", exc],
        "nested": lambda exc: [{"a": 1}, [exc]][1:],
        "model": lambda exc: Model(free=exc),
        "content": lambda exc: {"role": "user", "content": exc},
        "text of the content": lambda exc: [{"role": "user", "content": {"type": "text", "text": exc}}],
    }

    @staticmethod
    def _get(made: Any, *, is_async: bool = False, **options: Any) -> Any:
        server: Server[Any] = Server("s", **options)

        @server.prompt()
        def sync(name: str) -> Any:
            return made()

        @server.prompt(name="async")
        async def awaited(name: str) -> Any:
            return made()

        return ask(server, "get_prompt", "async" if is_async else "sync", {"name": "x"})

    @pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
    @pytest.mark.parametrize("returned", RETURNED)
    def test_a_returned_exception_fails_the_prompt(self, returned: str, is_async: bool, trail: Path) -> None:
        """A declared failure has its message and a crash is masked; both are recorded."""
        shape = self.RETURNED[returned]
        with pytest.raises(MCPError) as declared:
            self._get(lambda: shape(not_found("No such row.")), is_async=is_async)
        assert ("NOT_FOUND", "No such row.") == (
            declared.value.error.data["error"]["name"],
            declared.value.error.message,
        )
        with pytest.raises(MCPError) as masked:
            self._get(lambda: shape(crash()), is_async=is_async, audit=trail)
        assert "hunter2" not in str(masked.value.error.model_dump())
        record = json.loads(trail.read_text())
        assert ("prompt", "ValueError") == (record["surface"], record["exception"]["type"])

    @CONVERTED_BY_THE_SDK
    def test_messages_are_converted_as_by_the_sdk(self) -> None:
        """Texts, messages, mappings, blocks and other values become messages."""
        for value, texts in (
            ("a", ["a"]),
            (["a", UserMessage("b"), AssistantMessage("c")], ["a", "b", "c"]),
            ({"role": "user", "content": "d"}, ["d"]),
            ({"role": "user", "content": {"type": "text", "text": "e"}}, ["e"]),
            (TextContent(type="text", text="f"), ["f"]),
            ((Model(free=1), 7), ['{\n  "free": 1\n}', "7"]),
        ):
            result = self._get(lambda value=value: value)
            assert texts == [message.content.text for message in result.messages]


class TestTheSDKsConversion:
    """Results are those of the SDK, as objects and on the wire."""

    RESULTS: tuple[Any, ...] = (
        None, "a", 1, 1.5, True, [], ["a", None, 1], {"a": [1]}, {"a": {1, 2}}, ("a", {"b": 1}), Model(free=[1]),
        [Model(free=2)], Record(3), object, b"abc", [TextContent(type="text", text="x"), 1],
        Image(data=b"x", format="png"), [Audio(data=b"x", format="wav")], [[1, [2, "c"]]], {1: 2},
        CallToolResult(content=[], structured_content={"a": 1}),
    )  # fmt: skip

    @pytest.mark.no_server
    @pytest.mark.parametrize("annotated", ANNOTATED, ids=lambda annotated: annotated.__name__)
    def test_results_without_exceptions_are_the_same(self, annotated: Any) -> None:
        """For each kind of annotation and result, both return or refuse the same."""
        metadata = func_metadata(annotated)
        form = ResultForm.of(metadata, metadata.output_schema)
        for result in self.RESULTS:
            outcomes: list[Any] = []
            for convert in (
                metadata.convert_result,
                lambda value: converted(form, value),
                lambda value: CallToolResult.model_validate(written_result(form, value)),
            ):
                try:
                    outcomes.append(convert(result).model_dump())
                except Exception:
                    outcomes.append("refused")
            same = [outcomes[0]] * 3
            assert same == outcomes, f"the SDK converts {result!r} in another way than mcpcore.sdk.returned"

    @pytest.mark.no_server
    def test_the_private_names_exist(self) -> None:
        """`mcpcore.sdk.returned` uses these private names of the SDK."""
        metadata = func_metadata(model)
        assert hasattr(metadata, "_output_adapter"), (
            "FuncMetadata of the SDK has no _output_adapter any more, which mcpcore.sdk.returned.ResultForm needs: "
            "read FuncMetadata.convert_result of this release and do as it does"
        )
        assert {"_resources", "_templates"} <= vars(MCPServer("s")._resource_manager).keys(), (
            "the SDK keeps its resources elsewhere than mcpcore.sdk.returned.Resources looks for them"
        )


@pytest.mark.server_only("FastMCP itself asks the result of a plain tool for its class")
def test_an_object_that_raises_when_asked_for_its_class_is_a_crash(call: Any) -> None:
    """It is a broken result, whatever it raises."""

    class Lazy:
        @property
        def __class__(self) -> Any:
            raise PermissionError("not yet")

    async def make() -> Any:
        return Lazy()

    server = Server("s")
    server.add_tool(make)
    assert ErrorCode.INTERNAL_ERROR == envelope_of(call(server, "make")).error_code
