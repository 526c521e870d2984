from mcp.types import ToolAnnotations
from mcpcore import ErrorCode, FailureMode, Retry, Server, tool

WRITES = ToolAnnotations(read_only_hint=False, idempotent_hint=False)
server = Server("x")

@tool(
    annotations=WRITES,
    errors=[FailureMode("a", ErrorCode.TIMEOUT, when="x", recovery="y", retry=Retry.now())],
)
def one() -> str: ...

server.add_tool(one, annotations=ToolAnnotations(read_only_hint=False, idempotent_hint=True))
