from fastmcp import FastMCP

loans_router = FastMCP("loans")

@loans_router.tool
def lend(title: str) -> dict:
    """Lend."""
    return {"error": f"no {title}"}
