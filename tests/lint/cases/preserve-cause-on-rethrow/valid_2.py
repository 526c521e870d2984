from mcpcore import CodedError, ErrorCode, not_found, tool

@tool
def fetch(a: str) -> str:
    try:
        return open(a).read()
    except FileNotFoundError as exc:
        error = not_found("x")
        error.__cause__ = exc
        raise error
    except OSError as exc:
        if a:
            raise CodedError.from_unknown(exc)
        raise CodedError.tool_failure(ErrorCode.CONFLICT, "x", cause=exc)
