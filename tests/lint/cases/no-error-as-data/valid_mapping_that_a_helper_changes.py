import json

from fastmcp import FastMCP

mcp = FastMCP("x")

def lend(title: str) -> dict:
    result = {"success": False, "error": "not tried"}
    if title != "atlas":
        result["success"] = True
    return result

def renew(title: str) -> str:
    result = {"success": False, "error": "not tried"}
    if title != "atlas":
        result.update({"success": True})
    return json.dumps(result)

def answer(*, success: bool, title: str, **more) -> dict:
    payload = {"status": "success" if success else "error", "title": title}
    for key, value in more.items():
        payload[key] = value
    return payload

def answer_later(**more) -> dict:
    payload = {"status": "error", "message": "not tried"}
    more["status"] = "success"
    payload.update(more)
    return payload

@mcp.tool
def lend_one(title: str) -> dict:
    """Lend."""
    return lend(title)

@mcp.tool
def renew_one(title: str) -> str:
    """Renew."""
    return renew(title)

@mcp.tool
def lend_now(title: str) -> str:
    """Lend."""
    result = {"success": False, "error": "not tried"}
    if title != "atlas":
        result["success"] = True
    return json.dumps(result)

@mcp.tool
def find(title: str) -> dict:
    """Find."""
    return answer(success=True, title=title, message="this is it")

@mcp.tool
def find_other(title: str) -> dict:
    """Find."""
    return answer(success=False, title=title, status="success", message="this is it")

@mcp.tool
def find_later(title: str) -> dict:
    """Find."""
    return answer_later(title=title)
