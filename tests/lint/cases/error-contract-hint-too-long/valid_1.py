from elsewhere import TEXT
from mcpcore import Context, ErrorCode, FailureMode, not_found, tool

@tool(
    errors=[
        FailureMode("a", ErrorCode.NOT_FOUND, when="x" * 10, recovery=TEXT, user_message=None),
        FailureMode("b", ErrorCode.NOT_FOUND, when=TEXT, recovery=f"{TEXT}"),
    ]
)
def one(ctx: Context) -> str:
    raise ctx.fail("a", TEXT, recovery=None)
