from typing import NoReturn
from fastmcp import FastMCP

mcp = FastMCP("x")

def raise_again(error: BaseException) -> NoReturn:
    raise error

@mcp.tool
async def fetch(a: str) -> str:
    try:
        return open(a).read()
    except BaseException as error:
        raise_again(error)
