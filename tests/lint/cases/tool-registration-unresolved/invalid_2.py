# message: no function is found behind `module.run`
import importlib
import os

from fastmcp import FastMCP

mcp = FastMCP("acme")
for name in os.environ["MODULES"].split(","):
    module = importlib.import_module(f"acme.tools.{name}")
    mcp.add_tool(module.run)  # here
