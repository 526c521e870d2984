from mcpcore import Context, ErrorCode, FailureMode, conflict, not_found, tool

GONE = FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")

def service():
    raise not_found("a service has no context")

@tool(errors=[GONE])
def fetch(ctx: Context, a: str) -> str:
    if a == "1":
        raise ctx.fail("gone")
    if a == "1b":
        raise ctx.fail(GONE, data={"a": a})
    if a == "2":
        raise conflict("not declared")
    if a == "3":
        raise not_found("undeclared-reason says it", reason="other")
    with ctx.guard({KeyError: GONE, OSError: "gone"}):
        if a == "4":
            raise KeyError(a)
        if a == "5":
            raise OSError(a)
    try:
        raise not_found("caught")
    except Exception:
        return service()

@tool
def other() -> str:
    raise not_found("no contract")
