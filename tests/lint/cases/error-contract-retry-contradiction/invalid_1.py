# message: the hint of 'c' says 'Do not retry', but RATE_LIMITED is retryable
from mcp.types import ToolAnnotations
from mcpcore import ErrorCode as EC, FailureMode as FM, tool

LATE = FM("late", EC.TIMEOUT, when="x", recovery="Try again at once, or try again later.")

@tool(
    annotations=ToolAnnotations(read_only_hint=False, idempotent_hint=False),
    errors=[
        LATE,
        FM("a", EC.SERVICE_UNAVAILABLE, when="x", recovery="Wait 5 seconds and retry."),
        FM("b", EC.TIMEOUT, when="x", recovery="y", strategy="retry_later"),
        FM("c", EC.RATE_LIMITED, when="x", recovery="Do not retry; tell the user."),  # here
    ],
)
def one() -> str: ...

@tool(
    annotations=ToolAnnotations(read_only_hint=False, idempotent_hint=True),
    errors=[FM("a", EC.TIMEOUT, when="x", recovery="Do not retry; tell the user.")],  # here
)
def two() -> str: ...

@tool(
    errors=[
        FM("a", EC.RATE_LIMITED, when="x", recovery="Wait 30 s and retry.", effects="partial"),
        FM("b", EC.TIMEOUT, when="x", recovery="Do not retry; tell the user.", effects="none"),  # here
    ]
)
def three() -> str: ...
