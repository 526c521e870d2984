# message: 'full' tells the agent to call one again, but the failed call may have taken effect
import mcp_types as types
from mcp.types import ToolAnnotations as TA
from mcpcore import (
    Context, ErrorCode as EC, FailureMode as FM, Retry as R, Server, rate_limited, timeout, tool
)

server = Server("x")
WRITES = TA(read_only_hint=False, idempotent_hint=False, destructive_hint=True)
BOTH = {"readOnlyHint": False, "idempotentHint": False}
SOON = R.after(seconds=5)
FULL = FM("full", EC.SERVICE_UNAVAILABLE, when="x", recovery="y", retry=SOON)

@tool(
    annotations=WRITES,
    errors=[
        FULL,  # here
        FM("a", EC.TIMEOUT, when="x", recovery="y", retry=R.now()),  # here
        FM("b", EC.SERVICE_UNAVAILABLE, when="x", recovery="y", retry=SOON, effects=None),  # here
        FM("c", EC.CONFLICT, when="x", recovery="y", retry=R.never() if WRITES else SOON),  # here
        FM("d", EC.TIMEOUT, when="x", recovery="y"),
    ],
)
def one(ctx: Context, full: bool) -> str:
    if full:
        raise ctx.fail("a", retry=SOON)
    if not full:
        raise ctx.fail("full", retry=R.now())
    if full is None:
        raise timeout("Late.", reason="d", retry=R.now())  # here
    if one:
        raise ctx.fail("d", retry=SOON, effects=None)  # here
    raise ctx.fail("d", retry=SOON)  # here

@server.tool("two", "Two", "Two.", types.ToolAnnotations(readOnlyHint=False, idempotentHint=False))
def two() -> str:
    raise timeout("Late.", retry=SOON)  # here

@server.tool(
    annotations=TA(**BOTH),
    errors=[FM("a", EC.TIMEOUT, when="x", recovery="y", retry=SOON)],  # here
)
def three() -> str: ...

@server.tool(
    annotations=WRITES,
    errors=(FM("a", EC.TIMEOUT, when="x", recovery="y", retry=SOON),),  # here
)
def four() -> str: ...

@server.tool(annotations=TA(**{**BOTH, "readOnlyHint": False}), errors=[*[FULL]])  # here
def five() -> str: ...
