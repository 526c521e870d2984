from mcpcore import CodedError, Context, ErrorCode, FailureMode, tool

GONE = FailureMode("gone", ErrorCode.NOT_FOUND, when="It is gone.", recovery="Look for another order.")


@tool(errors=[GONE])
def read(ctx: Context, keys: list[str]) -> str:
    """Read some keys."""
    failures: list[CodedError] = [ctx.fail("gone", data={"key": key}) for key in keys if not key]
    if failures:
        raise ExceptionGroup("some are gone", failures)
    return "ok"
