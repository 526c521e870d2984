import functools
from fastmcp import FastMCP

mcp = FastMCP("x")

def load(a: str) -> dict:
    return {"error": "no a"} if not a else {"rows": [a]}

@mcp.tool
def first(a: str) -> dict:
    answer = load(a)
    if "error" not in answer:
        return answer
    raise ValueError(answer["error"])

@mcp.tool
def second(a: str) -> dict:
    answer = load(a)
    error = answer.get("error")
    if error is not None:
        raise ValueError(error)
    return answer

def save(a: str) -> dict:
    return {"ok": False, "message": "no a"} if not a else {"ok": True}

@mcp.tool
def saved(a: str) -> dict:
    answer = save(a)
    if answer["ok"] is not True:
        raise ValueError(answer["message"])
    return answer

@mcp.tool
def fourth(a: str) -> dict:
    for _ in range(3):
        answer = load(a)
        if "rows" in answer:
            return answer
    raise ValueError(a)
