# message: 'a' tells the agent to call one again
from fastmcp import FastMCP
from mcp.types import ToolAnnotations
from mcpcore import ErrorCode, FailureMode, Retry, service_unavailable, tool

mcp = FastMCP("x")
WRITES = dict(readOnlyHint=False, idempotentHint=False)

@mcp.tool(annotations=WRITES)
@tool(errors=[FailureMode("a", ErrorCode.TIMEOUT, when="x", recovery="y", retry=Retry.now())])  # here
def one() -> str: ...

@mcp.tool
@tool(
    annotations=ToolAnnotations(read_only_hint=False, idempotent_hint=False),
    errors=[FailureMode("a", ErrorCode.TIMEOUT, when="x", recovery="y", retry=Retry.now())],  # here
)
def two() -> str: ...

@mcp.tool(annotations={"readOnlyHint": False, "idempotentHint": False})
def three() -> str:
    raise service_unavailable("Full.", retry=Retry.after(seconds=30))  # here

@mcp.tool
@tool(
    read_only=False,
    idempotent=False,
    errors=[FailureMode("a", ErrorCode.TIMEOUT, when="x", recovery="y", retry=Retry.now())],  # here
)
def four() -> str: ...
