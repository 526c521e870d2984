from typing import Literal
from mcpcore import Context, ErrorCode, FailureMode, not_found, tool

GONE = "gone"

def service(reason: str, known: Literal["gone"]):
    if known:
        raise not_found("x", reason=known)
    raise not_found("x", reason=reason)

@tool(errors=[FailureMode(GONE, ErrorCode.NOT_FOUND, when="x", recovery="y")])
def fetch(ctx: Context, a: str) -> str:
    if a == "1":
        raise not_found("x", data={"reason": "gone"})
    if a == "2":
        raise ctx.fail("fail-undeclared says it")
    with ctx.guard({KeyError: "fail-undeclared says it"}):
        if a == "2b":
            raise KeyError(a)
    if a == "3":
        made = lambda: ctx.fail("there too")
        raise made()
    return service(a, "gone")

@tool
def other() -> str:
    raise not_found("x", reason="no contract")
