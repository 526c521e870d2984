# message: limited() returns {"error": ...} instead of calling the tools that it wraps
import functools
from fastmcp import FastMCP

mcp = FastMCP("x")
calls = {}

def limited(func):
    @functools.wraps(func)
    async def wrapper(*args, **kwargs):
        if len(calls) > 10:
            return {"error": "too many calls, try again later"}  # here
        return await func(*args, **kwargs)
    return wrapper

def logged(func):
    @functools.wraps(func)
    async def wrapper(*args, **kwargs):
        answer = await func(*args, **kwargs)
        if answer is None:
            raise ValueError("no answer")
        print(answer)
        return answer
    return wrapper

@mcp.tool
@limited
async def fetch(a: str) -> dict:
    return {"a": a}

@mcp.tool
@logged
async def kept(a: str) -> dict:
    return {"error": f"no {a}"}  # here
