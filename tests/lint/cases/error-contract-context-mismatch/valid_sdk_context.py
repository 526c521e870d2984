from mcp.server.mcpserver import Context, MCPServer

server = MCPServer("x")

@server.tool()
def one(ctx: Context) -> str: ...
