from mcpcore import TODO, Context, ErrorCode, FailureMode, internal_error, tool


@tool(errors=[FailureMode("expired", ErrorCode.INTERNAL_ERROR, when="TODO: say when this happens", recovery=TODO)])
def price(ctx: Context, key: str) -> int:
    if key == "0":
        raise ctx.fail("expired")
    try:
        return int(key)
    except ValueError as error:
        raise internal_error("no price") from error
