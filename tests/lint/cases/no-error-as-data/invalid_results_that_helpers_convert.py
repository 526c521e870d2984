# message: fetch() returns {"success": False}
import json
from dataclasses import asdict, dataclass

import httpx
from mcp.server.fastmcp import FastMCP
from mcp.types import TextContent

mcp = FastMCP("x")

@dataclass
class Page:
    success: bool
    text: str = ""
    error: str | None = None

    def to_dict(self) -> dict:
        return asdict(self)

def fetch(shelf: str) -> dict:
    try:
        return httpx.get(shelf).json()
    except httpx.HTTPError as error:
        return {"success": False, "error": str(error)}  # here

def fetch_page(shelf: str) -> Page:
    try:
        return Page(success=True, text=httpx.get(shelf).text)
    except httpx.HTTPError as error:
        return Page(success=False, error=str(error))  # here

def as_text(data, indent: int | None = None) -> str:
    if indent is None:
        return json.dumps(data)
    return json.dumps(data, indent=indent)

class Library:
    def content(self, answer) -> list[TextContent]:
        table = answer.to_dict()
        return [TextContent(type="text", text=as_text(table, indent=2))]

library = Library()

@mcp.tool()
def count(shelf: str) -> str:
    """Count the books of a shelf."""
    return as_text(fetch(shelf))

@mcp.tool()
def find(shelf: str) -> list[TextContent]:
    """Find the books of a shelf."""
    answer = fetch_page(shelf)
    return library.content(answer)

def plainly(data, *, indent: int = 2) -> str:
    if hasattr(data, "to_dict"):
        data = data.to_dict()
    text = json.dumps(data, indent=indent)
    return text

def fetch_all(shelf: str) -> dict:
    try:
        return httpx.get(shelf).json()
    except httpx.HTTPError as error:
        return {"success": False, "error": str(error)}  # here

@mcp.tool()
def show(shelf: str) -> str:
    """Show the books of a shelf."""
    return plainly(data=fetch_all(shelf), indent=4)
