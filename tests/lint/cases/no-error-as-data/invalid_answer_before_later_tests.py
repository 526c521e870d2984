from fastmcp import FastMCP

mcp = FastMCP("x")

def is_error(answer) -> bool:
    return isinstance(answer, dict) and "error" in answer

def search(key: str) -> tuple[list | dict, int]:
    if key.startswith("x"):
        return {"error": "no such key"}, 0  # here
    return [key], 1

def load(ids: list) -> list:
    if not ids:
        raise ValueError("no ids")
    return [{"id": key} for key in ids]

@mcp.tool
def fetch(key: str) -> list | dict:
    ids, total = search(key)
    if is_error(ids):
        return ids
    if ids.count("y"):
        raise ValueError("y")
    return load(ids)
