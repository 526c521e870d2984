from mcp.server import Server
from mcp.types import TextContent
from pydantic import BaseModel

class Fetch(BaseModel):
    url: str

async def check_allowed(url: str, agent: str) -> None:
    if await robots(url, agent):
        raise ValueError(url)

async def load(url: str, agent: str) -> str:
    return await request(url, agent)

def check(name: str, arguments: dict) -> None:
    if "url" not in arguments:
        raise ValueError(f"{name} needs a url")

async def serve(agent: str):
    server = Server("fetch")

    @server.call_tool()
    async def call_tool(name, arguments: dict) -> list[TextContent]:
        check(name, arguments)
        args = Fetch(**arguments)
        url = str(args.url)
        await check_allowed(url, agent)
        return [TextContent(type="text", text=await load(url, agent))]

    await server.run()
