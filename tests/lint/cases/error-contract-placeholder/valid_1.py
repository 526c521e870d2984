from dataclasses import dataclass
from typing import Any, TypedDict

from elsewhere import Foreign, OPTIONS
from mcpcore import TODO, Context, ErrorCode, FailureMode, tool
from pydantic import BaseModel, ConfigDict, Field, computed_field, field_validator, model_serializer


class Stock(BaseModel):
    left: int
    item: str = Field(serialization_alias="itemName")


class Computed(BaseModel):
    left: int

    @computed_field
    def half(self) -> int:
        return self.left // 2


class Serialized(BaseModel):
    left: int

    @model_serializer
    def written(self) -> dict[str, Any]:
        return {"half": self.left}


class Validated(BaseModel):
    left: int

    @field_validator("left", mode="before")
    def read(cls, value: Any) -> Any:
        return value


class Hooked(BaseModel):
    left: int

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> Any:
        return {"type": "object", "properties": {"x": {}}, "required": ["x"]}


class Renamed(BaseModel):
    model_config = ConfigDict(alias_generator=str.upper)
    left: int


class Filled(BaseModel):
    model_config = ConfigDict(json_schema_serialization_defaults_required=True)
    left: int = 0


class Excluded(BaseModel):
    left: int
    secret: str = Field(exclude=True)


class Child(Foreign):
    left: int


@dataclass
class Order:
    __pydantic_config__ = OPTIONS
    number: int


class Paper(TypedDict):
    pmid: str


C = ErrorCode.CONFLICT
FEW = FailureMode("few", C, when="{{{left}}} of {itemName}", recovery="Write {{}}.", user_message=None, data=Stock)


@tool(
    errors=[
        FEW,
        FailureMode("no_model", C, when="{lef} {", recovery="Write {0} }.", user_message="{x}"),
        FailureMode("none", C, when="{lef}", recovery="{x}", data=None),
        FailureMode("foreign", C, when="{x}", recovery="{", data=Foreign),
        FailureMode("child", C, when="{x}", recovery="{y}", data=Child),
        FailureMode("computed", C, when="{half}", recovery="b", data=Computed),
        FailureMode("serialized", C, when="{half}", recovery="b", data=Serialized),
        FailureMode("validated", C, when="{half}", recovery="b", data=Validated),
        FailureMode("hooked", C, when="{x}", recovery="b", data=Hooked),
        FailureMode("renamed", C, when="{LEFT}", recovery="b", data=Renamed),
        FailureMode("filled", C, when="{left}", recovery="b", data=Filled),
        FailureMode("excluded", C, when="{other}", recovery="b", data=Excluded),
        FailureMode("order", C, when="{no}", recovery="b", data=Order),
        FailureMode("paper", C, when="{pmid}", recovery="TODO: say {which}", data=Paper),
        FailureMode("todo", C, when=OPTIONS, recovery=TODO, data=Paper),
        FailureMode("either", C, when="{x}", recovery="b", data=Paper if OPTIONS else Stock),
    ]
)
def order(ctx: Context, item: str) -> str:
    """Order something."""
    raise ctx.fail(FEW, data={"left": 1, "itemName": item})
