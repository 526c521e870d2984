from fastmcp import FastMCP

from server import add_tools

orders = FastMCP("orders")
add_tools(orders)
app = orders.http_app(path="/mcp")
