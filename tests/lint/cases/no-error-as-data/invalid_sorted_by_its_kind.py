import json
import httpx
from fastmcp import FastMCP
from mcp.server.lowlevel import Server
from mcp.types import ImageContent, TextContent

mcp = FastMCP("x")
server = Server("x")

def shoot(mode: str) -> dict | str:
    if mode not in load_modes():
        return f"Error: there is no mode {mode}"  # here
    return {"type": "image"}

@mcp.tool
def shot(mode: str):
    answer = shoot(mode)
    if isinstance(answer, dict):
        return json.dumps(answer)
    return answer

def fetch(key: str) -> dict | list:
    if not key.isalnum():
        return {"error": "the key has other characters"}  # here
    return rows(key)

@mcp.tool
def fetched(key: str):
    answer = fetch(key)
    if isinstance(answer, (dict, list)):
        text = json.dumps(answer)
    else:
        text = str(answer)
    return text

async def save(client: httpx.AsyncClient, name: str, args: dict) -> str | dict:
    if name == "save":
        if not await store(args["key"]):
            return "Error: the disk is full"  # here
        return {"type": "image", "data": "abc"}
    return "saved"

@server.call_tool()
async def call(name: str, arguments: dict):
    async with httpx.AsyncClient() as client:
        answer = await save(client, name, arguments)
        if isinstance(answer, dict) and answer.get("type") == "image":
            return [ImageContent(type="image", data=answer["data"], mimeType="image/png")]
        return [TextContent(type="text", text=answer)]
