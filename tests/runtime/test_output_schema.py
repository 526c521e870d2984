"""The advertised output schema accepts every success and every failure, and no mixture of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, NotRequired

import jsonschema
import pytest
from hypothesis import example, given, strategies as st
from mcp import Client
from mcp.server import CacheHint
from mcp.shared.exceptions import MCPError
from mcp_types import ListToolsResult, PaginatedRequestParams
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    RootModel,
    StringConstraints,
    TypeAdapter,
    computed_field,
    model_serializer,
)
from typing_extensions import TypedDict

from mcpcore import Context, ErrorCode, FailureMode, Server, tool
from mcpcore.sdk.definition import admitting_error, without_error
from mcpcore.sdk.private import lowlevel_of
from tests.runtime.test_arguments import Cat, Dog

NO_MATCH = FailureMode("no_match", ErrorCode.NOT_FOUND, when="Nothing.", recovery="Search.")


class Model(BaseModel):
    """A model with a required, an optional and a nested part."""

    name: str
    count: int = 0
    inner: list[Part] = []


class Part(BaseModel):
    text: str


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    name: str


class Tree(BaseModel):
    name: str
    children: list[Tree] = []


class Pet(RootModel[Cat | Dog]): ...


class Tagged(RootModel[Annotated[Cat | Dog, Field(discriminator="kind")]]): ...


class Numbers(RootModel[list[int]]): ...


class Text(RootModel[str]): ...


class Maybe(RootModel[Cat | int]): ...


class Bag(RootModel[dict[str, int]]): ...


class Written(BaseModel):
    stored: int = Field(serialization_alias="sent")

    @computed_field
    def double(self) -> int:
        return self.stored * 2


class Partly(BaseModel):
    name: str
    secret: str = Field(default="", exclude=True)


class Computed(BaseModel):
    name: str

    @computed_field
    def length(self) -> int:
        return len(self.name)


class Serialized(BaseModel):
    name: str

    @model_serializer
    def write(self) -> dict[str, int]:
        return {"length": len(self.name)}


class Described(BaseModel):
    name: str

    @classmethod
    def __get_pydantic_json_schema__(cls, core: Any, handler: Any) -> Any:
        schema = handler(core)
        if handler.mode == "serialization":
            schema["properties"]["more"] = {}
        return schema


class Aliased(BaseModel):
    model_config = ConfigDict(extra="forbid")
    stored: int = Field(alias="sent")


class Typed(TypedDict):
    name: str
    note: NotRequired[str]


@dataclass
class Plain:
    name: str


Words = dict[Annotated[str, StringConstraints(pattern="^[a-z]+$")], int]

RESULTS: dict[str, tuple[Any, Any]] = {
    "model": (Model, Model(name="a", inner=[Part(text="t")])),
    "forbidding more": (Strict, Strict(name="a")),
    "allowing more": (Open, Open.model_validate({"name": "a", "more": 1})),
    "recursive": (Tree, Tree(name="a", children=[Tree(name="b")])),
    "union of models": (Pet, Pet(Cat(kind="cat", lives=9))),
    "tagged union": (Tagged, Tagged(Dog(kind="dog"))),
    "root list": (Numbers, Numbers([1, 2])),
    "root text": (Text, Text("t")),
    "root of an object or not": (Maybe, Maybe(3)),
    "root mapping": (Bag, Bag({"a": 1})),
    "written otherwise": (Written, Written(stored=2)),
    "aliased": (Aliased, Aliased(sent=1)),
    "typed dict": (Typed, {"name": "a"}),
    "dataclass": (Plain, Plain("a")),
    "mapping": (dict[str, int], {"a": 1}),
    "mapping of anything": (dict[str, Any], {"a": None}),
    "mapping with a rule for keys": (Words, {"a": 1}),
    "mapping by numbers": (dict[int, str], {1: "a"}),
    "list": (list[int], [1]),
    "text": (str, "t"),
    "number": (float, 1.5),
    "nothing": (type(None), None),
    "optional": (int | None, None),
    "union": (int | list[str], ["a"]),
    "annotated": (Annotated[int, Field(ge=1)], 1),
}


def served(kind: Any, value: Any, **options: Any) -> Server[Any]:
    def f(ctx: Context[Any], fail: bool) -> Any:
        if fail:
            raise ctx.fail("no_match", data={"a": 1})
        return value

    f.__annotations__["return"] = kind
    return Server("s", tools=[tool(errors=[NO_MATCH])(f)], **options)


@pytest.mark.usefixtures("door")
@pytest.mark.parametrize("name", RESULTS)
@pytest.mark.anyio
async def test_successes_and_failures_fit(name: str) -> None:
    """The SDK's client validates both; the root is no bare `anyOf`, and other values are rejected."""
    kind, value = RESULTS[name]
    async with Client(served(kind, value)) as client:
        (listed,) = (await client.list_tools()).tools
        schema = listed.output_schema
        assert schema is not None
        jsonschema.validators.validator_for(schema).check_schema(schema)
        assert "object" == schema["type"]
        good = await client.call_tool("f", {"fail": False})
        bad = await client.call_tool("f", {"fail": True})
        assert not good.is_error, good
        assert bad.is_error
        jsonschema.validate(good.structured_content, schema)
        jsonschema.validate(bad.structured_content, schema)
        if name == "mapping of anything":
            assert {"type": "object", "additionalProperties": True} == {
                key: value for key, value in schema.items() if key != "title"
            }  # it admits every failure already
            return
        for neither in ({"error": "text"}, {"error": {}}, [], "x", {**good.structured_content, **bad.structured_content, "error": 1}):  # fmt: skip
            with pytest.raises(jsonschema.ValidationError):
                jsonschema.validate(neither, schema)
        if name not in ("mapping", "mapping of anything", "mapping with a rule for keys", "root mapping"):
            with pytest.raises(jsonschema.ValidationError):
                jsonschema.validate({}, schema)


@pytest.mark.anyio
@pytest.mark.usefixtures("door")
@pytest.mark.parametrize("kind", [Model, Strict, Written, Aliased, Partly, Computed, Serialized, Described])
async def test_the_schema_has_the_fields_that_are_sent(kind: Any) -> None:
    """Those that are read may have other names, and more or fewer of them may be sent."""
    async with Client(served(kind, None)) as client:
        (listed,) = (await client.list_tools()).tools
    assert listed.output_schema is not None
    sent = TypeAdapter(kind).json_schema(mode="serialization")
    assert {*sent.get("properties", ()), "error"} == {*listed.output_schema["properties"]}


def without_references(schema: Any) -> Any:
    """Return `schema` with its references resolved."""
    definitions = schema.get("$defs", {})

    def resolved(part: Any) -> Any:
        if isinstance(part, list):
            return [resolved(item) for item in part]
        if not isinstance(part, dict):
            return part
        if "$ref" in part:
            return resolved(definitions[part["$ref"].removeprefix("#/$defs/")])
        return {key: resolved(value) for key, value in part.items() if key != "$defs"}

    return resolved(schema)


@pytest.mark.anyio
@pytest.mark.usefixtures("door")
async def test_advertising_may_be_turned_off(era: str) -> None:
    """The schema is then that of the SDK, or FastMCP's version of it without references."""

    async with Client(served(Model, None, advertise_errors=False), mode=era) as client:
        (listed,) = (await client.list_tools()).tools
        assert without_references(Model.model_json_schema()) == without_references(listed.output_schema)


@pytest.mark.anyio
async def test_sdk_tools_accept_the_error_too(era: str, door: str) -> None:
    """This includes a tool whose results have an `error` field."""

    class Fault(BaseModel):
        error: str

    def fine(fail: bool) -> int:
        if fail:
            raise KeyError
        return 1

    def own(fail: bool) -> Any:
        if fail:
            raise KeyError
        return Fault(error="x")

    own.__annotations__["return"] = Fault
    server: Server[Any] = Server("s")
    server.add_tool(fine)
    server.add_tool(own)

    async with Client(server, mode=era) as client:
        schemas = {listed.name: listed.output_schema for listed in (await client.list_tools()).tools}
        for name in ("fine", "own"):
            for fail in (False, True):
                result = await client.call_tool(name, {"fail": fail})
                assert fail == result.is_error
                if result.structured_content is None:  # FastMCP's own tools keep their schemas
                    assert (True, "fastmcp") == (fail, door)
                else:
                    jsonschema.validate(result.structured_content, schemas[name])  # type: ignore[arg-type]


FAILURE = {"error": {"code": 1, "message": "m", "retry": {"kind": "not_retryable"}}}
SCHEMAS = st.fixed_dictionaries(
    {"type": st.just("object")},
    optional={
        "properties": st.dictionaries(st.sampled_from(["a", "b", "error"]), st.sampled_from([{"type": "integer"}, {}])),
        "required": st.lists(st.sampled_from(["a", "b"]), unique=True),
        "additionalProperties": st.sampled_from([True, False, {}, {"type": "integer"}]),
        "patternProperties": st.sampled_from([{"^e": {"type": "integer"}}, {"^a": {}}]),
        "propertyNames": st.sampled_from([{"pattern": "^[abe]"}, {"maxLength": 1}]),
        "minProperties": st.integers(0, 3),
        "maxProperties": st.integers(0, 3),
        "anyOf": st.just([{"required": ["a"]}, {"required": ["b"]}]),
        "not": st.just({"required": ["a", "b"]}),
        "unevaluatedProperties": st.just(False),
    },
)


@given(
    SCHEMAS, st.dictionaries(st.sampled_from(["a", "b", "c", "ee"]), st.integers() | st.text(max_size=1), max_size=3)
)
@example({"type": "object", "additionalProperties": False, "patternProperties": {"^e": {"type": "integer"}}}, {})
@example({"type": "object", "additionalProperties": {}, "required": ["a"]}, {})
def test_any_object_schema_keeps_its_meaning_for_results(schema: dict[str, Any], value: dict[str, Any]) -> None:
    """Accepted values stay accepted, rejected values stay rejected, and the failure is always accepted."""
    validator = jsonschema.Draft202012Validator
    admitting = admitting_error(schema)
    assert "object" == admitting["type"]
    assert validator(schema).is_valid(value) == validator(admitting).is_valid(value)
    assert validator(admitting).is_valid(FAILURE)
    if admitting is schema:
        # Any failure of any shape is accepted already.
        assert validator(schema).is_valid({"error": {"code": "text"}})
    elif "error" not in schema.get("properties", {}):
        assert not validator(admitting).is_valid({"error": {"code": "text"}})
    foreign = admitting_error(schema, is_foreign=True)
    assert validator(foreign).is_valid(FAILURE)
    for result in (value, {"error": 3}, {"a": 1, "error": 3}, {"a": 1, "error": None}):
        assert validator(schema).is_valid(result) == validator(foreign).is_valid(result)


@given(SCHEMAS)
def test_the_schema_of_the_result_alone_can_be_recovered(schema: dict[str, Any]) -> None:
    """`without_error` undoes `admitting_error` and leaves every other schema unchanged."""
    for admitting in (admitting_error(schema), admitting_error(schema, is_foreign=True)):
        assert (schema if admitting is schema else {"properties": {}, **schema}) == without_error(admitting)
    if "anyOf" not in schema:
        assert schema is without_error(schema)
    for other in (
        {"anyOf": [{}, {"required": ["error"]}]},
        {"anyOf": [{}, {"required": ["error"]}], "properties": {"error": {}}},
        {"anyOf": [{}, {}], "properties": {"error": {}}},
    ):
        assert other is without_error(other)
    numbers = Numbers.model_json_schema()
    assert numbers == without_error(admitting_error(numbers))


def test_a_schema_that_is_not_an_object_accepts_the_error_next_to_it() -> None:
    """SDK tools may have such schemas in the protocol of 2026-07-28; a schema of any value accepts the error itself."""
    assert {"title": "Any"} == admitting_error({"title": "Any"})
    validator = jsonschema.Draft202012Validator(admitting_error(Numbers.model_json_schema()))
    assert [True, True, False, False] == [validator.is_valid(v) for v in ([1], FAILURE, ["a"], {})]


def test_another_dialect_is_an_alternative_to_the_result() -> None:
    """Its schema may share definition names with that of the result."""
    admitting = admitting_error(Model.model_json_schema(), {"required": ["ok"]})
    validator = jsonschema.Draft202012Validator(admitting)
    assert [True, True, False] == [validator.is_valid(v) for v in ({"name": "a"}, {"ok": False}, {})]


# --- the list of tools, which is kept until a tool changes -----------------------------------------------------------


@tool(errors=[FailureMode("none", ErrorCode.NOT_FOUND, when="Nothing matches.", recovery="Search first.")])
def listed(ctx: Context[Any], number: int) -> int:
    """List me."""
    return number


@pytest.mark.anyio
@pytest.mark.server_only
async def test_a_list_shows_each_change_of_a_tool() -> None:
    """A tool that is added, removed or changed is in the next list, and no client can change what others read."""
    server = Server("s", tools=[listed])
    async with Client(server) as client:
        first = (await client.list_tools()).tools
        first[0].input_schema["properties"]["number"]["type"] = "string"
        assert (await client.list_tools()).tools[0].input_schema["properties"]["number"]["type"] == "integer"
        registered: Any = server._tool_manager.get_tool("listed")
        registered.description = "Changed."
        registered.parameters["properties"]["number"]["title"] = "In place"
        (changed,) = (await client.list_tools()).tools
        assert (changed.description, changed.input_schema["properties"]["number"]["title"]) == ("Changed.", "In place")

        @server.tool()
        def more() -> int:
            return 1

        assert [entry.name for entry in (await client.list_tools()).tools] == ["listed", "more"]
        server.remove_tool("listed")
        assert [entry.name for entry in (await client.list_tools()).tools] == ["more"]


@pytest.mark.anyio
@pytest.mark.server_only
async def test_the_list_of_a_subclass_and_the_hints_for_caches_are_kept() -> None:
    """The hints that the server was given are sent, and a subclass may list its tools in its own way."""

    class Renaming(Server[Any]):
        async def list_tools(self) -> list[Any]:
            return [entry.model_copy(update={"title": "Mine"}) for entry in await super().list_tools()]

    hint = CacheHint(ttl_ms=5_000, scope="public")
    hiding = Server("s", tools=[listed])

    async def nothing() -> list[Any]:
        return []

    hiding.list_tools = nothing  # type: ignore[method-assign]
    async with Client(hiding) as client:
        assert (await client.list_tools()).tools == []
    async with Client(Renaming("s", tools=[listed], cache_hints={"tools/list": hint})) as client:
        assert (await client.list_tools()).tools[0].title == "Mine"
    async with Client(Server("s", tools=[listed], cache_hints={"tools/list": hint})) as client:
        sent = await client.list_tools()
    assert (sent.ttl_ms, sent.cache_scope) == (5_000, "public")


@pytest.mark.anyio
@pytest.mark.server_only
async def test_middleware_and_handlers_of_the_application_see_the_whole_list() -> None:
    """Their changes reach one client only, and a handler that replaces the server's handler decides what is listed."""

    async def shouting(ctx: Any, call_next: Any) -> Any:
        result = await call_next(ctx)
        if ctx.method == "tools/list":
            for entry in result["tools"]:
                entry["description"] = entry["description"].upper()
        return result

    async def names(server: Server[Any]) -> list[str | None]:
        async with Client(server) as client:
            return [entry.description for entry in (await client.list_tools()).tools]

    outside, server = (Server("s", tools=[listed], middleware=middleware) for middleware in ([shouting], []))
    assert [["LIST ME."], ["LIST ME."]] == [await names(outside), await names(outside)]
    server.middleware.append(shouting)
    assert ["LIST ME."] == await names(server)
    server.middleware.pop()
    assert ["List me."] == await names(server)

    async def none(ctx: Any, params: Any) -> Any:
        return ListToolsResult(tools=(await server._handle_list_tools(ctx, params)).tools[1:])

    lowlevel_of(server).add_request_handler("tools/list", PaginatedRequestParams, none)
    assert [] == await names(server)


@pytest.mark.anyio
@pytest.mark.server_only
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_list_that_is_not_valid_is_an_error_of_the_sdk(mode: Literal["auto", "legacy"]) -> None:
    """It is not kept: after the tool was mended, the list is sent."""
    server = Server("s", tools=[listed])
    registered: Any = server._tool_manager.get_tool("listed")
    async with Client(server, mode=mode) as client:
        registered.parameters["type"] = "array"
        with pytest.raises(MCPError, match="invalid result"):
            await client.list_tools()
        registered.parameters["type"] = "object"
        assert (await client.list_tools()).tools[0].input_schema["type"] == "object"
