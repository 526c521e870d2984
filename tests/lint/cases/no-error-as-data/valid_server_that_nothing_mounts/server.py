from fastmcp import FastMCP

from books import books_router
# from loans import loans_router

mcp = FastMCP("x")
mcp.mount(books_router)
