# message: basicConfig(sys.stdout) writes every line of the log to standard output
import logging
import sys
from fastmcp import FastMCP

mcp = FastMCP("x")
logging.basicConfig(level=logging.INFO, stream=sys.stdout)  # here
handler = logging.StreamHandler(sys.stdout)  # here
other = logging.StreamHandler(sys.stderr)

def configure() -> None:
    logging.getLogger().addHandler(logging.StreamHandler(stream=sys.stdout))  # here

@mcp.tool
def fetch(a: str) -> str:
    return a
