from mcpcore import CodedError, Context, ErrorCode, FailureMode, tool

@tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
def fetch(ctx: Context) -> str:
    if ctx:
        raise CodedError(ErrorCode.NOT_FOUND, "prefer-fail says it")
    raise CodedError(ErrorCode.CONFLICT, "undeclared-reason says it", reason="other")
