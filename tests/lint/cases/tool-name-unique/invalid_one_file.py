# message: the name 'fetch' is taken
import mcpcore
from fastmcp import FastMCP
from mcpcore import Server, tool

mcp = FastMCP("x")
server = Server("y")
NAME = "fetch"

@mcp.tool
def fetch(id: str) -> str: ...

@mcp.tool(name=NAME)  # here
def fetch_all() -> str: ...

@mcp.tool()
def copy() -> str: ...

@mcp.tool()
def copy() -> str: ...  # here

def read() -> str: ...

server.add_tool(read)
server.add_tool(read, name="read")  # here

@server.tool(name="read")  # here
def another() -> str: ...

def build():
    mcp = FastMCP("z")

    @mcp.tool
    def one() -> str: ...

    if mcp:
        @mcp.tool("one")  # here
        def two() -> str: ...

    return mcp

@tool
def search() -> str: ...

@tool(name="search")
def search_all() -> str: ...

listed = Server("z", tools=[search, search_all])  # here

@listed.tool()
def search() -> str: ...  # here

added = mcpcore.Server("a")
added.add_tool(search_all)

@added.tool(name="search")  # here
def five() -> str: ...
