# message: swallows every exception
from mcp.server.fastmcp import FastMCP

mcp = FastMCP("x")

class Tools:
    @mcp.tool()
    def fetch(self, a: str) -> str:
        try:
            open(a)
        except* Exception as group:  # here
            if a:
                print(group)
        return "done"
