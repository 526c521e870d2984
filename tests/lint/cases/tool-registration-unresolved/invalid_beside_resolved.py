import importlib
import os

from fastmcp import FastMCP

mcp = FastMCP("acme")

def known(a: str) -> str:
    """Return a."""
    return a

for run in [known, importlib.import_module(f"acme.tools.{os.environ['NAME']}").run]:
    mcp.add_tool(run)  # here
