# message: check_pod returns {"success": False}; the client sees a successful call
from fastmcp import FastMCP

mcp = FastMCP("x")


@mcp.tool
def check_pod(name: str) -> dict:
    """Check a pod."""
    try:
        return {"success": True, "healthy": pods(name).ready}
    except Exception as error:
        return {"success": False, "healthy": False, "error": str(error)}  # here


@mcp.tool
def check_server(url: str) -> dict:
    """Check a server."""
    try:
        return {"connected": bool(connect(url))}
    except OSError as error:
        return {"connected": False, "error": str(error)}


@mcp.tool
def search_health_records(name: str) -> list:
    """Search the records of a person."""
    try:
        return records(name)
    except Exception as error:
        return [{"error": f"Failed to search: {error}"}]  # here
