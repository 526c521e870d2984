from fastmcp import FastMCP

mcp = FastMCP("x")

class Shelf:
    def find(self, title: str, row: int) -> dict:
        if not title:
            return {"error": "no title"}
        return {"title": title, "row": row}

def lend(title: str) -> dict:
    if title == "atlas":
        return {"error": "not for loan"}
    return {"title": title}

def lend_days(title: str, *, days: int) -> dict:
    if days > 30:
        return {"error": "too long"}
    return {"title": title, "days": days}

def find(shelf: Shelf, title: str, **options) -> dict:
    if title == "atlas":
        return {"error": "not on this shelf"}
    return {"title": title, **options}

def drop(shelf: Shelf, row: int, **options) -> dict:
    if row > 9:
        return {"error": "no such row"}
    return {"row": row, **options}

ACTIONS = {"find": find, "drop": drop}

def act(action: str, **options) -> dict:
    return ACTIONS[action](Shelf(), "all", **options)

@mcp.tool
def lend_one(title: str) -> dict:
    """Lend."""
    return lend(title, 3)

@mcp.tool
def lend_another(title: str) -> dict:
    """Lend."""
    return lend(title, length=3)

@mcp.tool
def lend_long(title: str) -> dict:
    """Lend."""
    return lend_days(title)

@mcp.tool
def find_one(title: str) -> dict:
    """Find."""
    return Shelf().find(title)

@mcp.tool
def act_on(action: str, title: str, row: int) -> dict:
    """Act."""
    return act(action, title=title, row=row)
