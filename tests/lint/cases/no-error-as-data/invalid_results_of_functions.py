# message: found() returns {"error": ...}; the client sees a successful call
import asyncio
import traceback
from fastmcp import FastMCP

mcp = FastMCP("x")

def found(a: str) -> dict:
    return {"rows": [a]} if a else {"error": "no a"}  # here

def slow(a: str) -> dict:
    if not a:
        return {"success": False, "message": "no a"}  # here
    return {"success": True}

def with_time(answer: dict) -> dict:
    answer["at"] = 1
    return answer

@mcp.tool
async def one(a: str) -> dict:
    return with_time({**found(a), "asked": a})

@mcp.tool
async def again(a: str) -> dict:
    answer = load(a)
    answer = with_time(answer)
    answer = with_time(answer)
    return answer

@mcp.tool
async def two(a: str) -> dict:
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(None, slow, a)

@mcp.tool
async def three(a: str) -> dict:
    response = {"success": False, "rows": None}
    if not a:
        response["error"] = "a is missing"
        return response  # here
    response["success"] = True
    return response

@mcp.tool
async def four(a: str) -> str:
    try:
        return await asyncio.wait_for(load(a), 3)
    except Exception:
        return traceback.format_exc()  # here
