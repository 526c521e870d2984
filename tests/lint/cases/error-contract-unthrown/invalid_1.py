# message: the reason 'c' is declared, but nothing that fetch calls raises it
from mcpcore import Context, ErrorCode, FailureMode, guard, tool

A = FailureMode("a", ErrorCode.NOT_FOUND, when="x", recovery="y")
B = FailureMode("b", ErrorCode.CONFLICT, when="x", recovery="y")
C = FailureMode("c", ErrorCode.CONFLICT, when="x", recovery="y")  # here

@tool(errors=[A, B, C])
def fetch(ctx: Context, x: str) -> str:
    if x:
        raise ctx.fail(A)
    with ctx.guard({KeyError: B}), guard("x", errors={OSError: "b"}), guard("y"):
        return x
