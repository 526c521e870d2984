# message: fetch raises FORBIDDEN
from mcpcore import CodedError, Context, ErrorCode, FailureMode, tool

@tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
def fetch(ctx: Context, a: str) -> str:
    if a == "1":
        raise CodedError.tool_failure(ErrorCode.FORBIDDEN, "x")  # here
    if a == "2":
        raise CodedError.tool_failure(code=ErrorCode.NOT_FOUND, reason="gone")
    if a == "3":
        raise CodedError.invariant_violation("never-here")
    try:
        return open(a).read()
    except FileNotFoundError as error:
        raise CodedError.from_unknown(error, code=ErrorCode.FORBIDDEN) from error  # here
    except OSError as error:
        raise CodedError.from_unknown(error) from error
