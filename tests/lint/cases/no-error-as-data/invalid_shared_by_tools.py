# message: the client sees a successful call (tools: one, two)
import asyncio
import json
from fastmcp import FastMCP

mcp = FastMCP("x")

async def rows_of(a: str) -> dict:
    try:
        return {"rows": await load(a)}
    except Exception as e:
        return {"error": str(e)}  # here

def counted(a: str) -> str:
    if not a:
        return "Error: no table"  # here
    return str(len(a))

class Client:
    async def get(self, a: str) -> dict:
        if not a:
            return {"success": False, "why": "no a"}  # here
        return await self.http(a)

def client() -> Client: ...

async def checked(a: str) -> dict:
    answer = await rows_of(a)
    if "error" in answer:
        raise ValueError(answer["error"])
    return answer

@mcp.tool
async def one(a: str) -> dict:
    return await rows_of(a)

@mcp.tool
async def two(a: str) -> str:
    answer = await rows_of(a)
    return json.dumps(answer)

@mcp.tool
async def three(a: str) -> dict:
    api = client()
    return await api.get(a)

@mcp.tool
async def four(a: str) -> str:
    return await asyncio.to_thread(counted, a)

@mcp.tool
async def five(a: str) -> dict:
    return await checked(a)

@mcp.tool
async def six(a: str) -> dict:
    return await one(a)
