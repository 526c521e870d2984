# message: guarded() returns Refusal(error=...) for every exception of the tools that it wraps
import json
from dataclasses import asdict, dataclass
from functools import wraps

from mcp.server.fastmcp import FastMCP
from mcp.types import TextContent

mcp = FastMCP("x")

@dataclass
class Refusal:
    error: str
    message: str
    hint: str | None = None

def as_dict(refusal: Refusal) -> dict:
    return asdict(refusal)

def guarded(func):
    @wraps(func)
    def wrapper(*args, **kwargs):
        try:
            return func(*args, **kwargs)
        except Exception as error:
            return as_dict(Refusal(error="unknown", message=str(error)))  # here
    return wrapper

@mcp.tool()
@guarded
def count(shelf: str) -> dict:
    """Count the books of a shelf."""
    return {"count": len(read(shelf))}

def describe(error: Exception, context: str, tool: str) -> str:
    result = f"{headline(str(error))}\n\n"
    result += f"**Details:** {error}\n"
    if context:
        result += f"**Context:** {context}\n"
    return result

def explain(error, context: str, tool: str = "") -> str:
    if isinstance(error, ConnectionError):
        return describe(error, f"Offline. {context}", tool)
    return describe(error, context, tool)

@mcp.tool()
def find(shelf: str) -> list[TextContent]:
    """Find the books of a shelf."""
    try:
        return [TextContent(type="text", text=read(shelf))]
    except OSError as error:
        text = explain(error, "while reading", "find")
        return [TextContent(type="text", text=text)]  # here
