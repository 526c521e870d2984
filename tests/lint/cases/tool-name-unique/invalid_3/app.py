from mcpcore import Server
server = Server("x")
@server.tool(name="fetch")
def first() -> str: ...
