# message: lacks 'query'
from dataclasses import dataclass
from typing import TypedDict
import pydantic
from mcpcore import Context, ErrorCode, FailureMode, tool
from models import Base

class Gone(Base):
    pmid: str
    note: str | None = pydantic.Field(None)

class Row(TypedDict, total=False):
    a: int

@dataclass
class Data:
    a: int

@tool(
    errors=[
        FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y", data=Gone),
        FailureMode("row", ErrorCode.NOT_FOUND, when="x", recovery="y", data=Row),
        FailureMode("data", ErrorCode.NOT_FOUND, when="x", recovery="y", data=Data),
    ]
)
def fetch(ctx: Context, a: str, more: dict) -> str:
    if a == "1":
        raise ctx.fail("gone", data={"pmid": a})  # here
    if a == "2":
        raise ctx.fail("gone")  # here
    if a == "3":
        raise ctx.fail("row", "x", {"b": 1})  # here
    if a == "4":
        raise ctx.fail("data", "x", dict(a=1, b=2))  # here
    if a == "5":
        raise ctx.fail("data", "x", {**more, "b": 1})  # here
    details = {"a": 1, "c": 2}
    raise ctx.fail("data", data=details)  # here
