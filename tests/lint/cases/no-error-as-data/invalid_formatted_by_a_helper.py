# message: the client sees a successful call
import json
from dataclasses import asdict, dataclass

from mcp.server.fastmcp import FastMCP
from mcp.types import TextContent

mcp = FastMCP("x")

def formatted(data):
    if isinstance(data, dict) and data.get("error"):
        text = f"Problem: {data['message']}"
        return [TextContent(type="text", text=text)]
    text = json.dumps(data, indent=2) if isinstance(data, (dict, list)) else str(data)
    return [TextContent(type="text", text=text)]

def counted(data):
    size = len(data)
    return {"size": size, "kind": "page"}

def kind_of(data):
    text = "a page"
    return [TextContent(type="text", text=text)]

@dataclass
class Answer:
    success: bool
    data: str = ""
    problem: str = ""

    def to_text(self):
        return json.dumps(asdict(self), indent=2)

    def title(self):
        return "an answer"

@mcp.tool()
def fetch(q: str):
    """Fetch."""
    try:
        return formatted(open(q).read())
    except OSError as e:
        return formatted({"error": True, "message": str(e)})  # here

@mcp.tool()
def search(q: str):
    """Search."""
    try:
        return Answer(success=True, data=open(q).read()).to_text()
    except OSError as e:
        return Answer(success=False, problem=str(e)).to_text()  # here

@mcp.tool()
def find(q: str):
    """Find."""
    if q:
        return kind_of({"error": True, "message": q})
    return Answer(success=False, problem=q).title()
