from fastmcp import Context, FastMCP

mcp = FastMCP("x")

@mcp.tool
async def delete(ctx: Context, a: str) -> dict:
    asked = await ctx.elicit("Really?")
    if asked.action == "cancel":
        return {"success": False, "message": f"Deletion of {a!r} was cancelled."}
    if asked.action == "decline":
        return {"success": False, "status": "declined"}
    return {"success": True}
