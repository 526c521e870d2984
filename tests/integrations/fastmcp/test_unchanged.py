"""The middleware changes nothing but failures: lists and successes are the same with it and without it, byte for byte."""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import pathlib
import types
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Generic, Literal, NamedTuple, NotRequired, TypeVar

import httpx2
import mcp_types
import pytest
from fastmcp import Client, Context, FastMCP
from fastmcp.server.middleware.caching import ResponseCachingMiddleware
from fastmcp.server.middleware.timing import TimingMiddleware
from fastmcp.server.transforms import ToolTransform
from fastmcp.tools import Tool
from fastmcp.tools.base import ToolResult
from fastmcp.tools.tool_transform import ArgTransform, ToolTransformConfig
from fastmcp.utilities.types import Audio, File, Image
from mcp_types import CallToolResult, EmbeddedResource, ImageContent, ResourceLink, TextContent, TextResourceContents
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, RootModel, computed_field
from typing_extensions import TypedDict

from mcpcore import tool
from mcpcore.integrations.fastmcp import ContractMiddleware
from tests.answers import envelope_of
from tests.integrations.fastmcp.contract_server import extended

pytestmark = pytest.mark.anyio

T = TypeVar("T")


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    LOW = 1


class Order(BaseModel):
    id: str
    total: float


class Loose(BaseModel):
    """A model whose fields all have defaults."""

    note: str | None = None
    error: str | None = None


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    a: int = 1


class Aliased(BaseModel):
    number: int = Field(validation_alias=AliasChoices("n", "number"), serialization_alias="theNumber", default=3)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def double(self) -> int:
        return self.number * 2


class Page(BaseModel, Generic[T]):
    items: list[T]


class Tags(RootModel[list[str]]):
    pass


class Tree(BaseModel):
    name: str
    children: list[Tree] = []


class Row(TypedDict):
    a: int
    b: NotRequired[str]


class Pair(NamedTuple):
    x: int
    y: str


@dataclass
class Parcel:
    number: str
    cities: list[str] = field(default_factory=list)


def _returning(value: Any, returns: Any = ...) -> Callable[[], Any]:
    """Return a function that returns `value`, annotated with `returns`."""

    def run() -> Any:
        return value

    run.__annotations__ = {} if returns is ... else {"return": returns}
    return run


def _stream() -> Iterator[int]:
    yield from (1, 2)


_MOMENT = dt.datetime(2026, 11, 24, 12, tzinfo=dt.UTC)
_IDENT = uuid.UUID(int=7)
_PNG = b"\x89PNG"
_TEXT = TextContent(type="text", text="a")
_LINK = ResourceLink(type="resource_link", name="a", uri="data://a")
_EMBEDDED = EmbeddedResource(
    type="resource", resource=TextResourceContents(uri="data://a", text="a", mime_type="text/plain")
)
_PICTURE = ImageContent(type="image", data="iVBORw==", mime_type="image/png")
_ORDER = Order(id="A-1", total=2.5)

RETURNED: dict[str, Callable[[], Any]] = {
    "a_str": _returning("two\nlines ü", str),
    "an_empty_str": _returning("", str),
    "a_json_str": _returning('{"error": "x"}', str),
    "an_int": _returning(7, int),
    "a_large_int": _returning(2**80, int),
    "a_float": _returning(2.5, float),
    "a_nan": _returning(float("nan"), float),
    "an_infinity": _returning(float("inf"), dict[str, float])
    if False
    else _returning({"a": float("inf")}, dict[str, float]),
    "a_bool": _returning(True, bool),
    "nothing": _returning(None, type(None)),
    "nothing_unannotated": _returning(None),
    "bytes": _returning(b"\x00\xffx", bytes),
    "bytes_of_text": _returning(b"abc", bytes),
    "bytes_unannotated": _returning(b"abc"),
    "a_dict": _returning({"a": [1, "ü"], "b": None}, dict[str, Any]),
    "a_bare_dict": _returning({"a": 1}, dict),
    "a_dict_of_ints": _returning({"a": 1}, dict[str, int]),
    "a_dict_with_int_keys": _returning({1: "a"}, dict[int, str]),
    "a_dict_with_error": _returning({"error": "no error"}, dict[str, Any]),
    "a_dict_like_a_failure": _returning({"ok": False, "error": {"code": "X", "message": "m"}}, dict[str, Any]),
    "a_dict_unannotated": _returning({"a": {"b": [1.5]}}),
    "an_empty_dict": _returning({}, dict[str, Any]),
    "a_mapping": _returning({"a": 1}, Mapping[str, int]),
    "a_list": _returning(["a", "b"], list[str]),
    "an_empty_list": _returning([], list[int]),
    "a_list_of_models": _returning([_ORDER, _ORDER], list[Order]),
    "a_mixed_list": _returning(["a", {"b": 1}, None]),
    "a_sequence": _returning([1], Sequence[int]),
    "a_tuple": _returning((1, "a"), tuple[int, str]),
    "a_set": _returning({3}, set[int]),
    "a_frozenset": _returning(frozenset({3}), frozenset[int]),
    "a_named_tuple": _returning(Pair(1, "a"), Pair),
    "a_model": _returning(_ORDER, Order),
    "a_loose_model": _returning(Loose(note="x"), Loose),
    "an_open_model": _returning(Open(a=1, b=2), Open),  # type: ignore[call-arg]
    "an_aliased_model": _returning(Aliased(), Aliased),
    "a_generic_model": _returning(Page[int](items=[1]), Page[int]),
    "a_root_model": _returning(Tags(["a"]), Tags),
    "a_recursive_model": _returning(Tree(name="a", children=[Tree(name="b")]), Tree),
    "a_model_unannotated": _returning(_ORDER),
    "a_dataclass": _returning(Parcel("RX-1", ["Oslo"]), Parcel),
    "a_typed_dict": _returning({"a": 1}, Row),
    "an_optional": _returning(None, Order | None),
    "an_optional_model": _returning(_ORDER, Order | None),
    "a_union": _returning("x", int | str),
    "a_union_of_models": _returning(_ORDER, Order | Loose),
    "a_literal": _returning("a", Literal["a", "b"]),
    "an_annotated": _returning(7, Annotated[int, Field(ge=1)]),
    "any": _returning({"x": 1}, Any),
    "an_object": _returning(7, object),
    "a_datetime": _returning(_MOMENT, dt.datetime),
    "a_date": _returning(_MOMENT.date(), dt.date),
    "a_duration": _returning(dt.timedelta(minutes=1), dt.timedelta),
    "a_uuid": _returning(_IDENT, uuid.UUID),
    "a_decimal": _returning(decimal.Decimal("1.50"), decimal.Decimal),
    "a_path": _returning(pathlib.PurePosixPath("/a"), pathlib.PurePosixPath),
    "an_enum": _returning(Colour.RED, Colour),
    "an_int_enum": _returning(Level.LOW, Level),
    "a_dict_of_moments": _returning({"at": _MOMENT, "id": _IDENT}, dict[str, Any]),
    "an_image": _returning(Image(data=_PNG, format="png"), Image),
    "an_audio": _returning(Audio(data=b"RIFF", format="wav"), Audio),
    "a_file": _returning(File(data=b"x", format="txt", name="a"), File),
    "images_and_texts": _returning(["a cat", Image(data=_PNG, format="png"), {"a": 1}]),
    "a_text_block": _returning(_TEXT, TextContent),
    "text_blocks": _returning([_TEXT, _TEXT], list[TextContent]),
    "an_image_block": _returning(_PICTURE, ImageContent),
    "a_link": _returning(_LINK, ResourceLink),
    "an_embedded_resource": _returning(_EMBEDDED, EmbeddedResource),
    "blocks": _returning([_TEXT, _LINK, _EMBEDDED], list[mcp_types.ContentBlock]),
    "a_tool_result": _returning(ToolResult(content="one", structured_content={"a": 1}, meta={"k": "v"}), ToolResult),
    "a_tool_result_of_content": _returning(ToolResult(content=[_TEXT, _LINK]), ToolResult),
    "a_tool_result_of_facts": _returning(ToolResult(structured_content={"error": None}), ToolResult),
    "a_tool_result_in_place_of_a_dict": _returning(
        ToolResult(content="x", structured_content={"a": 1}), dict[str, int]
    ),
    "a_protocol_result": _returning(
        CallToolResult(content=[_TEXT], structured_content={"a": 1}, _meta={"k": "v"}), CallToolResult
    ),
    "a_stream": _stream,
}
"""What tools return, for every kind of result that FastMCP knows."""


def _fresh(name: str) -> Any:
    """Return a copy of the function, since FastMCP's decorator leaves its mark on what it registers."""
    function: Any = RETURNED[name]
    fresh = types.FunctionType(function.__code__, globals(), name, closure=function.__closure__)
    fresh.__annotations__ = function.__annotations__
    return fresh


def returning() -> FastMCP[Any]:
    """Make a server with a tool for every kind of result."""
    mcp: FastMCP[Any] = FastMCP("returning")
    for name in RETURNED:
        mcp.tool(_fresh(name))
    return mcp


def without_schemas() -> FastMCP[Any]:
    """Make the same server, whose tools have no output schema."""
    mcp: FastMCP[Any] = FastMCP("without schemas")
    for name in RETURNED:
        mcp.tool(_fresh(name), output_schema=None)
    return mcp


def composed() -> FastMCP[Any]:
    """Make a server of mounts, transforms, nested calls, injected middleware, caching and an OpenAPI document."""
    child: FastMCP[Any] = FastMCP("child")

    @child.tool(
        output_schema={"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": False}
    )
    def closed() -> dict[str, int]:
        return {"a": 1}

    @child.tool
    def add(a: int, b: int = 1) -> int:
        return a + b

    @child.tool
    async def talks(ctx: Context) -> str:
        await ctx.info("talking")
        await ctx.report_progress(1, 2)
        return ctx.request_id and "talked"

    @child.resource("data://{x}")
    def data(x: str) -> dict[str, str]:
        return {"x": x}

    @child.resource("data://bytes")
    def raw() -> bytes:
        return b"\x00"

    @child.prompt
    def ask(about: str) -> list[str]:
        return [f"What is {about}?", "And why?"]

    middle: FastMCP[Any] = FastMCP("middle")
    middle.mount(child, namespace="shop", tool_names={"closed": "shut"})
    mcp: FastMCP[Any] = FastMCP("parent")
    mcp.mount(middle, namespace="all")
    extended(
        mcp,
        Tool.from_tool(
            Tool.from_function(lambda number: {"got": number}, name="plain"),
            name="transformed",
            transform_args={"number": ArgTransform(name="n", default=3)},
        ),
        ToolTransform({"again": ToolTransformConfig(name="nested", description="Calls others.")}),
    )

    @mcp.tool
    async def again(ctx: Context) -> dict[str, Any]:
        added = await mcp.call_tool("all_shop_add", {"a": 2})
        read = await ctx.fastmcp.read_resource("data://all/shop/x")
        rendered = await ctx.fastmcp.render_prompt("all_shop_ask", {"about": "tea"})
        texts = [read.contents[0].content, rendered.messages[0].content.text]  # type: ignore[union-attr]
        return {"added": added.structured_content, "texts": texts}

    mcp.mount(FastMCP.from_openapi(_DOCUMENT, client=_client()), namespace="api")
    return mcp


def cached() -> FastMCP[Any]:
    """Make a server whose results are cached."""
    return extended(composed(), TimingMiddleware(), ResponseCachingMiddleware())


_DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "Pots", "version": "1"},
    "paths": {
        "/pots/{id}": {
            "get": {
                "operationId": "get_pot",
                "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}],
                "responses": {
                    "200": {
                        "description": "A pot.",
                        "content": {
                            "application/json": {
                                "schema": {
                                    "type": "object",
                                    "properties": {"id": {"type": "string"}},
                                    "required": ["id"],
                                }
                            }
                        },
                    }
                },
            }
        },
        "/pots": {"get": {"operationId": "list_pots", "responses": {"200": {"description": "All pots."}}}},
    },
}


def _client() -> httpx2.AsyncClient:
    def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, json=[{"id": "1"}] if request.url.path == "/pots" else {"id": "1"})

    return httpx2.AsyncClient(transport=httpx2.MockTransport(answer), base_url="https://pots.test")


ARGUMENTS: dict[str, dict[str, Any]] = {
    "all_shop_add": {"a": 1},
    "api_get_pot": {"id": "1"},
}


async def _answers(mcp: FastMCP[Any]) -> dict[str, str]:
    """Return everything that a client gets, as JSON: lists, results, resources and prompts."""
    answers: dict[str, Any] = {}
    async with Client(mcp) as client:
        for method in ("list_tools_mcp", "list_resources_mcp", "list_resource_templates_mcp", "list_prompts_mcp"):
            answers[method] = await getattr(client, method)()
        for listed in answers["list_tools_mcp"].tools:
            for attempt in ("first", "again"):  # a cache answers the second call
                try:
                    answer = await client.call_tool_mcp(listed.name, ARGUMENTS.get(listed.name, {}))
                except RuntimeError as exc:  # the client itself refuses it
                    answers[f"{listed.name} {attempt}"] = f"{type(exc).__name__}: {exc}"
                    continue
                if not answer.is_error:  # a failure of FastMCP's own
                    answers[f"{listed.name} {attempt}"] = answer
                    parsed = await client.call_tool(listed.name, ARGUMENTS.get(listed.name, {}))
                    answers[f"{listed.name} {attempt} data"] = repr(parsed.data)
        for prompt in answers["list_prompts_mcp"].prompts:
            answers[prompt.name] = await client.get_prompt_mcp(prompt.name, {"about": "tea"})
        for resource in answers["list_resources_mcp"].resources:
            answers[str(resource.uri)] = await client.read_resource_mcp(resource.uri)
        if answers["list_resource_templates_mcp"].resource_templates:
            answers["template"] = await client.read_resource_mcp("data://all/shop/x")
    return {
        key: value if isinstance(value, str) else value.model_dump_json(by_alias=True) for key, value in answers.items()
    }


@pytest.mark.parametrize("make", [returning, without_schemas, composed, cached])
async def test_lists_and_successes_are_the_same(make: Callable[[], FastMCP[Any]]) -> None:
    """The values that FastMCP's client makes of the results are the same too."""
    expected = await _answers(make())
    options: list[dict[str, Any]] = [{}, {"plain_tools": False}, {"dialect": "ok_envelope_b"}]
    for chosen in options if make is composed else options[:1]:
        mcp = make()
        mcp.middleware.insert(0, ContractMiddleware(**chosen))
        assert expected == await _answers(mcp), chosen
    if make is returning:
        assert [name for name in RETURNED if f"{name} first" not in expected] == []


async def test_a_result_marked_as_a_failure_is_one() -> None:
    """As one of the SDK is; like that, it says nothing of its structured content."""
    mcp: FastMCP[Any] = FastMCP("shop", middleware=[ContractMiddleware()])

    @mcp.tool
    @tool
    def broken() -> ToolResult:
        return ToolResult(content="The order 7 was not found.", is_error=True)

    async with Client(mcp) as client:
        assert (await client.list_tools())[0].output_schema is None
        failure = envelope_of(await client.call_tool_mcp("broken", {}))
    assert ("INTERNAL_ERROR", "The order 7 was not found.") == (failure.name, failure.message)


async def test_successes_of_contract_tools_are_fastmcps() -> None:
    """The contents are equal, and so are whole results but where the SDK and FastMCP describe a type differently."""
    plain, contract = FastMCP[Any]("x"), FastMCP[Any]("x", middleware=[ContractMiddleware()])
    for name in RETURNED:
        if name not in _REFUSED:
            plain.tool(_fresh(name))
            contract.tool(tool(_fresh(name)))
    async with Client(plain) as theirs, Client(contract) as ours:
        for name in sorted(RETURNED.keys() - _REFUSED):
            expected, actual = await theirs.call_tool_mcp(name, {}), await ours.call_tool_mcp(name, {})
            assert expected.content == actual.content, name
            if name not in _DESCRIBED_OTHERWISE:
                assert expected.model_dump_json(by_alias=True) == actual.model_dump_json(by_alias=True)


_REFUSED = {
    "a_stream",  # a contract tool answers once
    "a_dict_with_error",  # clients look for a failure under the key
    "a_dict_like_a_failure",
    "a_loose_model",
    "a_tool_result_of_facts",
    "a_nan",  # the schema does not allow null, which is sent in its place
    "an_infinity",
    "an_aliased_model",  # contract tools write aliases, as the SDK's tools do
}
_DESCRIBED_OTHERWISE = {
    "a_dict_with_int_keys",
    "a_mapping",
    "a_named_tuple",
    "an_object",
    "a_datetime",
    "a_date",
    "a_duration",
    "a_uuid",
    "a_decimal",
    "a_path",
    "an_enum",
    "an_int_enum",
}
