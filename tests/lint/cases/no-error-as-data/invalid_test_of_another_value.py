# message: lend() returns {"error": ...}
from pathlib import Path

from acme import find, shelf_of
from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

mcp = FastMCP("x")

def lend(title, days):
    if not title.isalnum():
        return {"error": "no such title"}  # here
    return {"title": title, "days": days}

@mcp.tool
def lend_one(name: str) -> dict:
    """Lend."""
    if not name.isalnum():
        raise ToolError("give a title of letters and digits")
    name = name + "!"
    return lend(name, 3)

@mcp.tool
def lend_another(name: str) -> dict:
    """Lend."""
    if not name.isalpha():
        raise ToolError("give a title of letters")
    return lend(name, 3)

@mcp.tool
def lend_a_third(name: str) -> dict:
    """Lend."""
    if not name:
        raise ToolError("give a title")
    return lend(name.strip(), 3)

def lend_all(names):
    if not names:
        return {"error": "no names"}  # here
    return {"names": names}

@mcp.tool
def lend_some(names: list[str]) -> dict:
    """Lend."""
    if len(names) > 0:
        raise ToolError("give no name")
    return lend_all(names)

def lend_from(title, shelf):
    if not title.startswith(shelf):
        return {"error": "the title is on another shelf"}  # here
    return {"title": title, "shelf": shelf}

@mcp.tool
def lend_from_a_shelf(name: str, shelf: str) -> dict:
    """Lend."""
    if not name.startswith(shelf):
        raise ToolError("the title is on another shelf")
    return lend_from(name, shelf.upper())

def lend_a_part(title):
    if not title.endswith(" "):
        return {"error": "no part of a title"}  # here
    return {"title": title}

@mcp.tool
def lend_part(name: str) -> dict:
    """Lend."""
    if not name.endswith(" "):
        raise ToolError("give a part of a title")
    return lend_a_part(name.strip())

def read(path):
    if not path.exists():
        return {"error": "no such file"}  # here
    return {"text": path.read_text()}

@mcp.tool
def read_once(name: str) -> dict:
    """Read."""
    path = Path(name)
    if not path.exists():
        raise ToolError("no such file")
    path.unlink()
    return read(path)

def show(book):
    if not book.is_there():
        return {"error": "the book is gone"}  # here
    return {"book": book.title}

@mcp.tool
def show_book(name: str) -> dict:
    """Show."""
    if not find(name).is_there():
        raise ToolError("the book is gone")
    return show(find(name))

def describe(book):
    if not book:
        return {"error": "no book is left"}  # here
    return {"book": book.title}

@mcp.tool
def describe_next(name: str) -> dict:
    """Describe."""
    shelf = shelf_of(name)
    if not shelf.pop():
        raise ToolError("no book is left")
    return describe(shelf.pop())
