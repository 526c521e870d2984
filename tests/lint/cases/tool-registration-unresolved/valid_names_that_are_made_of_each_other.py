from fastmcp import FastMCP

mcp = FastMCP("x")


def load():
    left = right.make()
    right = left.make()
    mcp.tool()(left.run)


load()
