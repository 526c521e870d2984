from mcpcore import ErrorCode, FailureMode, tool


def gone(reason: str) -> FailureMode:
    return FailureMode(reason, ErrorCode.NOT_FOUND, when="It is gone.", recovery="Wait 30 seconds and retry.")  # here


def failed(reason: str, code: ErrorCode) -> FailureMode:
    return FailureMode(reason, code, when="It failed.", recovery="Wait 30 seconds and retry.")


@tool(errors=[gone("gone")])
def one(a: str) -> str:
    return a


@tool(errors=[gone("lost"), failed("taken", ErrorCode.NOT_FOUND)])  # here
def two(a: str) -> str:
    return a
