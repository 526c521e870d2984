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

def refused(data: dict) -> dict:
    check(data)
    return data["rows"]

def refusing_each(function):
    def wrapper(data: dict) -> str:
        check(data)
        return function(data)
    return wrapper

@refusing_each
def decorated(data: dict) -> str:
    return json.dumps(data)

def in_turn(data: dict) -> str:
    return next_in_turn(data)

def next_in_turn(data: dict) -> str:
    return asserting(data)

def rebound(data: dict) -> str:
    data = refused(data)
    return json.dumps(data)

def asked(data: dict) -> str:
    answer = data
    fine = check(answer)
    log(fine)
    return json.dumps(answer)

def asserting(data: dict) -> str:
    assert data["success"], data["error"]
    return json.dumps(data)

def guarded(data: dict) -> str:
    with refusing_failures(data):
        return json.dumps(data)

def unanswered(data: dict) -> str:
    if data["success"]:
        return json.dumps(data)
    stop(data["error"])

def marked(data: dict) -> str:
    data["success"] = not check(data)
    return json.dumps(data)

def finally_checked(data: dict) -> str:
    try:
        return json.dumps(data)
    finally:
        check(data)

@mcp.tool()
def show_decorated(shelf: str) -> str:
    """Show the books of a shelf."""
    return decorated(fetch(shelf))

@mcp.tool()
def show_in_turn(shelf: str) -> str:
    """Show the books of a shelf."""
    return in_turn(fetch(shelf))

@mcp.tool()
def show_rebound(shelf: str) -> str:
    """Show the books of a shelf."""
    return rebound(fetch(shelf))

@mcp.tool()
def show_asked(shelf: str) -> str:
    """Show the books of a shelf."""
    return asked(fetch(shelf))

@mcp.tool()
def show_asserting(shelf: str) -> str:
    """Show the books of a shelf."""
    return asserting(fetch(shelf))

@mcp.tool()
def show_guarded(shelf: str) -> str:
    """Show the books of a shelf."""
    return guarded(fetch(shelf))

@mcp.tool()
def show_unanswered(shelf: str) -> str:
    """Show the books of a shelf."""
    return unanswered(fetch(shelf))

@mcp.tool()
def show_marked(shelf: str) -> str:
    """Show the books of a shelf."""
    return marked(fetch(shelf))

@mcp.tool()
def show_finally_checked(shelf: str) -> str:
    """Show the books of a shelf."""
    return finally_checked(fetch(shelf))
