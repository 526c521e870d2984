# message: assigned returns {"error": ...}
import json
from fastmcp import FastMCP
from mcp.types import TextContent

mcp = FastMCP("x")

@mcp.tool
async def assigned(a: str) -> dict:
    result = {}
    try:
        result["rows"] = await load(a)
    except Exception as e:
        result["error"] = str(e)  # here
    return result

@mcp.tool
async def replaced(a: str) -> str:
    try:
        out = await load(a)
    except Exception as e:
        out = {"error": str(e)}
    return json.dumps(out)  # here

@mcp.tool
async def joined(a: str) -> list:
    try:
        return await load(a)
    except Exception as e:
        return [TextContent(type="text", text=json.dumps({"error": str(e)}) + suffix())]  # here

@mcp.tool
async def asked(a: str) -> dict:
    error = None
    try:
        found = await load(a)
    except Exception as e:
        error = str(e)
    return {"error": found["message"]}  # here

@mcp.tool
async def partly(a: str) -> dict:
    report = {}
    try:
        report["disk"] = await disk(a)
    except Exception as e:
        report["error"] = str(e)
    try:
        report["memory"] = await memory(a)
    except Exception as e:
        report["error"] = str(e)
    return report

@mcp.tool
async def updated(a: str) -> str:
    result = {"success": True}
    try:
        result["rows"] = await load(a)
    except Exception as e:
        result.update({"success": False, "message": str(e)})  # here
    return json.dumps(result)
