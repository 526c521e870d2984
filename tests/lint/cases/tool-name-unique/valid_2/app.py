from mcpcore import Server
server = Server("x")
other = Server("y")
