from mcpcore import Context, ErrorCode, FailureMode, internal_error, tool

BUSY = FailureMode("busy", ErrorCode.RATE_LIMITED, when="It is busy.", recovery="Call it again after a minute.")


def check(context: Context, a: str) -> None:
    raise context.fail("busy")


@tool(errors=[BUSY])
def one(ctx: Context, a: str) -> str:
    try:
        check(ctx, a)
    except Exception as error:
        raise internal_error("no") from error
    return a
