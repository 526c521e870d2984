# message: no function is found behind
import os
import sys

from mcp.server.fastmcp import FastMCP

server = FastMCP("acme")
server.tool()(getattr(sys.modules[__name__], os.environ["TOOL"]))  # here
