"""A contract changes nothing of a success: the result of a tool is the one that FastMCP gives without the contract."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from fastmcp import Client, FastMCP
from fastmcp.tools.base import ToolResult
from fastmcp.utilities.types import File, Image
from mcp_types import TextContent
from pydantic import BaseModel

from mcpcore import Envelope, tool
from mcpcore.integrations.fastmcp import ContractMiddleware

pytestmark = pytest.mark.anyio


class Order(BaseModel):
    id: str
    total: float


@dataclass
class Parcel:
    number: str
    cities: list[str]


def a_model() -> Order:
    return Order(id="A-1", total=2.5)


def a_list() -> list[Order]:
    return [Order(id="A-1", total=2.5)] * 2


def a_dataclass() -> Parcel:
    return Parcel("RX-1", ["Oslo"])


def a_mapping() -> dict[str, Any]:
    return {"a": [1, "ü"], "b": None}


def a_bare_mapping() -> dict:  # type: ignore[type-arg]
    return {"a": [1, "ü"]}


def unannotated():  # type: ignore[no-untyped-def]
    return {"a": {"b": [1.5]}}


def unannotated_list():  # type: ignore[no-untyped-def]
    return ["a", {"b": 1}]


def a_text() -> str:
    return "two\nlines"


def a_number() -> int:
    return 7


def nothing() -> None:
    return None


def some_texts() -> list[str]:
    return ["a", "b"]


def a_union() -> int | str:
    return "x"


def content() -> list[TextContent]:
    return [TextContent(type="text", text="a"), TextContent(type="text", text="b")]


def a_picture() -> Image:
    return Image(data=b"\x89PNG", format="png")


def a_picture_with_text():  # type: ignore[no-untyped-def]
    return ["a cat", Image(data=b"\x89PNG", format="png"), {"a": 1}]


def a_file() -> File:
    return File(data=b"x", format="txt", name="a")


def a_result() -> ToolResult:
    return ToolResult(content="two orders", structured_content={"a": 1}, meta={"k": "v"})


def a_result_or_a_mapping() -> ToolResult | dict[str, Any]:
    return ToolResult(content=[Image(data=b"x", format="png"), "a cat"])


def a_result_in_place_of_a_mapping() -> dict[str, int]:
    return ToolResult(content="one", structured_content={"a": 1})  # type: ignore[return-value]


@pytest.mark.parametrize(
    "handler",
    [
        a_model,
        a_list,
        a_dataclass,
        a_mapping,
        a_bare_mapping,
        unannotated,
        unannotated_list,
        a_text,
        a_number,
        nothing,
        some_texts,
        a_union,
        content,
        a_picture,
        a_picture_with_text,
        a_file,
        a_result,
        a_result_or_a_mapping,
        a_result_in_place_of_a_mapping,
    ],
)
async def test_a_success_is_what_it_was_without_the_contract(handler: Any) -> None:
    """Content blocks, structured content and `_meta` are equal."""
    results = []
    for decorate in (tool, lambda fn: fn):
        mcp: FastMCP[Any] = FastMCP("shop")
        mcp.add_middleware(ContractMiddleware())
        mcp.tool(decorate(handler))
        async with Client(mcp) as client:
            results.append(await client.call_tool(handler.__name__))
    contract, plain = results
    assert plain.content == contract.content
    assert plain.structured_content == contract.structured_content
    assert plain.meta == contract.meta


async def test_a_result_marked_as_a_failure_is_one() -> None:
    """As one of the SDK is; like that, it says nothing of its structured content."""
    mcp: FastMCP[Any] = FastMCP("shop", middleware=[ContractMiddleware()])

    @mcp.tool
    @tool
    def broken() -> ToolResult:
        return ToolResult(content="The order 7 was not found.", is_error=True)

    async with Client(mcp) as client:
        assert (await client.list_tools())[0].output_schema is None
        failure = Envelope.from_result(await client.call_tool_mcp("broken", {}))
    assert failure is not None
    assert ("INTERNAL_ERROR", "The order 7 was not found.") == (failure.name, failure.message)
