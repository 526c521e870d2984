# message: lacking() returns the text "Error:..."; the client sees a successful call
import json
from fastmcp import FastMCP

mcp = FastMCP("x")

def lacking(action: str, **given: object) -> str | None:
    names = [each for each, value in given.items() if not value]
    return f"Error: {action} needs {names}" if names else None  # here

def resolve(a: str):
    if not a:
        return None, json.dumps({"error": "no a"})  # here
    return {"id": a}, None

def resolved(a: str):
    row, error = resolve(a)
    if error:
        return None, error
    return row, None

async def check(a: str) -> dict | None:
    if a.isdigit():
        return {"status": "error", "reason": "a number"}  # here

@mcp.tool
async def fetch(action: str, a: str) -> str:
    if error := lacking(action, a=a):
        return error
    row, error2 = resolved(a)
    if error2:
        return error2
    wrong = await check(a)
    if wrong is not None:
        return wrong
    return json.dumps(row)
