from elsewhere import ADVICE, HINT, HINTS
from mcp.types import ToolAnnotations
from mcpcore import Context, ErrorCode, FailureMode, Retry, Server, rate_limited, timeout, tool

WRITES = ToolAnnotations(read_only_hint=False, idempotent_hint=False)
SOON = Retry.after(seconds=5)
FULL = FailureMode("full", ErrorCode.RATE_LIMITED, when="x", recovery="y", retry=SOON, effects="none")

@tool(
    annotations=WRITES,
    errors=[
        FULL,
        FailureMode("a", ErrorCode.TIMEOUT, when="x", recovery="y"),
        FailureMode("b", ErrorCode.TIMEOUT, when="x", recovery="y", retry=SOON, effects="unknown"),
        FailureMode("c", ErrorCode.TIMEOUT, when="x", recovery="y", retry=Retry.never()),
        FailureMode("d", ErrorCode.TIMEOUT, when="x", recovery="y", retry=None),
        FailureMode("e", ErrorCode.TIMEOUT, when="x", recovery="y", retry=ADVICE),
        FailureMode("f", ErrorCode.TIMEOUT, when="x", recovery="y", retry=SOON, effects=ADVICE),
        FailureMode("g", ErrorCode.TIMEOUT, when="x", recovery="y", effects="none"),
        FailureMode("h", ErrorCode.RATE_LIMITED, when="x", recovery="y", retry=SOON),
    ],
)
def one(ctx: Context) -> str:
    if HINT:
        raise ctx.fail("g", retry=Retry.now())
    if HINTS:
        raise rate_limited("Full.", reason="full", retry=SOON)
    if one:
        raise ctx.fail("a", retry=SOON, effects="unknown")
    if two:
        raise timeout("Late.", retry=SOON, effects="none")
    if three:
        raise timeout("Late.", retry=SOON, **HINTS)
    raise ctx.fail("a", retry=Retry.never())

# A tool that changes nothing, that may be called twice, or of which that is not said.
@tool(
    annotations=ToolAnnotations(read_only_hint=True, idempotent_hint=False),
    errors=[FailureMode("a", ErrorCode.TIMEOUT, when="x", recovery="y", retry=SOON)],
)
def two() -> str:
    raise timeout("Late.", retry=SOON)

@tool(
    annotations=ToolAnnotations(readOnlyHint=False, idempotentHint=True),
    errors=[FailureMode("a", ErrorCode.TIMEOUT, when="x", recovery="y", retry=SOON)],
)
def three() -> str: ...

@tool(
    annotations=ToolAnnotations(read_only_hint=False),
    errors=[FailureMode("a", ErrorCode.TIMEOUT, when="x", recovery="y", retry=SOON)],
)
def four() -> str: ...

@tool(
    annotations=ToolAnnotations(read_only_hint=False, idempotent_hint=HINT),
    errors=[FailureMode("a", ErrorCode.TIMEOUT, when="x", recovery="y", retry=SOON)],
)
def five() -> str: ...

@tool(
    annotations=WRITES if HINT else HINTS,
    errors=[FailureMode("a", ErrorCode.TIMEOUT, when="x", recovery="y", retry=SOON)],
)
def six() -> str: ...

@tool(
    annotations=ToolAnnotations(read_only_hint=False, idempotent_hint=False, **HINTS),
    errors=[FailureMode("a", ErrorCode.TIMEOUT, when="x", recovery="y", retry=SOON)],
)
def seven() -> str: ...

@tool(errors=[FailureMode("a", ErrorCode.TIMEOUT, when="x", recovery="y", retry=SOON)])
def eight() -> str: ...

@tool(annotations=WRITES)
def nine() -> str:
    raise timeout("Late.")

@tool(annotations=WRITES)
def ten() -> str:
    return open(HINT, retry=SOON)

@tool(
    idempotent=True,
    errors=[FailureMode("a", ErrorCode.TIMEOUT, when="x", recovery="y", retry=SOON)],
)
def short() -> str: ...
