# message: returns {"status": "error"}
from fastmcp import FastMCP
from mcp.server.fastmcp import FastMCP as ServerOfTheSDK

fast = FastMCP("x")
plain = ServerOfTheSDK("x")

@fast.prompt
def ask(q: str):
    """Ask."""
    if not q:
        return {"status": "error", "message": f"no question about {q}"}  # here
    return q

@plain.prompt()
def tell(q: str):
    """Tell."""
    if not q:
        return {"status": "error", "message": f"no question about {q}"}
    return q
