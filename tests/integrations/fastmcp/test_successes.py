"""A contract changes nothing of a success: the result of a tool is the one that FastMCP gives without the contract."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from fastmcp import Client, FastMCP
from fastmcp.utilities.types import File, Image
from mcp_types import TextContent
from pydantic import BaseModel

from mcpcore import tool
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
