from fastmcp import FastMCP

mcp = FastMCP("x")

@mcp.tool
def delete(a: str, confirm: bool = False) -> dict:
    if not confirm:
        return {"success": False, "requires_confirmation": True, "message": f"{a} would be deleted"}
    return {"success": True}
