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
def show(shelf: str, form: str) -> str:
    """Show."""
    if form == "around":
        return around(fetch(shelf))
    if form == "refusing":
        return refusing(fetch(shelf))
    if form == "rows":
        return rows(fetch(shelf))
    if form == "decorated":
        return decorated(fetch(shelf))
    if form == "in_turn":
        return in_turn(fetch(shelf))
    if form == "rebound":
        return rebound(fetch(shelf))
    if form == "asked":
        return asked(fetch(shelf))
    if form == "asserting":
        return asserting(fetch(shelf))
    if form == "guarded":
        return guarded(fetch(shelf))
    if form == "unanswered":
        return unanswered(fetch(shelf))
    if form == "marked":
        return marked(fetch(shelf))
    if form == "finally_checked":
        return finally_checked(fetch(shelf))
    answer = fetch(shelf)
    return checked(answer)
