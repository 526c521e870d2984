from fastmcp import FastMCP

books_router = FastMCP("books")

@books_router.tool
def find(title: str) -> dict:
    """Find."""
    return {"title": title}
