from mcpcore import Context, ErrorCode, FailureMode, tool


def mode(reason):
    return FailureMode(reason, ErrorCode.CONFLICT, when="It is busy.", recovery="Read the state of the order first.")


@tool(errors=[mode("IsBusy")])  # here
def one(ctx: Context) -> str:
    raise ctx.fail("IsBusy")
