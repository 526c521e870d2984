from fastmcp import FastMCP

mcp = FastMCP("x")

def load(key: str) -> dict:
    return {"error": "no such key"} if key.startswith("x") else {"rows": [key]}

def raise_for(answer: dict) -> None:
    if "error" in answer:
        raise ValueError(answer["error"])

@mcp.tool
def fetch(key: str) -> dict:
    answer = {}
    try:
        answer = load(key)
        return answer
    finally:
        raise_for(answer)
