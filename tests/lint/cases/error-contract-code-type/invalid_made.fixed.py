from mcpcore import ErrorCode, FailureMode, tool


def busy(reason: str) -> FailureMode:
    return FailureMode(reason, ErrorCode.RATE_LIMITED, when="Too many calls.", recovery="Wait 30 seconds and call again.")


@tool(errors=[busy("busy")])
def one(a: str) -> str:
    return a
