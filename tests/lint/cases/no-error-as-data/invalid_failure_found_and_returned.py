from fastmcp import FastMCP

mcp = FastMCP("x")

def load(key: str) -> dict:
    if key.startswith("x"):
        return {"error": "no such key"}  # here
    return {"rows": [key]}

@mcp.tool
def fetch(key: str) -> dict:
    answer = load(key)
    if "error" in answer:
        return answer
    return {"first": answer["rows"][0]}
