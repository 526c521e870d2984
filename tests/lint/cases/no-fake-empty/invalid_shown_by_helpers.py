# message: returns an empty list
import json
from mcp.types import TextContent
from mcpcore import tool

def as_text(value):
    return [TextContent(type="text", text=json.dumps(value))]

@tool
async def one(a: str) -> list[TextContent]:
    try:
        rows = await load(a)
    except Exception:
        rows = []  # here
    return as_text(rows)

@tool
async def two(a: str) -> dict:
    try:
        rows = await load(a)
    except ConnectionError:
        rows = []  # here
    return {"rows": rows, "count": len(rows)}

@tool
async def three(a: str) -> dict:
    warning = None
    try:
        rows = await load(a)
    except Exception:
        rows = []
        warning = "the database does not answer"
    return {"rows": rows, "warning": warning}

@tool
async def four(a: str) -> dict:
    try:
        rows = await load(a)
    except Exception:
        rows = []
    return merged(rows, a)
