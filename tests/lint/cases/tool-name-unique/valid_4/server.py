from mcp.server.lowlevel import Server
import handlers

server = Server("x")

class Tools:
    async def handle_fetch(self, arguments):
        return await handlers.handle_fetch(self, arguments)

tools = Tools()

@server.call_tool()
async def call(name: str, arguments: dict):
    if name == "fetch":
        return await tools.handle_fetch(arguments)
    return await handlers.call(name, arguments)
