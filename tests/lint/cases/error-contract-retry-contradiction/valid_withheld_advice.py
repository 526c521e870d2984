from elsewhere import EFFECTS
from mcp.types import ToolAnnotations
from mcpcore import ErrorCode as EC, FailureMode as FM, Retry, tool

WRITES = ToolAnnotations(read_only_hint=False, idempotent_hint=False)
LATE = FM("late", EC.TIMEOUT, when="x", recovery="Do not retry; read the list of orders first.")
SHARED = FM("shared", EC.TIMEOUT, when="x", recovery="Do not retry; read the list of orders first.")

@tool(
    annotations=WRITES,
    errors=[
        LATE,
        SHARED,
        FM("a", EC.SERVICE_UNAVAILABLE, when="x", recovery="Do not retry; tell the user."),
        FM("b", EC.SERVICE_UNAVAILABLE, when="x", recovery="Wait 5 seconds and retry.", effects="none"),
        FM("c", EC.SERVICE_UNAVAILABLE, when="x", recovery="Do not retry; look first.", effects="unknown"),
        FM("d", EC.RATE_LIMITED, when="x", recovery="Wait 30 seconds and retry."),
        FM("e", EC.RATE_LIMITED, when="x", recovery="Do not retry; look first.", effects="partial"),
        FM("f", EC.TIMEOUT, when="x", recovery="Do not retry; look first.", effects=EFFECTS),
        FM("g", EC.TIMEOUT, when="x", recovery="Call again now.", retry=Retry.now(), effects="partial"),
    ],
)
def one() -> str: ...

@tool(annotations=ToolAnnotations(read_only_hint=True), errors=[SHARED])
def two() -> str: ...

@tool(errors=[FM("late", EC.TIMEOUT, when="x", recovery="Do not retry; read the list of orders first.")])
def three() -> str: ...
