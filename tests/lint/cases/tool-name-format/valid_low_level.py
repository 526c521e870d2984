from mcp.server.lowlevel import Server

server = Server("x y")

@server.call_tool()
async def call(name, arguments): ...
