# message: returns {"status": "error"}; the client sees a successful call
from mcp.server.fastmcp import FastMCP

mcp = FastMCP("x")

def answered(status: str, data: dict, message: str | None = None) -> dict:
    if status == "success":
        return {"status": "success", "data": data}
    else:
        answer = {"status": "error", "error": message or "unknown", "data": data}
        return answer  # here

@mcp.tool()
def find(key: str) -> dict:
    """Find."""
    try:
        return answered("success", {"row": load(key)})
    except ValueError:
        return answered(status="error", data={"key": key}, message="It is broken")
