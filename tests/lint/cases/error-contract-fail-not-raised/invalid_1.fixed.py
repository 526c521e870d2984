import mcpcore
from mcpcore import CodedError, Context, ErrorCode, FailureMode, not_found, tool

@tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
async def fetch(ctx: Context, a: str) -> str:
    if a == "1":
        raise ctx.fail("gone")
    if a == "2":
        raise ctx.fail("gone", "x")
    if a == "3": raise mcpcore.not_found(
        "x",
    )
    if a == "4":
        raise CodedError(ErrorCode.NOT_FOUND)
    if a == "5":
        error = not_found("x")
    if a == "6":
        problem = ctx.fail("gone")
        return problem
    if a == "7":
        return "x" if a else not_found("x")
    def inner():
        raise ctx.fail("gone")
    return inner()
