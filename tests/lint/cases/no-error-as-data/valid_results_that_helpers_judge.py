import json

import httpx
from mcp.server.fastmcp import FastMCP

mcp = FastMCP("x")

def fetch(shelf: str) -> dict:
    try:
        return httpx.get(shelf).json()
    except httpx.HTTPError as error:
        return {"success": False, "error": str(error)}

def refusing(data: dict) -> str:
    if not data["success"]:
        raise ValueError(data["error"])
    return json.dumps(data)

def check(data: dict) -> None:
    if not data["success"]:
        raise ValueError(data["error"])

def checked(data: dict) -> str:
    check(data)
    return json.dumps(data)

def rows(data: dict) -> str:
    if "rows" in data:
        return json.dumps(data)
    return "no rows"

def around(data: dict) -> str:
    while data:
        first = last
        last = first
    return json.dumps(first)

@mcp.tool()
def walk(shelf: str) -> str:
    """Walk along the books of a shelf."""
    return around(fetch(shelf))

@mcp.tool()
def count(shelf: str) -> str:
    """Count the books of a shelf."""
    return refusing(fetch(shelf))

@mcp.tool()
def find(shelf: str) -> str:
    """Find the books of a shelf."""
    answer = fetch(shelf)
    return checked(answer)

@mcp.tool()
def show(shelf: str) -> str:
    """Show the books of a shelf."""
    return rows(fetch(shelf))
