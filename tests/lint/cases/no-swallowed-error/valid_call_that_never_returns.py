from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

mcp = FastMCP("x")

class Console:
    def log(self, error):
        raise ToolError(f"it failed: {type(error).__name__}")

console = Console()

@mcp.tool
def fetch(a: str) -> str:
    try:
        a = open(a).read()
    except Exception as error:
        console.log(error)
    return a
