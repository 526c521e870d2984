from mcp.types import CallToolResult
from mcpcore import tool

@tool
def fetch(a: str):
    return CallToolResult(content=[], is_error=False)

def service(a):
    return {"error": a}
