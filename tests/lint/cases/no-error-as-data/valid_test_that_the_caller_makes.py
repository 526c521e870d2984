from pathlib import Path

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

mcp = FastMCP("x")

def lend(title, days):
    if not title or not title.replace("-", "").isalnum():
        return {"error": "no such title"}
    return checked(title, days=days)

def checked(book, days):
    if not book.replace("-", "").isalnum():
        return {"error": "no such book"}
    return {"book": book, "days": days}

@mcp.tool
def lend_one(name: str) -> dict:
    """Lend."""
    if not name or not name.replace("-", "").isalnum():
        raise ToolError("give a title of letters and digits")
    return lend(name, 3)

class Library:
    def bring(self, title):
        if not title or not title.strip():
            return {"error": "no title"}
        return {"title": title}

library = Library()

@mcp.tool
def bring(name: str) -> dict:
    """Bring a book back."""
    if not name or not name.strip():
        raise ToolError("give a title")
    return library.bring(name.strip())

def lend_all(names):
    if not names:
        return {"error": "no names"}
    return {"names": names}

@mcp.tool
def lend_some(names: list[str]) -> dict:
    """Lend."""
    if len(names) == 0:
        raise ToolError("give a name")
    return lend_all(names)

@mcp.tool
def lend_more(names: list[str]) -> dict:
    """Lend."""
    if len(names) > 0 and names[0]:
        return lend_all(names=names)
    raise ToolError("give a name")

def keep(title):
    if not title:
        return {"error": "no title"}
    return {"title": title}

@mcp.tool
def keep_one(name: str) -> dict:
    """Keep."""
    if not name.strip():
        raise ToolError("give a title")
    return keep(name)

@mcp.tool
def bring_one(name: str) -> dict:
    """Bring."""
    if not name.strip():
        raise ToolError("give a title")
    return library.bring(title=name)

def read(path):
    if not path.exists():
        return {"error": "no such file"}
    return {"text": path.read_text()}

@mcp.tool
def read_file(name: str) -> dict:
    """Read."""
    path = Path(name)
    if not path.exists():
        raise ToolError("no such file")
    return read(path)
