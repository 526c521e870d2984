import server
from fastmcp import FastMCP

mcp = FastMCP("shop")
for part in ("orders", "bills"):
    getattr(server, f"add_{part}")(mcp)
