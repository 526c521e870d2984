# message: the client sees a successful call
import json
from typing import cast

from acme import build
from fastmcp import FastMCP
from mcp.types import TextContent

mcp = FastMCP("x")

class Library:
    def install(self):
        @mcp.tool
        def fetch(q: str):
            """Fetch."""
            if q:
                return self._text({"error": q})  # here
            return self._text({"page": q})

        @mcp.tool
        def search(q: str):
            """Search."""
            if q:
                return self._named({"success": False, "problem": q}, "search")  # here
            return self._named({"success": True}, "search")

        @mcp.tool
        def find(q: str):
            """Find."""
            if q:
                return self._answer(False, problem=q)
            return self._answer(True, page=q)

        @mcp.tool
        def refuse(q: str):
            """Refuse."""
            return self._checked({"error": q})

    def _text(self, data):
        return [TextContent(type="text", text=json.dumps(data))]

    def _named(self, data, tool):
        return json.dumps({**data, "tool": tool})

    def _answer(self, ok, page=None, problem=None):
        answer = {"ok": ok}
        if page is not None:
            answer["page"] = page
        if problem is not None:
            answer["problem"] = problem
        return answer  # here

    def _checked(self, data):
        if "error" in data:
            raise ValueError(data["error"])
        return data

Library().install()

class Shop:
    def find(self, title):
        if len(title) < 3:
            return {"error": "the title is too short"}  # here
        return {"title": title}

def shop():
    return cast(Shop, build())

@mcp.tool
def find(title: str) -> dict:
    """Find."""
    return shop().find(title)
