# message: the tool name 'search articles' contains ' '
from elsewhere import KIND
from fastmcp import FastMCP
from mcp.server.mcpserver import MCPServer
from mcpcore import Server, tool

mcp = FastMCP("x")
sdk = MCPServer("x")
server = Server("x")
NAME = "get/article"

@tool(name="search articles")  # here
def one() -> str: ...

@server.tool(name=NAME)  # here
def two() -> str: ...

@mcp.tool("größe")  # here
def three() -> str: ...

@sdk.tool(name="")  # here
def four() -> str: ...

@tool
def größe() -> str: ...  # here

@tool(name=f"get {KIND}")  # here
def five() -> str: ...

@tool(name="a" if KIND else "b!")  # here
def six() -> str: ...

def seven() -> str: ...

sdk.add_tool(seven, name="se ven")  # here
server.add_tool(seven, **{"name": "a:b"})  # here

@tool(name="line\n")  # here
def eight() -> str: ...

@mcp.tool(
    description="x",
    name="a,b",  # here
)
def nine() -> str: ...

sdk.add_tool(lambda x: x)  # here

@tool(name="xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx")  # here

def ten() -> str: ...
