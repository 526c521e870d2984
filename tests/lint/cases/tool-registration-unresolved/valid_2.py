from fastmcp import FastMCP
from importlib.metadata import entry_points
from langchain_adapters import to_fastmcp

mcp = FastMCP("acme")
for point in entry_points(group="acme.plugins"):
    mcp.add_tool(point.load())
for each in load_tools():
    mcp.add_tool(to_fastmcp(each))

def register(server: FastMCP, fn) -> None:
    server.add_tool(fn)

async def copy(other) -> None:
    for tool in await other.list_tools():
        mcp.add_tool(tool)
