# message: answered() returns {"error": ...} for every exception of the tools that it wraps
import functools
from fastmcp import FastMCP
from mcp.server.fastmcp.exceptions import ToolError

mcp = FastMCP("x")

def answered(func):
    @functools.wraps(func)
    async def wrapper(*args, **kwargs):
        try:
            return await func(*args, **kwargs)
        except ToolError:
            raise
        except Exception as e:
            return {"error": str(e)}  # here
    return wrapper

def named(name):
    def decorate(func):
        def wrapper(*args, **kwargs):
            try:
                return func(*args, **kwargs)
            except Exception as e:
                return f"Failed: {e}"  # here
        return wrapper
    return decorate

def raised(func):
    def wrapper(*args, **kwargs):
        try:
            return func(*args, **kwargs)
        except KeyError:
            return {"error": "no such key"}
        except Exception as e:
            raise ToolError("it failed") from e
    return wrapper

def safely(run, *, fallback=None):
    try:
        return run()
    except Exception as e:
        return [{"error": f"it failed: {e}"}]  # here

def timed(run):
    try:
        return run()
    finally:
        log()

@mcp.tool
@answered
async def one(a: str) -> dict:
    return await load(a)

@mcp.tool
@answered
async def two(a: str) -> dict:
    return await load(a)

@mcp.tool
@named("three")
def three(a: str) -> dict:
    return load(a)

@mcp.tool
@raised
def four(a: str) -> dict:
    return load(a)

@mcp.tool
def five(a: str) -> list:
    return safely(lambda: load(a))

@mcp.tool
def six(a: str) -> list:
    return timed(lambda: load(a))

@answered
async def service(a: str) -> dict:
    return await load(a)
