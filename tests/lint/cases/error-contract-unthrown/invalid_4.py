# message: the reason 'held' is declared, but nothing that fetch calls raises it
from mcpcore import Context, ErrorCode, FailureMode, tool

@tool(
    errors=[
        FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y"),
        FailureMode("held", ErrorCode.CONFLICT, when="x", recovery="y"),  # here
    ]
)
def fetch(ctx: Context, x: str) -> str:
    return load(ctx, x)

def load(ctx: Context, x):
    with ctx.guard({KeyError: "gone"}):
        return {}[x]
