# message: sort() returns {"error": ...}
from enum import StrEnum
from typing import Literal

from fastmcp import FastMCP

mcp = FastMCP("x")

def sort(order: str) -> dict:
    if order == "title":
        return {"by": "title"}
    elif order == "year":
        return {"by": "year"}
    return {"error": f"no such order: {order}"}  # here

def change(operation, title):
    if operation == "lend":
        return {"lent": title}
    return {"error": f"not supported: {operation}"}  # here

def check(level, title):
    level = level + 1
    if level == 1:
        return {"checked": title}
    return {"error": "too high"}  # here

def note(kind, title):
    if kind == "short":
        return {"note": title}
    return {"error": "too long"}  # here

class Size(StrEnum):
    SMALL = "small"
    LARGE = "large"

def pack(size, title):
    if size in (Size.SMALL, Size.LARGE):
        return {"error": "no box"}  # here
    return {"packed": title}

TABLE = {"note": note}

@mcp.tool
def sort_one(order: Literal["title", "year", "author"] = "title") -> dict:
    """Sort."""
    return sort(order)

@mcp.tool
def sort_as(order: Literal["title", "year"] = "title") -> dict:
    """Sort."""
    return sort(order)

@mcp.tool
def lend(title: str) -> dict:
    """Lend."""
    return change("lend", title)

@mcp.tool
def renew(title: str, operation: str) -> dict:
    """Renew."""
    return change(operation, title=title)

@mcp.tool
def check_one(title: str) -> dict:
    """Check."""
    return check(1, title)

@mcp.tool
def note_one(title: str, kind: str) -> dict:
    """Note."""
    if kind == "other":
        return TABLE["note"](kind, title)
    return note("short", title)

@mcp.tool
def pack_one(title: str) -> dict:
    """Pack."""
    return pack("small", title)
