"""Failures with typed data: `ctx.fail(MODE, data=...)` and the validation of the JSON that is sent."""

from __future__ import annotations

import dataclasses
import inspect
import json
import typing
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, NotRequired, TypedDict
from uuid import UUID

import anyio
import jsonschema
import pytest
from mcp import Client
from mcp.server.mcpserver import MCPServer, server as sdk_server
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    RootModel,
    computed_field,
    field_serializer,
    field_validator,
    model_serializer,
    with_config,
)

from mcpcore import CodedError, Context, ErrorCode, FailureMode, Limits, Server, not_found, tool
from mcpcore.contract.failure_modes import CONTRACT_META_KEY, ContractError
from mcpcore.declare.keywords import ServerOptions


class NoItem(BaseModel):
    item_id: int


def mode(data: Any = None, reason: str = "no_item", **options: Any) -> FailureMode[Any]:
    return FailureMode(
        reason,
        ErrorCode.NOT_FOUND,
        when="There is no such item.",
        recovery="List the items first.",
        data=data,
        **options,
    )


NO_ITEM = mode(NoItem)


@tool(errors=[NO_ITEM])
def get_item(ctx: Context[Literal["no_item"]]) -> str:
    raise ctx.fail(NO_ITEM, data=NoItem(item_id=7))


class Answer:
    """The failure with typed data that a client and the trail received."""

    def __init__(self, entry: FailureMode[Any], fail: Callable[[Context], CodedError], path: Path) -> None:
        @tool(errors=[entry])
        def get(ctx: Context) -> str:
            raise fail(ctx)

        async def run() -> tuple[Any, Any]:
            async with Client(Server("items", tools=[get], audit=path, limits=Limits(data=4096))) as client:
                return (await client.list_tools()).tools[0], await client.call_tool("get", {})

        listed, result = anyio.run(run)
        self.schema = listed.meta[CONTRACT_META_KEY][0].get("dataSchema")
        self.error = result.structured_content["error"]
        reserved = ("reason", "retryable", "recovery")
        self.data = {key: value for key, value in self.error["data"].items() if key not in reserved}
        self.broken = [json.loads(line) for line in path.read_text().splitlines()][-1].get("broken_contract")

    def fits(self) -> bool:
        jsonschema.validate(self.data, self.schema)
        return self.broken is None


@pytest.fixture
def answer(tmp_path: Path) -> Callable[..., Answer]:
    return lambda entry, fail: Answer(entry, fail, tmp_path / "trail.jsonl")


class TestFailWithAMode:
    @pytest.mark.usefixtures("door")
    def test_is_the_failure_of_its_reason(self, answer: Callable[..., Answer]) -> None:
        """The failure has the mode's reason and message, and the data of the model."""
        got = answer(NO_ITEM, lambda ctx: ctx.fail(NO_ITEM, data=NoItem(item_id=7)))
        assert ("no_item", {"item_id": 7}) == (got.error["data"]["reason"], got.data)
        assert "There is no such item." == got.error["message"]
        assert got.fits()

    def test_of_another_contract_is_a_contract_error(self) -> None:
        """An undeclared mode is reported like an undeclared reason, with the near name."""
        ctx: Context = Context(get_item.contract, name="get")
        with pytest.raises(ContractError, match=r"tool 'get': ctx\.fail\('no_itm'\).*did you mean 'no_item'\?"):
            ctx.fail(mode(NoItem, "no_itm"), data=NoItem(item_id=7))
        assert {} == ctx.recovery_for(mode(NoItem, "no_itm"))

    def test_that_differs_from_the_declared_one_is_a_contract_error(self) -> None:
        """The message names the fields that differ."""
        ctx: Context = Context(get_item.contract)
        with pytest.raises(ContractError, match="another FailureMode for the reason 'no_item', with another effects"):
            ctx.fail(mode(NoItem, effects="none"), data=NoItem(item_id=7))

    @pytest.mark.usefixtures("door")
    def test_a_mode_without_a_model_takes_any_data(self, answer: Callable[..., Answer]) -> None:
        """It declares no data, so no data is checked."""
        got = answer(mode(), lambda ctx: ctx.fail(mode(), data={"anything": ["7"]}))
        assert ({"anything": ["7"]}, None, None) == (got.data, got.broken, got.schema)


class Aliased(BaseModel):
    item_id: int = Field(alias="itemId")
    note: str = Field(default="", serialization_alias="remark", validation_alias="hint")


class Computed(BaseModel):
    model_config = ConfigDict(extra="forbid")
    item_id: int

    @computed_field  # type: ignore[prop-decorator]
    @property
    def url(self) -> str:
        return f"/items/{self.item_id}"


class Serialized(BaseModel):
    item_id: int
    took: timedelta = timedelta(seconds=90)
    raw: bytes = b"text"

    @field_serializer("item_id", when_used="json")
    def as_text(self, value: int) -> str:
        return f"item {value}"


class Split(BaseModel):
    words: list[str]

    @field_validator("words", mode="before")
    @classmethod
    def split(cls, value: Any) -> Any:
        return value.split(",")


class Whole(BaseModel):
    item_id: int

    @model_serializer
    def write(self) -> dict[str, int]:
        return {"id": self.item_id}


class Many(RootModel[NoItem]):
    pass


class Facts(BaseModel):
    when: datetime
    took: timedelta
    who: UUID
    price: Decimal
    tags: set[str]
    kind: Literal["a", "b"] = "a"


@dataclasses.dataclass
class Spot:
    x: int
    took: timedelta = timedelta(seconds=1.5)


class Row(TypedDict):
    row: int
    took: NotRequired[timedelta]


class Cell(TypedDict):
    row: int


class Price(BaseModel):
    when: date
    price: Decimal


class Nested(BaseModel):
    rows: list[Price]


class Sub(NoItem):
    secret: str = "internal"


FACTS = Facts(
    when=datetime(2026, 1, 2, tzinfo=UTC), took=timedelta(days=1), who=UUID(int=7), price=Decimal("1.50"), tags={"new"}
)


class TestTheSchemaAndTheData:
    @pytest.mark.usefixtures("door")
    @pytest.mark.parametrize(
        ("model", "data"),
        [
            (Aliased, Aliased(itemId=7, hint="Look.")),
            (Computed, Computed(item_id=7)),
            (Serialized, Serialized(item_id=7)),
            (Split, Split(words="a,b")),  # type: ignore[arg-type]
            (Whole, Whole(item_id=7)),
            (Many, Many(NoItem(item_id=7))),
            (Facts, FACTS),
            (Spot, Spot(7)),
            (Row, Row(row=7)),
            (Row, Row(row=7, took=timedelta(seconds=3))),
            (NoItem, {"item_id": 7}),
            (Facts, {**FACTS.model_dump(), "took": "PT3S"}),
        ],
        ids=lambda value: getattr(value, "__name__", type(value).__name__),
    )
    @pytest.mark.parametrize("by", ["fail", "factory"])
    def test_agree_for_data_from_an_author(self, answer: Callable[..., Answer], model: Any, data: Any, by: str) -> None:
        """The JSON fits the published schema, despite aliases, serializers and conversions."""
        entry = mode(model)
        got = answer(
            entry, lambda ctx: ctx.fail(entry, data=data) if by == "fail" else not_found(reason="no_item", data=data)
        )
        assert got.fits(), got.broken

    @pytest.mark.usefixtures("door")
    def test_of_a_subclass_have_only_the_declared_fields(self, answer: Callable[..., Answer]) -> None:
        """Fields that the contract does not declare are not sent."""
        got = answer(NO_ITEM, lambda ctx: ctx.fail(NO_ITEM, data=Sub(item_id=7)))
        assert {"item_id": 7} == got.data
        assert got.fits()

    @pytest.mark.usefixtures("door")
    @pytest.mark.parametrize(
        ("model", "data", "problem"),
        [
            (NoItem, {"item_id": "7"}, "item_id: Input should be a valid integer"),
            (NoItem, {"item_id": 7.0}, "item_id: "),
            (NoItem, NoItem.model_construct(item_id="7"), "item_id: '7' is not of type 'integer'"),  # type: ignore[arg-type]
            (NoItem, {}, "item_id: Field required"),
            (NoItem, Whole(item_id=7), "item_id: Field required"),
            (Row, Spot(7), "data: "),
            (NoItem, None, "item_id: Field required"),
            (Aliased, {"item_id": 7}, "data: 'itemId' is a required property"),
            (Computed, {"item_id": 7}, "data: 'url' is a required property"),
            (Serialized, {"item_id": 7}, "item_id: 7 is not of type 'string'"),
            (Row, {"row": 7, "column": 3}, "data: Additional properties are not allowed"),
            (Cell, {"row": 7, "column": 3}, "column: Extra inputs are not permitted"),
            (Nested, {"rows": [{"when": "2026-01-02", "price": 3}]}, "rows.0.price: "),
            (Row, {"row": "7"}, "row: "),
            (Spot, Spot("7"), "x: '7' is not of type 'integer'"),  # type: ignore[arg-type]
            (Facts, {**FACTS.model_dump(mode="json"), "when": "yesterday"}, "when: "),
        ],
    )
    def test_that_do_not_fit_break_the_contract(
        self, answer: Callable[..., Answer], model: Any, data: Any, problem: str
    ) -> None:
        """The final JSON is checked, so "7" is not an integer; the failure is sent and the violation recorded."""
        entry = mode(model)
        got = answer(entry, lambda ctx: ctx.fail(entry, data=data))
        assert "no_item" == got.error["data"]["reason"]
        assert f"the data of 'no_item' breaks its model: {problem}" in str(got.broken)

    @pytest.mark.usefixtures("door")
    def test_of_a_model_with_by_name_validation_use_the_alias(self, answer: Callable[..., Answer]) -> None:
        """The schema has the alias, so clients do not expect the field name."""

        class Either(BaseModel):
            model_config = ConfigDict(populate_by_name=True)
            item_id: int = Field(alias="itemId")

        entry = mode(Either)
        assert "itemId: Field required" in str(answer(entry, lambda ctx: ctx.fail(entry, data={"item_id": 7})).broken)

    @pytest.mark.usefixtures("door")
    def test_that_are_cut_to_the_limits_do_not_break_the_contract(self, answer: Callable[..., Answer]) -> None:
        """The framework cuts the data, but data of the wrong type is still found, however long."""

        class Long(BaseModel):
            numbers: list[int]
            text: str = Field(default="", pattern="^x*$")
            nested: Any = None

        entry = mode(Long)
        deep: Any = 7
        for _ in range(100):
            deep = [deep]
        for data in (
            {"numbers": list(range(5_000)), "text": "x" * 50_000},
            {"numbers": list(range(20_000))},
            Long(numbers=list(range(20_000)), nested=deep),
        ):
            assert answer(entry, lambda ctx, data=data: ctx.fail(entry, data=data)).broken is None
        wrong = {"numbers": list(range(3_000)), "text": "y" * 50_000}
        assert "text: " in str(answer(entry, lambda ctx: ctx.fail(entry, data=wrong)).broken)

    @pytest.mark.usefixtures("door")
    @pytest.mark.parametrize("raised", [ValueError("x" * 10_000), ZeroDivisionError(), SystemExit(1)])
    def test_with_a_hostile_model_do_not_cost_the_failure(
        self, answer: Callable[..., Answer], raised: BaseException
    ) -> None:
        """A validator or serializer may raise anything; the client gets the failure, and the record a short note."""

        class Hostile(BaseModel):
            item_id: int

            @field_validator("item_id")
            @classmethod
            def check(cls, value: int) -> int:
                raise raised

            @field_serializer("item_id")
            def write(self, value: int) -> int:
                raise raised

        entry = mode(Hostile)
        got = answer(entry, lambda ctx: ctx.fail(entry, data={"item_id": 7}))
        assert "no_item" == got.error["data"]["reason"]
        assert 10 < len(got.broken) < 1_000
        built = Hostile.model_construct(item_id=7)
        assert "no_item" == answer(entry, lambda ctx: ctx.fail(entry, data=built)).error["data"]["reason"]

    @pytest.mark.usefixtures("door")
    def test_keep_the_configuration_of_a_typeddict(self, answer: Callable[..., Answer]) -> None:
        """The author's own configuration decides about unknown keys."""

        @with_config(ConfigDict(extra="allow"))
        class Open(TypedDict):
            row: int

        entry = mode(Open)
        assert answer(entry, lambda ctx: ctx.fail(entry, data={"row": 7, "more": 3})).fits()

    @pytest.mark.parametrize("model", [RootModel[list[int]], RootModel[dict[str, int]]])
    def test_of_a_model_without_fields_are_refused_at_import(self, model: Any) -> None:
        """A client could not distinguish the author's keys from those of the framework."""
        with pytest.raises(ContractError, match="with fields"):
            mode(model).data_schema()


def test_the_options_of_a_server_match_the_sdk() -> None:
    """Checkers and editors know each option of the installed SDK and its type, in the SDK's positional order."""
    parameters = inspect.signature(MCPServer.__init__).parameters
    own = {"self", "name", "tools", "resources", "lifespan"}
    names = {**vars(sdk_server), **vars(typing)}
    hints = typing.get_type_hints(MCPServer.__init__, names, names)
    assert {name: hints[name] for name in parameters.keys() - own} == typing.get_type_hints(ServerOptions, names, names)

    server = Server("s", "Title", "Description.", "Ask.", "https://s.example", None, "1.2")
    assert ("Title", "Ask.", "1.2") == (server.title, server.instructions, server.version)
    with pytest.raises(TypeError, match="instruction"):
        Server("s", instruction="Ask.")  # type: ignore[call-arg]
