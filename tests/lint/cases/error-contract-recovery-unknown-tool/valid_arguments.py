from typing import Annotated, Any

from pydantic import Field

from elsewhere import ARGUMENTS, NAME
from mcpcore import ErrorCode, FailureMode, tool

@tool(read_only=True)
def find(customer: str, limit: int = 10) -> str: ...

@tool
def archive(order_id: int) -> str: ...

@tool(read_only=True)
def open_ended(**others: Any) -> str: ...

@tool(read_only=True)
def renamed(customer: Annotated[str, Field(alias="name")]) -> str: ...

@tool(
    errors=[
        FailureMode("a", ErrorCode.NOT_FOUND, when="x", recovery="y", fallback_tool="find"),
        FailureMode(
            "b", ErrorCode.NOT_FOUND, when="x", recovery="y",
            fallback_tool="find", fallback_arguments={"customer": "{customer}"},
        ),
        FailureMode(
            "c", ErrorCode.NOT_FOUND, when="x", recovery="y", effects="none",
            fallback_tool="archive", fallback_arguments={"order_id": 1},
        ),
        FailureMode(
            "d", ErrorCode.NOT_FOUND, when="x", recovery="y", fallback_tool="find", fallback_arguments=ARGUMENTS
        ),
        FailureMode(
            "e", ErrorCode.NOT_FOUND, when="x", recovery="y", fallback_tool="find", fallback_arguments={NAME: 1}
        ),
        FailureMode(
            "f", ErrorCode.NOT_FOUND, when="x", recovery="y",
            fallback_tool="open_ended", fallback_arguments={"any": 1},
        ),
        FailureMode(
            "g", ErrorCode.NOT_FOUND, when="x", recovery="y", fallback_tool="renamed", fallback_arguments={"name": 1}
        ),
    ]
)
def book(customer: str) -> str: ...
