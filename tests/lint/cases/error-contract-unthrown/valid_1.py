from typing import Literal
from mcpcore import Context, ErrorCode, FailureMode, guard, not_found, tool

A = FailureMode("a", ErrorCode.NOT_FOUND, when="x", recovery="y")
B = FailureMode("b", ErrorCode.CONFLICT, when="x", recovery="y")

@tool(errors=[A, B])
def one(ctx: Context, x: str) -> str:
    if x:
        raise ctx.fail("a")
    raise ctx.fail("b" if x else "a")

@tool(errors=[A])
def dynamic(ctx: Context, reason: str) -> str:
    raise ctx.fail(reason)

@tool(errors=[A, B])
def literal(ctx: Context, reason: Literal["a", "b"]) -> str:
    raise ctx.fail(reason)

@tool(errors=[A])
def handed(ctx: Context, x: str) -> str:
    return elsewhere(ctx)

@tool(errors=[A])
def by_code(x: str) -> str:
    raise not_found("prefer-fail says it")

@tool(errors=[A])
def served(x: str) -> str:
    return service(x)

@tool(errors=[B])
def kept(ctx: Context, x: list) -> str:
    errors = []
    errors.append(ctx.fail("b"))
    raise ExceptionGroup("all", errors)

@tool(errors=[A])
def guarded(ctx: Context, x: dict) -> dict:
    with guard(**x):
        return x

@tool(errors=[A, B])
def modes(ctx: Context, x: str) -> str:
    if x:
        raise ctx.fail(A)
    with ctx.guard({KeyError: B}):
        return x

@tool(errors=[A, B])
def reasons(ctx: Context, x: str) -> str:
    @ctx.guard({KeyError: "a", (OSError, ValueError): "b"})
    def inner() -> str:
        return x
    return inner()

# A guard that names a reason may raise it, whatever stands inside.
TABLE = {KeyError: "a"}
SAFE = guard("store", errors={**TABLE, OSError: B})

@tool(errors=[A, B])
def subscript(x: str) -> str:
    with guard(errors={Exception: "a"}), guard(errors=TABLE | {TimeoutError: "b"}):
        return TABLE[x]

@tool(errors=[A, B])
async def by_name(x: str) -> str:
    async with SAFE:
        return x

@tool(errors=[A, B])
@SAFE
def decorated(x: str) -> str:
    return x

@tool(errors=[A, B])
def in_a_service(x: str) -> str:
    return Store().get(x)

class Store:
    @guard("Store.get", errors={LookupError: A, (OSError, ValueError): "b"})
    def get(self, x):
        return x

# The misspelt reason is one finding, of another rule.
@tool(errors=[FailureMode("no_item", ErrorCode.NOT_FOUND, when="x", recovery="y")])
def misspelt(ctx: Context, x: str) -> str:
    if x:
        raise ctx.fail("no_itm")
    with guard(errors={KeyError: "no_itm"}):
        raise not_found("x", reason="noitem")

@tool(errors=[A, B])
def any_table(ctx: Context, x: dict) -> str:
    with ctx.guard(x):
        return ""

@tool(errors=[FailureMode("later", ErrorCode.CONFLICT, when="open raises", recovery="TODO: next step")])
def proposed(x: str) -> str:
    return x

@tool(errors=[B])
def built(ctx: Context, x: str) -> str:
    raise make(x, data=ctx.recovery_for("b"))

def service(x):
    raise not_found("x", data={"reason": "a"})
