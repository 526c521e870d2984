# message: Could not load
import json

from fastmcp import FastMCP

mcp = FastMCP("x")

@mcp.tool
async def fetch(a: str) -> str:
    try:
        return await load(a)
    except KeyError as exc:
        return "Could not load: " + str(exc)  # here
    except Exception as exc:
        result = {"status": "failed", "details": exc}
        return result  # here

@mcp.tool
async def validate(a: str) -> dict:
    try:
        return {"ok": await load(a)}
    except KeyError:
        return {"ok": False}  # here

@mcp.tool
async def make(a: str, b: list) -> dict:
    if not b:
        return {"status": "validation_failed", "rows": b}
    try:
        return {"status": "made", "rows": await load(a)}
    except KeyError:
        return {"status": "creation_failed", "rows": b}  # here
    except LookupError:
        return {"status": "failed_over", "rows": b}

def shown(value):
    return json.dumps(value, indent=2)

@mcp.tool
async def show(a: str) -> str:
    if not a:
        return shown({"ok": False, "message": "a is missing"})  # here
    return shown({"ok": True, "a": a})

@mcp.resource("x://y")
def read() -> str:
    try:
        return open("y").read()
    except OSError as e:
        return f"Error reading y: {e}"  # here
