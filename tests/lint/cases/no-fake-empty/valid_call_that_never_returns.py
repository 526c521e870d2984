import sys
from typing import Literal, NoReturn, overload
from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

mcp = FastMCP("x")

def refuse(error: Exception) -> NoReturn:
    raise ToolError(f"no answer: {type(error).__name__}")

async def wrapped(error: Exception):
    if isinstance(error, OSError):
        raise ToolError("the disk is full")
    refuse(error)

class Service:
    def fail(self, error):
        try:
            self.rows.clear()
        finally:
            raise ToolError("no rows") from error

    def via(self, error):
        return self.fail(error)

    @overload
    def either(self, error: Exception, default: Literal["raise"]) -> NoReturn: ...
    @overload
    def either(self, error: Exception, default: list) -> list: ...
    def either(self, error, default):
        if default == "raise":
            raise ToolError("no rows")
        return default

service = Service()

@mcp.tool
def annotated(a: str) -> list:
    try:
        return open(a).readlines()
    except Exception as error:
        refuse(error)
        return []  # unreachable

@mcp.tool
async def inferred(a: str) -> list:
    try:
        return open(a).readlines()
    except Exception as error:
        await wrapped(error)
    return []

@mcp.tool
def method(a: str) -> list:
    try:
        return open(a).readlines()
    except Exception as error:
        service.via(error)
        return []

@mcp.tool
def by_overload(a: str) -> list:
    try:
        return open(a).readlines()
    except Exception as error:
        service.either(error, "raise")
        return []

@mcp.tool
def in_branches(a: str) -> list:
    try:
        return open(a).readlines()
    except Exception as error:
        if a:
            refuse(error)
        else:
            sys.exit(1)
        return []
