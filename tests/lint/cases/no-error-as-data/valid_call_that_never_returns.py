from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

mcp = FastMCP("x")

def fail(answer):
    raise ToolError(str(answer))

def load(a: str) -> dict:
    return {"error": "no a"} if not a else {"rows": [a]}

@mcp.tool
def checked(a: str) -> dict:
    answer = load(a)
    if "error" in answer:
        fail(answer)
    return answer

@mcp.tool
def caught(a: str) -> dict:
    answer = {"rows": []}
    try:
        answer["rows"] = open(a).readlines()
    except OSError as error:
        answer["status"] = "error"
        fail(answer)
    return answer

@mcp.tool
def unreachable(a: str) -> dict:
    if not a:
        fail(a)
        return {"error": "no a"}
    return {"a": a}
