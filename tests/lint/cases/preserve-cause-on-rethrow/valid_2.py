from mcpcore import CodedError, ErrorCode, tool

@tool
def fetch(a: str) -> str:
    try:
        return open(a).read()
    except OSError as exc:
        if a:
            raise CodedError.from_unknown(exc)
        raise CodedError.tool_failure(ErrorCode.CONFLICT, "x", cause=exc)
