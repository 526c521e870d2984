from mcp.server.lowlevel import Server

class Plugins:
    async def run(self, tool, values):
        return await self.load(tool)(**values)

    async def handle(self, payload):
        return await self.load(payload["tool"])(**payload["values"])

    def load(self, tool):
        return __import__(tool).main

plugins = Plugins()

async def call(ctx, params):
    values = dict(params.arguments or {})
    return await plugins.run(params.name, values)

library = Server("library", on_call_tool=call)  # here
archive = Server("archive")

@archive.call_tool()  # here
async def call_tool(name: str, arguments: dict):
    payload = {"tool": name, "values": arguments}
    return await plugins.handle(payload)
