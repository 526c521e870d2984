import json
from mcp.server.lowlevel import Server
from mcp.types import ImageContent, TextContent

server = Server("x")

async def shoot(arguments: dict) -> dict | str:
    if arguments["mode"] not in load_modes():
        return f"Error: there is no mode {arguments['mode']}"  # here
    return {"type": "image", "data": await capture(arguments["mode"])}

async def fetch(arguments: dict) -> dict | list:
    if not arguments["key"].isalnum():
        return {"error": "the key has other characters"}  # here
    return await rows(arguments["key"])

async def save(arguments: dict) -> dict | str:
    if not await store(arguments):
        return {"success": False, "message": "the disk is full"}  # here
    return "saved"

@server.call_tool()
async def call(name: str, arguments: dict):
    if name == "shoot":
        shot = await shoot(arguments)
        if isinstance(shot, dict) and shot.get("type") == "image":
            return [ImageContent(type="image", data=shot["data"], mimeType="image/png")]
        return [TextContent(type="text", text=shot)]
    if name == "fetch":
        found = await fetch(arguments)
        if isinstance(found, (dict, list)):
            text = json.dumps(found)
        else:
            text = str(found)
        return [TextContent(type="text", text=text)]
    if name == "save":
        saved = await save(arguments)
        if isinstance(saved, dict):
            return [TextContent(type="text", text=json.dumps(saved))]
        return [TextContent(type="text", text=saved)]
    raise ValueError(name)
