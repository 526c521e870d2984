# message: 'NoMatch' is not snake_case
from mcpcore import Context, ErrorCode, FailureMode, tool

@tool(errors=[FailureMode("NoMatch", ErrorCode.NOT_FOUND, when="x", recovery="y")])  # here
def one(ctx: Context, reason: str) -> str:
    raise ctx.fail(reason)

STATUS = {"Gone": 404}

@tool(errors=[FailureMode("Gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])  # here
def two(ctx: Context) -> str:
    raise ctx.fail("Gone")

@tool(
    errors=[
        FailureMode("Lost", ErrorCode.NOT_FOUND, when="x", recovery="y"),  # here
        FailureMode("lost", ErrorCode.NOT_FOUND, when="x", recovery="y"),
        FailureMode("größe", ErrorCode.NOT_FOUND, when="x", recovery="y"),  # here
        FailureMode("404", ErrorCode.NOT_FOUND, when="x", recovery="y"),  # here
    ]
)
def three(ctx: Context) -> str:
    raise ctx.fail("Lost")
