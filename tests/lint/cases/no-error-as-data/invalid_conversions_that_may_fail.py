# message: returns {"error": ...}
from fastmcp import FastMCP

mcp = FastMCP("x")

@mcp.tool
def find(shelf: int | None, row: str, limit: int | str = 10) -> dict:
    """Find books on a shelf."""
    conditions = []
    if shelf is not None:
        try:
            number = int(shelf)
        except (TypeError, ValueError):
            return {"error": "the shelf must be a number"}
        conditions.append(f"shelf = {number}")
    try:
        conditions.append(f"row = {int(row)}")
    except ValueError:
        return {"error": "the row must be a number"}  # here
    try:
        limit = int(limit)
    except ValueError:
        return {"error": "the limit must be a number"}  # here
    try:
        known = int(shelf)
    except TypeError:
        return {"error": "no shelf"}  # here
    try:
        load(conditions).append(int(shelf))
    except ValueError:
        return {"error": "no books"}  # here
    return {"books": load(conditions, limit, known)}

@mcp.tool
def find_between(limit: int, ends: list[int]) -> dict:
    """Find the books between two shelves."""
    try:
        limit = int(limit)
        first, last = ends
    except ValueError:
        return {"error": "name two shelves"}  # here
    return {"books": load(first, last, limit)}
