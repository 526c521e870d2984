# message: the Context of one is not its first positional parameter, so the server fails at import
from typing import Literal

from mcpcore import Context, ErrorCode, FailureMode, Server, tool

A = FailureMode("a", ErrorCode.NOT_FOUND, when="x", recovery="y")

@tool(errors=[A])
def one(text: str, ctx: Context[Literal["a"]]) -> str: ...  # here

@tool(errors=[A])
def two(text: str, *, ctx: Context) -> str: ...  # here

class Tools:
    @tool(errors=[A])
    def three(self, text: str, ctx: Context[Literal["a"]]) -> str: ...  # here
