from fastmcp import FastMCP

mcp = FastMCP("x")

def create_response(data=None, error=None):
    if error:
        return {"success": False, "error": error}  # here
    return {"success": True, "data": data}

def respond(data, failed: bool = False):
    return {"error": data} if failed else {"data": data}  # here

@mcp.tool
def first(a: str) -> dict:
    return create_response(error=f"no {a}")

@mcp.tool
def second(a: str, arguments: dict) -> dict:
    return create_response(**arguments)

@mcp.tool
def third(a: str) -> dict:
    return respond(a, failed=True)
