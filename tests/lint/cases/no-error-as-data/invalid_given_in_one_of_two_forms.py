import json
from fastmcp import FastMCP

mcp = FastMCP("x")

def shoot(mode: str) -> dict | str:
    if mode not in load_modes():
        return f"Error: there is no mode {mode}"  # here
    return {"type": "image"}

@mcp.tool
def shot(mode: str):
    answer = shoot(mode)
    return answer if isinstance(answer, str) else json.dumps(answer)

def fetch(key: str) -> dict | list:
    if not key.isalnum():
        return {"error": "the key has other characters"}  # here
    return rows(key)

@mcp.tool
def fetched(key: str):
    answer = fetch(key)
    text = json.dumps(answer, indent=2) if isinstance(answer, (dict, list)) else str(answer)
    return text
