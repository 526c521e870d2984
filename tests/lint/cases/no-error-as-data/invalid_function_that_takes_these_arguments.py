# message: take() returns {"error": ...}
import functools

from fastmcp import FastMCP

mcp = FastMCP("x")

class Shelf:
    def take(self, title: str, row: int) -> dict:
        if not title:
            return {"error": "no title"}  # here
        return {"title": title, "row": row}

    @classmethod
    def sweep(cls, row: int) -> dict:
        if row > 9:
            return {"error": "no row to sweep"}  # here
        return {"row": row}

    def _count(self, row: int) -> dict:
        if row > 8:
            return {"error": "no row to count"}  # here
        return {"row": row}

    count = _count

def with_days(function):
    def wrapper(*args):
        return function(*args, 3)
    return wrapper

@with_days
def lend(title: str, days: int) -> dict:
    if title == "atlas":
        return {"error": "not for loan"}  # here
    return {"title": title, "days": days}

def renew(title: str, days: int) -> dict:
    if days > 30:
        return {"error": "too long"}  # here
    return {"title": title, "days": days}

def find(shelf: Shelf, title: str, **options) -> dict:
    if title == "atlas":
        return {"error": "not on this shelf"}  # here
    return {"title": title, **options}

def drop(shelf: Shelf, row: int, title: str, **options) -> dict:
    if row > 9:
        return {"error": "no such row"}  # here
    return {"row": row, **options}

def order(title: str, **options) -> dict:
    options |= {"days": 3}
    return lend_days(title, **options)

def lend_days(title: str, *, copies: int, days: int) -> dict:
    if days > copies:
        return {"error": "too few copies"}  # here
    return {"title": title}

ACTIONS = {"find": find, "drop": drop}

def act(action: str, **options) -> dict:
    options.setdefault("row", 1)
    return ACTIONS[action](Shelf(), **options)

@mcp.tool
def lend_one(title: str) -> dict:
    """Lend."""
    return lend(title)

@mcp.tool
def renew_one(title: str) -> dict:
    """Lend."""
    run = functools.partial(renew, title)
    return run(days=3)

@mcp.tool
def take_one(title: str) -> dict:
    """Find."""
    return Shelf.take(Shelf(), title, 2)

@mcp.tool
def act_on(action: str, title: str) -> dict:
    """Act."""
    return act(action, title=title)

@mcp.tool
def sweep_one(row: int) -> dict:
    """Sweep."""
    run = Shelf.sweep
    return run(row)

@mcp.tool
def count_one(row: int) -> dict:
    """Count."""
    return Shelf().count(row)

@mcp.tool
def order_one(title: str) -> dict:
    """Order."""
    return order(title, copies=1)
