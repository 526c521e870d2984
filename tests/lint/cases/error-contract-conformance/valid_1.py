from mcpcore import Context, ErrorCode, FailureMode, conflict, not_found, timeout, tool, validation_error

def service(a):
    raise not_found("x", reason="gone")

@tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
def fetch(ctx: Context, a: str) -> str:
    if a == "1":
        raise timeout("baseline")
    if a == "2":
        raise validation_error("baseline")
    try:
        raise conflict("caught")
    except Exception:
        return ""
    def unused():
        raise conflict("never called")
    return service(a)

@tool
def other() -> str:
    raise conflict("no contract")

@tool(errors=load())
def third() -> str:
    raise conflict("unknown contract")

@tool(errors=[*load(), FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
def fourth() -> str:
    raise conflict("known in part")

@tool(errors=[FailureMode("gone", -32001, when="x", recovery="y")])
def fifth() -> str:
    raise not_found("the code as a number")
