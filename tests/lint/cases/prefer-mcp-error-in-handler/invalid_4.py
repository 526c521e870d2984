# message: fetch raises ValueError, whose text FastMCP sends
from fastmcp import FastMCP

mcp = FastMCP("x")

@mcp.tool
def fetch(pmid: str) -> str:
    if (error := ValueError(pmid)) and pmid:  # here
        raise error
    return pmid

@mcp.resource("x://{name}")
def read(name: str) -> str:
    raise FileNotFoundError(name)  # here
