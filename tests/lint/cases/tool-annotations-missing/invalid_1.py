# message: the retry advice of 'late' and 'down' depends on read_only_hint and idempotent_hint, which the annotations of one do not state
from mcp.types import ToolAnnotations
from mcpcore import ErrorCode as EC, FailureMode as FM, Server, tool

LATE = FM("late", EC.TIMEOUT, when="x", recovery="y")
DOWN = FM("down", EC.SERVICE_UNAVAILABLE, when="x", recovery="y", retry=None)
WRITES = ToolAnnotations(read_only_hint=False)
server = Server("x")

@tool(errors=[LATE, FM("gone", EC.NOT_FOUND, when="x", recovery="y"), DOWN])
def one() -> str: ...  # here

@tool(
    annotations=ToolAnnotations(title="Two", idempotent_hint=None),  # here
    errors=[LATE],
)
def two() -> str: ...

@server.tool(
    annotations=WRITES,  # here
    errors=[LATE],
)
def three() -> str: ...

@tool(
    annotations=ToolAnnotations(idempotent_hint=False),  # here
    errors=[LATE],
)
def four() -> str: ...

@tool(annotations=None, errors=[LATE])  # here
def five() -> str: ...

def six() -> str: ...  # here

server.add_tool(six, errors=[DOWN])
