# message: returns {"Status": "Failed"}
from fastmcp import FastMCP

mcp = FastMCP("x")

@mcp.tool
async def fetch(a: str) -> dict:
    if not a:
        return {"Status": "Failed", "Message": "no a"}  # here
    if a == "1":
        return {"IsError": True, "Content": a}  # here
    try:
        return await load(a)
    except KeyError as e:
        return [{"error": f"no {a}"}]  # here
    except Exception as e:
        return {"STATUS": "Failed", "Instance": a}  # here
    data = await load(a)
    if not data:
        return "Unable to fetch the rows or no rows found."  # here
