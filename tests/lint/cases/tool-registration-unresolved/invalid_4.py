# message: no function is found behind `each`
from fastmcp import FastMCP

mcp = FastMCP("acme")
COMMANDS = []

def command(fn):
    COMMANDS.append(wrap(fn))
    return fn

for each in COMMANDS:
    mcp.add_tool(each)  # here
