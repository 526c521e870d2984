import logging
import sys
from fastmcp import FastMCP

mcp = FastMCP("x")
logging.basicConfig(stream=sys.stderr)
logging.basicConfig(handlers=[logging.StreamHandler()])

@mcp.tool
def fetch(a: str) -> str:
    return a

if __name__ == "__main__":
    mcp.run()
