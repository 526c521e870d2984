# message: the errors of one is None
from mcpcore import Server, tool

server = Server("x")

@tool(errors=None)  # here
def one() -> str: ...

@server.tool(errors=None)
def two() -> str: ...
