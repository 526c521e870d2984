from mcpcore import Context, ErrorCode, FailureMode, not_found, tool

@tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
def fetch(ctx: Context, a: str, future) -> str:
    def made():
        return ctx.fail("gone")
    lazily = lambda: ctx.fail("gone")
    if a == "1":
        raise made()
    if a == "2":
        raise lazily()
    if a == "3":
        future.set_exception(ctx.fail("gone"))
    errors = [ctx.fail("gone")]
    error = not_found("x")
    error.add_note("kept")
    if a == "4":
        raise ExceptionGroup("all", errors)
    raise error

def service():
    return not_found("x")
