# message: 'late' tells the agent to call one again
from modes import LATE
from mcp.types import ToolAnnotations
from mcpcore import Context, ErrorCode, FailureMode, Retry, Server, tool

WRITES = ToolAnnotations(read_only_hint=False, idempotent_hint=False)
server = Server("x")

@tool(annotations=WRITES, errors=[LATE])  # here
def one() -> str: ...

SLOW = FailureMode("slow", ErrorCode.TIMEOUT, when="x", recovery="y")

@tool(errors=[SLOW])
def two(ctx: Context) -> str:
    raise ctx.fail(SLOW, retry=Retry.now())  # here

server.add_tool(two, annotations=WRITES)
