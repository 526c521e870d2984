from pydoc import locate

from fastmcp import FastMCP

import server

__all__ = ["mcp"]

mcp = FastMCP("shop")
getattr(server, "add_orders")(mcp)
for path in ["server.add_bills"]:
    locate(path)(mcp)
