from mcp.server.lowlevel import Server

server = Server("x")

@server.call_tool()
async def call(name: str, arguments: dict):
    raise ValueError(f"Unknown tool: {name}")
