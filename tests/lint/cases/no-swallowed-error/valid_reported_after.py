import json
from fastmcp import FastMCP

mcp = FastMCP("x")

@mcp.tool
def detail(a: dict) -> dict:
    found = {}
    try:
        parts = json.loads(a["parts"])
        keys = list(parts.keys())
        if keys:
            found["owner"] = parts[keys[0]].get("owner", {}).get("id")
    except Exception:
        pass
    return found

@mcp.tool
def link(a: str) -> str:
    try:
        return load(a)
    except Exception as error:
        print(error)
    return "Could not load it."

@mcp.tool
def move(a: list[dict]) -> dict:
    moved = []
    for each in a:
        if "at" in each:
            try:
                moved.append(place(each["at"]))
                continue
            except Exception:
                pass
        return {"success": False, "message": f"{each} stands nowhere"}
    return {"success": True, "moved": moved}
