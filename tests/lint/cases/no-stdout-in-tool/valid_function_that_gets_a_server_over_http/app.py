from fastapi import FastAPI
from fastmcp import FastMCP

from server import add_tools

orders = FastMCP("orders")
add_tools(orders)
inner = orders.http_app(path="/")
app = FastAPI(lifespan=inner.lifespan)
app.mount("/mcp", inner)
