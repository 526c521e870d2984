# message: call_other returns
import json

from mcp.server import Server
from mcp.types import TextContent

class Host:
    def __init__(self):
        self.server = Server("x")
        self.other = Server("y")

    def register(self):
        @self.server.call_tool()
        async def call_tool(name: str, arguments: dict):
            try:
                if name == "count":
                    return await self.count(arguments)
                raise ValueError(name)
            except Exception as error:
                return [TextContent(type="text", text=f"Error: {error}")]

        @self.other.call_tool()
        async def call_other(name: str, arguments: dict):
            try:
                if name == "find":
                    return [TextContent(type="text", text=find(arguments))]
                raise ValueError(name)
            except Exception as error:
                return [TextContent(type="text", text=f"Error: {error}")]  # here

    async def count(self, arguments):
        if not arguments:
            return {"error": "nothing to count"}  # here
        return {"count": len(arguments)}

    async def answer(self, message):
        if message["method"] == "initialize":
            return self.server.get_capabilities(None, {})
        if message["method"] == "tools/call":
            return {"content": json.dumps(await self.count(message["params"]["arguments"]))}
        return await self.other._call_tool_handler(message["params"])
