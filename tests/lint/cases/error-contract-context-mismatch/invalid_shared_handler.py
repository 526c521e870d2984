# message: the Context of one names the reason 'a', which errors does not declare
from typing import Literal

from mcpcore import Context, ErrorCode, FailureMode, Server, tool

A = FailureMode("a", ErrorCode.NOT_FOUND, when="x", recovery="y")
Reasons = Literal["a", "b"]

@tool
def one(ctx: Context[Literal["a"]]) -> str: ...  # here

@tool(errors=[A])
def two(ctx: Context[Reasons]) -> str: ...  # here

def three(ctx: Context[Literal["c"]]) -> str: ...  # here

server = Server("x")
server.add_tool(three, name="three", errors=[A])
server.add_tool(
    three, name="four", errors=[FailureMode("c", ErrorCode.NOT_FOUND, when="x", recovery="y")]
)
