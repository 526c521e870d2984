# message: one returns Model, whose field error clients read as a failure
import typing as t
from dataclasses import dataclass
from typing import Annotated, Generic, TypedDict, TypeVar

import pydantic
from fastmcp import FastMCP
from mcp.types import CallToolResult
from mcpcore import Server, tool
from pydantic import BaseModel, Field

T = TypeVar("T")
mcp = FastMCP("x")
server = Server("x")

class Model(BaseModel):
    items: list[str]
    error: str | None = None

class Child(Model):
    more: int

class Dict(TypedDict, total=False):
    error: str

@dataclass(frozen=True)
class Data:
    error: str = ""

class Named(t.NamedTuple):
    error: str

class Aliased(pydantic.BaseModel):
    problem: str = Field(alias="error")

class Serialised(BaseModel):
    problem: Annotated[str, Field(serialization_alias="error")]

class Page(BaseModel, Generic[T]):
    items: list[T]
    error: str

class Annotations:
    error: str

Alias = Child

@tool
def one() -> Model: ...  # here

@tool(errors=[])
async def two() -> Child: ...  # here

@mcp.tool
def three() -> Dict: ...  # here

@server.tool()
def four() -> "Data": ...  # here

@tool
def five() -> Named: ...  # here

@tool
def six() -> Aliased: ...  # here

@tool
def seven() -> Serialised: ...  # here

@tool
def eight() -> Page[int]: ...  # here

@tool
def twelve() -> Annotated[Alias, "documented"]: ...  # here

@tool
def thirteen() -> Annotated[CallToolResult, Model]: ...  # here

@tool
def sixteen() -> Annotations: ...  # here

Noted = Annotated[Model, "documented"]

@tool
def seventeen() -> Noted: ...  # here

class OfMember(BaseModel):
    error: Annotated[str, Field(serialization_alias="problem", exclude=True)] | None = None

@tool
def eighteen() -> OfMember: ...  # here
