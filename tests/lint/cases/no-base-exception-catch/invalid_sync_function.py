# message: a bare `except` in fetch swallows KeyboardInterrupt and SystemExit
import json
from fastmcp import FastMCP

mcp = FastMCP("x")

@mcp.tool
def fetch(a: str) -> dict:
    try:
        return json.loads(a)
    except:  # here
        return {"text": a}
