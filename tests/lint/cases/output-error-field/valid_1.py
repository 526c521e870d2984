from dataclasses import dataclass
from typing import Annotated, ClassVar, TypedDict

from elsewhere import Theirs
from mcp.types import CallToolResult
from mcpcore import tool
from pydantic import BaseModel, Field, RootModel

class Plain(BaseModel):
    errors: list[str]
    error_count: int = 0
    _error: str = ""
    error: ClassVar[str] = "no field"

class Renamed(BaseModel):
    error: str = Field(serialization_alias="problem", alias="error")
    other: Annotated[str, Field(alias="fault")] = ""
    taken: str = Field(validation_alias="error")

class Hidden(BaseModel):
    error: str = Field("", exclude=True)

class Inner(BaseModel):
    error: str

class Outer(BaseModel):
    inner: Inner

class Base(BaseModel):
    error: str = ""

class Child(Base):
    error: str = Field("", serialization_alias="warning")

class Unknown(Theirs):
    error: str

class Rows(RootModel[list[Inner]]): ...

class Upper(BaseModel):
    model_config = {"alias_generator": str.upper}
    error: str

@tool
def one() -> Plain: ...

@tool
def two() -> Renamed: ...

@tool
def three() -> list[Inner]: ...

@tool
def four() -> Inner | None: ...

@tool
def five() -> Outer: ...

@tool
def six() -> Child: ...

@tool
def seven() -> Theirs: ...

@tool
def eight() -> Hidden: ...

@tool
def nine() -> Unknown: ...

@tool
def ten() -> dict[str, Inner]: ...

@tool(structured_output=False)
def eleven() -> Inner: ...

@tool
def twelve(given: Inner): ...

@tool
def thirteen() -> Rows: ...

@tool
def fourteen() -> Upper: ...

@tool
def fifteen() -> CallToolResult: ...

class OfUnion(BaseModel):
    error: Annotated[str | None, Field(serialization_alias="problem")] = None

@tool
def sixteen() -> OfUnion: ...
