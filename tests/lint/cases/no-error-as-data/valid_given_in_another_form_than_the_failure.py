import json
from fastmcp import FastMCP

mcp = FastMCP("x")

def fetch(key: str) -> dict:
    if not key.isalnum():
        return {"error": "the key has other characters"}
    return {"rows": [key]}

@mcp.tool
def fetched(key: str):
    answer = fetch(key)
    return json.dumps(answer) if "rows" in answer else load(key)
