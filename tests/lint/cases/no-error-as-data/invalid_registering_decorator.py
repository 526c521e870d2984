# message: fetch returns {"error": ...}
from mcp.server.fastmcp import FastMCP

TOOLS = {}

def register_tool(name):
    def decorator(function):
        TOOLS[name] = function
        return function
    return decorator

def guarded(times):
    def decorator(function):
        return function if times else check(function)
    return decorator

def check(function):
    def checked(q):
        answer = function(q)
        if "error" in answer:
            raise ValueError(answer["error"])
        return answer
    return checked

@register_tool("fetch")
def fetch(q: str):
    try:
        return {"page": open(q).read()}
    except OSError as e:
        return {"error": str(e)}  # here

@register_tool("search")
@guarded(0)
def search(q: str):
    return {"error": q}

mcp = FastMCP("x")
for name, function in TOOLS.items():
    mcp.tool(name)(function)
