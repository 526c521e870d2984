"""Migrated servers answer as before on success, and fail with the same words under a contract."""

from __future__ import annotations

import importlib.util
import itertools
import json
import sys
from pathlib import Path
from typing import Any

import fastmcp
import pytest
from mcp import Client

from tests.migrate.migrating import migrated

SDK = '''
import functools
import json
from typing import Annotated, Any, Optional

from mcp.server.mcpserver import Context, MCPServer
from mcp_types import CallToolResult, TextContent
from pydantic import Field

mcp = MCPServer("shop")
ITEMS = {"tea": 3}


@mcp.tool("count", description="Counts.")
async def count_items(item: str, ctx: Context, most: Optional[int] = None) -> dict[str, Any]:
    """Not shown."""
    try:
        if item not in ITEMS:
            raise ValueError(f"There is no item {item}")
        return {"count": ITEMS[item], "ctx": ctx is not None, "most": most}
    except KeyError:
        return {"error": f"Unknown item {item}"}
    except Exception as e:
        raise RuntimeError(f"Wrapped: {e}")


@mcp.tool()
async def wrapped(item: Annotated[str, Field(description="An item.")]) -> dict[str, Any]:
    """Finds an item."""
    if item not in ITEMS:
        raise LookupError("There is no such item")
    return {"item": item}


@mcp.tool()
def text(item: str) -> str:
    """Answers with text."""
    if item not in ITEMS:
        return f"Error: unknown item {item}"
    return item.upper()


@mcp.tool()
def as_json(item: str) -> str:
    """Answers with JSON."""
    if item not in ITEMS:
        return json.dumps({"success": False, "message": "Item is not found", "code": 7})
    return json.dumps({"item": item})


@mcp.tool()
def result(item: str) -> CallToolResult:
    """Answers with a result."""
    if item not in ITEMS:
        return CallToolResult(is_error=True, content=[TextContent(type="text", text=f"Unknown item {item}")])
    return CallToolResult(content=[TextContent(type="text", text=item)])


class Shop:
    def sell(self, item: str, number: int = 1) -> int:
        """Sells."""
        try:
            return ITEMS[item] - number
        except KeyError:
            raise RuntimeError("The item does not exist")

    async def again(self, item: str) -> dict[str, Any]:
        """Calls another tool."""
        return await wrapped(item)


shop = Shop()
mcp.add_tool(shop.sell, name="vend")
mcp.tool()(shop.again)
'''

FASTMCP = '''
from typing import Any

from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError

mcp = FastMCP("notes")
NOTES = {"tea": "hot"}


@mcp.tool
async def count(item: str, ctx: Context) -> dict[str, Any]:
    """Reads."""
    if item not in NOTES:
        raise ToolError(f"There is no item {item}")
    return {"note": NOTES[item], "ctx": ctx is not None}


@mcp.tool(name="text", tags={"a"})
def written(item: str, loud: bool = False) -> str:
    """Writes."""
    try:
        return NOTES[item].upper() if loud else NOTES[item]
    except KeyError:
        return f"Error: unknown item {item}"
'''

_NUMBERS = itertools.count()


def loaded(folder: Path, source: str) -> Any:
    """The module of a source."""
    name = f"migrated_{next(_NUMBERS)}"
    path = folder / f"{name}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _read(text: str) -> Any:
    """A text, or the value of a JSON text: FastMCP and mcpcore use different white space."""
    try:
        return json.loads(text)
    except ValueError:
        return text


async def answers(server: Any, item: str) -> dict[str, tuple[Any, ...]]:
    """The name, the description and the input schema of each tool, and what it answers for an item."""
    behaviour: dict[str, tuple[Any, ...]] = {}
    async with Client(server) if not isinstance(server, fastmcp.FastMCP) else fastmcp.Client(server) as client:
        listed = await client.list_tools()
        for tool in getattr(listed, "tools", listed):
            schema = {key: value for key, value in tool.input_schema.items() if key != "additionalProperties"}
            options = {"raise_on_error": False} if isinstance(client, fastmcp.Client) else {}
            answer = await client.call_tool(tool.name, {"item": item}, **options)
            texts = [_read(block.text) for block in answer.content]
            behaviour[tool.name] = (tool.description, schema, answer.is_error, texts, answer.structured_content)
    return behaviour


@pytest.mark.anyio
@pytest.mark.parametrize("source", [SDK, FASTMCP], ids=["sdk", "fastmcp"])
async def test_a_migrated_server_behaves_as_before(source: str, tmp_path: Path) -> None:
    """Names, descriptions, input schemas and successes stay; each failure is marked and keeps its words."""
    before = loaded(tmp_path, source).mcp
    after = loaded(tmp_path, migrated(tmp_path / "project", source)).mcp
    assert await answers(before, "tea") == await answers(after, "tea")
    old, new = await answers(before, "milk"), await answers(after, "milk")
    assert old.keys() == new.keys()
    words = {
        "count": "There is no item milk",
        "wrapped": "There is no such item",
        "again": "There is no such item",
        "text": "unknown item milk",
        "as_json": "Item is not found",
        "result": "Unknown item milk",
        "vend": "The item does not exist",
    }
    for name, (description, schema, is_error, texts, structured) in new.items():
        assert (description, schema) == old[name][:2]
        assert is_error
        assert words[name] == structured["error"]["message"]
        assert structured["error"]["data"]["reason"] in texts[0]


@pytest.mark.anyio
async def test_functions_of_tools_can_still_be_called(tmp_path: Path) -> None:
    """Tests that call the function of a tool with its own arguments go on to work."""
    module = loaded(tmp_path, migrated(tmp_path / "project", SDK))
    assert module.text("tea") == "TEA"
    assert module.text(item="tea") == "TEA"
    assert module.shop.sell("tea", 2) == 1
    assert await module.count_items("tea", None, most=2) == {"count": 3, "ctx": False, "most": 2}
    assert await module.shop.again("tea") == {"item": "tea"}


RAISING = """
class OrderError(Exception):
    '''Raised when the order is too long.'''


class OrderLocked(OrderError):
    pass


def looked_up(item: str) -> str:
    if item == "locked":
        raise OrderLocked(item)
    if item == "bad":
        raise OrderError("It is too long")
    if item == "open":
        open("/no such file")
    if item == "milk":
        raise OSError(item)
    return item


@mcp.tool()
async def sold(item: str) -> str:
    '''Sells.'''
    try:
        return looked_up(item)
    except OrderLocked as e:
        raise ToolError(f"{type(e).__name__} says it is taken: {e}")
    except OrderError as e:
        raise ToolError(str(e)) from e
    except FileNotFoundError:
        raise ToolError("There is no file")
    except OSError as error:
        raise ToolError(f"The disk is too long: {error}")


@mcp.tool()
async def sold_again(item: str) -> str:
    '''Sells through the other tool.'''
    return await sold(item)
"""
HEADS = {
    "sdk": "from mcp.server.mcpserver import MCPServer\nfrom mcp.server.mcpserver.exceptions import ToolError\n\nmcp = MCPServer('x')\n",
    "fastmcp": "from fastmcp import FastMCP\nfrom fastmcp.exceptions import ToolError\n\nmcp = FastMCP('x')\n",
}


@pytest.mark.anyio
@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS.keys())
async def test_clauses_fail_with_the_same_words(head: str, tmp_path: Path) -> None:
    """Each clause stays, with a failure mode or with its ToolError, for tools that call the tool too."""
    text = migrated(tmp_path / "project", head + RAISING)
    assert 'raise ctx.fail("there_is_no_file", "There is no file") from exc' in text
    assert "raise ToolError(str(e)) from e" in text
    before, after = (loaded(tmp_path, source).mcp for source in (head + RAISING, text))
    assert await answers(before, "tea") == await answers(after, "tea")
    words = {
        "locked": "OrderLocked says it is taken: locked",
        "bad": "It is too long",
        "open": "There is no file",
        "milk": "The disk is too long: milk",
    }
    for item, message in words.items():
        old, new = await answers(before, item), await answers(after, item)
        for name, (_, _, is_error, texts, structured) in new.items():
            assert is_error
            assert old[name][3][0].endswith(message)
            assert message == structured["error"]["message"]
            assert message in texts[0]
