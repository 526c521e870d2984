import functools
from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from mcp.types import CallToolResult, TextContent

mcp = FastMCP("x")

def error_text(answer) -> str | None:
    return answer.get("error") if isinstance(answer, dict) else None

def checked(func):
    @functools.wraps(func)
    async def wrapper(*args, **kwargs):
        answer = await func(*args, **kwargs)
        if (text := error_text(answer)) is not None:
            raise ToolError(text)
        return answer
    return wrapper

def marked(func):
    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        answer = func(*args, **kwargs)
        failed = isinstance(answer, dict) and "error" in answer
        return CallToolResult(content=[TextContent(type="text", text=str(answer))], isError=failed)
    return wrapper

def finish(answer: dict) -> dict:
    if error_text(answer):
        raise ToolError(str(answer))
    return answer

def raise_for(answer: dict) -> None:
    finish(answer)

def load(a: str) -> dict:
    return {"error": "no a"} if not a else {"rows": [a]}

@mcp.tool
@checked
async def by_decorator(a: str) -> dict:
    return {"error": f"no {a}"} if a else {}

@mcp.tool
@marked
def by_mark(a: str) -> dict:
    if not a:
        return {"error": "no a"}
    return {"a": a}

def registered(a: str) -> dict:
    return {"error": f"no {a}"}

mcp.tool(checked(registered))

@mcp.tool
def by_helper(a: str) -> dict:
    return finish(load(a))

@mcp.tool
def by_statement(a: str) -> dict:
    answer = load(a)
    raise_for(answer)
    return answer

@mcp.tool
def matched(a: str) -> dict:
    answer = load(a)
    match answer:
        case {"error": text}:
            raise ToolError(text)
    return answer

@mcp.tool
def rebound(a: str) -> str:
    answer = load(a)
    answer = str(len(answer))
    return answer

@mcp.tool
def unknown(a: str, client) -> dict:
    answer = load(a)
    return client.checked(answer)
