# message: after 'late' and 'down', the agent is told to check what one has changed and not to call again, since nothing states read_only and idempotent
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

@tool(read_only=False, errors=[LATE])
def seven() -> str: ...  # here

@tool(read_only=None, annotations=ToolAnnotations(destructive_hint=False), errors=[LATE])  # here
def eight() -> str: ...
