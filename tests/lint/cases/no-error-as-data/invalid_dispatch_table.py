# message: too_late() returns {"_success": False}; the client sees a successful call
from fastmcp import FastMCP
from fastmcp.tools.tool import ToolResult

mcp = FastMCP("x")

def get_one(a: str) -> dict:
    try:
        return {"_success": True, "row": load(a)}
    except TimeoutError as e:
        return too_late(e)

def too_late(e: TimeoutError) -> dict:
    return {"_success": False, "error_code": "TOO_LATE", "seconds": e.seconds}  # here

def delete_one(a: str) -> dict:
    if not a:
        return {"_success": False, "hint": "give a"}  # here
    return {"_success": True}

ACTIONS = {"get": get_one, "delete": delete_one}

@mcp.tool
def manage(action: str, a: str) -> dict:
    run = ACTIONS.get(action)
    if run is None:
        raise ValueError(action)
    return run(a)

@mcp.tool
def structured(a: str) -> ToolResult:
    if not a:
        return ToolResult(content="no a", structured_content={"success": False, "message": "no a"})  # here
    return ToolResult(content=a)
