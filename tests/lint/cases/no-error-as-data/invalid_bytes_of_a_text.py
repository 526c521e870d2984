import json
from typing import Any

import requests
from mcp.server.fastmcp import FastMCP

mcp = FastMCP("issues")


async def get_issue(arguments: dict[str, Any]) -> bytes:
    """Get an issue."""
    try:
        return requests.get(arguments["url"], timeout=5).content
    except Exception as e:
        return json.dumps({"error": str(e)}).encode()  # here


mcp.add_tool(get_issue)
