from mcpcore import Context, ErrorCode, FailureMode, conflict, not_found, tool

LOST = FailureMode("lost", ErrorCode.CONFLICT, when="x", recovery="y")

@tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y"), LOST])
def fetch(ctx: Context, a: str, reason: str) -> str:
    if a == "1":
        raise not_found("x", reason="gone")
    if a == "2":
        raise conflict("x", reason=reason)
    if a == "3":
        raise conflict("undeclared", reason="other")
    with ctx.guard({KeyError: LOST}):
        if a == "4":
            raise KeyError(a)
    if a == "5":
        raise ctx.fail(LOST)
    raise ctx.fail("gone")
