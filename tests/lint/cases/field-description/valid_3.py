from datetime import date
from enum import Enum
from typing import Literal, Optional, TypedDict

from fastmcp import FastMCP
from mcp.server.mcpserver import Context, MCPServer
from pydantic import BaseModel

mcp = FastMCP("x")
sdk = MCPServer("x")
Side = Literal["buy", "sell"]

class Mood(Enum):
    GOOD = "good"

class Shape(TypedDict):
    width: int

class Order(BaseModel):
    amount: int

@mcp.tool
def trade(side: Side, mood: Mood | None, shape: Shape, order: Order, when: date, is_final: bool) -> str:
    """Trade."""

@mcp.tool
def add(a: int, b: int) -> int:
    """Add two numbers."""

@mcp.tool
def add_three(x: float, y: float, z: float) -> float: ...

@sdk.tool()
def greet(name: str, ctx: Context) -> str: ...

@sdk.tool()
def weather(city: str, days: int, units: str = "metric") -> str:
    """Tell the weather."""

@sdk.tool()
def search(query: str, limit: int) -> str: ...

@sdk.tool()
def resize(image_path: str, tags: Optional[list[str]]) -> str:
    """Resize an image, and tag it."""

@sdk.tool()
def remove_note(note_id: str) -> str: ...

@sdk.tool()
def translate(text: str, target_language: str) -> str:
    """Translate text to the target language."""

@sdk.tool()
def refund(amount: int) -> str:
    """Refund an amount, in cents."""

@sdk.tool()
def switch(light_name: str, state: bool) -> str:
    """Turn a light on (true) or off (false)."""

@sdk.tool()
def rename(binary_name: str, function_name_or_address: str, variable_name: str, new_name: str) -> str:
    """Rename a variable in a function."""

@sdk.tool()
def loose(self, _: str) -> str:
    """Give what is there."""
