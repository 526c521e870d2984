from typing import Literal, NoReturn, overload
from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

mcp = FastMCP("x")

@overload
def either(error: Exception, default: Literal["raise"]) -> NoReturn: ...
@overload
def either(error: Exception, default: Literal["keep"]) -> None: ...
def either(error, default):
    if default == "raise":
        raise ToolError("no rows")

def sometimes(error):
    if isinstance(error, OSError):
        raise ToolError("the disk is full")

async def not_awaited() -> NoReturn:
    raise ToolError("no rows")

class Base:
    def fail(self, error):
        raise NotImplementedError

def service() -> Base: ...

@mcp.tool
def by_overload(a: str) -> list:
    try:
        return open(a).readlines()
    except Exception as error:
        either(error, "keep")
        return []  # here

@mcp.tool
def inferred(a: str) -> list:
    try:
        return open(a).readlines()
    except Exception as error:
        sometimes(error)
        return []  # here

@mcp.tool
def coroutine(a: str) -> list:
    try:
        return open(a).readlines()
    except Exception:
        not_awaited()
        return []  # here

@mcp.tool
def abstract(a: str) -> list:
    try:
        return open(a).readlines()
    except Exception as error:
        service().fail(error)
        return []  # here
