# message: ctx.fail
import mcpcore
from mcpcore import CodedError, Context, ErrorCode, FailureMode, not_found, tool

@tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
async def fetch(ctx: Context, a: str) -> str:
    if a == "1":
        ctx.fail("gone")  # here
    if a == "2":
        return ctx.fail("gone", "x")  # here
    if a == "3": mcpcore.not_found(  # here
        "x",
    )
    if a == "4":
        CodedError(ErrorCode.NOT_FOUND)  # here
    if a == "5":
        error = not_found("x")  # here
    if a == "6":
        problem = ctx.fail("gone")  # here
        return problem
    if a == "7":
        return "x" if a else not_found("x")  # here
    def inner():
        ctx.fail("gone")  # here
    return inner()
