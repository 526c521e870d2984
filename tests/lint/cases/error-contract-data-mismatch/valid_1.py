from dataclasses import dataclass, field
from typing import ClassVar, NotRequired, TypedDict
from pydantic import BaseModel, ConfigDict, Field
from mcpcore import Context, ErrorCode, FailureMode, tool

class Base(BaseModel):
    pmid: str

class Gone(Base):
    kind: ClassVar[str] = "x"
    note: str | None = None
    tags: list[str] = Field(default_factory=list)

class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    pmid: str

class Aliased(BaseModel):
    pmid: str = Field(alias="PMID")

class Row(TypedDict):
    a: int
    b: NotRequired[int]

@dataclass
class Data:
    a: int
    b: list[int] = field(default_factory=list)

def entry(reason, model):
    return None

TYPED = FailureMode("typed", ErrorCode.NOT_FOUND, when="x", recovery="y", data=Gone)

@tool(
    errors=[
        FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y", data=Gone),
        FailureMode("open", ErrorCode.NOT_FOUND, when="x", recovery="y", data=Open),
        FailureMode("aliased", ErrorCode.NOT_FOUND, when="x", recovery="y", data=Aliased),
        FailureMode("row", ErrorCode.NOT_FOUND, when="x", recovery="y", data=Row),
        FailureMode("data", ErrorCode.NOT_FOUND, when="x", recovery="y", data=Data),
        FailureMode("other", ErrorCode.NOT_FOUND, when="x", recovery="y", data=Elsewhere),
        FailureMode("free", ErrorCode.NOT_FOUND, when="x", recovery="y"),
        TYPED,
    ]
)
def fetch(ctx: Context, a: str, more: dict) -> str:
    if a == "1":
        raise ctx.fail("gone", data={"pmid": a, "note": "x", "recovery": {}})
    if a == "2":
        raise ctx.fail("open", data={"pmid": a, "anything": 1})
    if a == "3":
        raise ctx.fail("aliased", data={"PMID": a})
    if a == "4":
        raise ctx.fail("row", data={"a": 1, **ctx.recovery_for("row")})
    if a == "5":
        raise ctx.fail("data", data=more)
    if a == "6":
        raise ctx.fail("gone", data={**more})
    if a == "7":
        raise ctx.fail("gone", data=Gone(pmid=a).model_dump())
    if a == "8":
        raise ctx.fail("other", data={"x": 1})
    if a == "9":
        raise ctx.fail(TYPED, data=Gone(pmid=a))
    if a == "10":
        raise ctx.fail(TYPED, "x", {"pmid": a})
    raise ctx.fail("free", data={"x": 1})
