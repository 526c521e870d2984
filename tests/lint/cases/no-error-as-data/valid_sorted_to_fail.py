from mcp.server.lowlevel import Server
from mcp.types import CallToolResult, TextContent

server = Server("x")

async def shoot(arguments: dict) -> dict | str:
    if arguments["mode"] not in load_modes():
        return f"Error: there is no mode {arguments['mode']}"
    return {"data": await capture(arguments["mode"])}

def fetch(arguments: dict) -> dict | str:
    if not arguments["key"].isalnum():
        return "Error: the key has other characters"
    return {"rows": []}

@server.call_tool()
async def call(name: str, arguments: dict):
    if name == "shoot":
        shot = await shoot(arguments)
        if isinstance(shot, str):
            return CallToolResult(content=[TextContent(type="text", text=shot)], isError=True)
        return [TextContent(type="text", text=shot["data"])]
    for _ in range(3):
        answer = fetch(arguments)
        if isinstance(answer, str):
            continue
        return answer
    raise ValueError(name)
