# message: failed() returns {"error": ...}
import json
from fastmcp import FastMCP
from mcp.types import CallToolResult, TextContent

mcp = FastMCP("x")

def as_text(message: str) -> list[TextContent]:
    return [TextContent(type="text", text=message)]

def dumped(value: object) -> str:
    return json.dumps(value, default=str)

def failed(why: str) -> str:
    answer = {"error": why}
    return dumped(answer)  # here

def of_network(why: str) -> str:
    return failed(f"network: {why}")

def again(why: str) -> str:
    return of_network(f"{why}, try again")

async def late(why: str) -> str:
    return again(why)

def by_hand(why: str) -> CallToolResult:
    return CallToolResult(content=as_text(why), isError=True)

@mcp.tool
async def fetch(a: str) -> str:
    if a == "1":
        return dumped({"success": False, "message": "no"})  # here
    if a == "2":
        return dumped({"success": True, "message": "yes"})
    if a == "3":
        return as_text(f"Error: no {a}")  # here
    if a == "4":
        return again(a)
    if a == "5":
        return await late(a)
    if a == "6":
        return by_hand(a)
    return as_text(a)
