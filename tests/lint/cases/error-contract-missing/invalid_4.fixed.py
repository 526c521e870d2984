from mcpcore import TODO, CodedError, ErrorCode, FailureMode, tool

@tool(errors=[
    FailureMode(
        "not_found",
        ErrorCode.NOT_FOUND,
        when="There is no row for '...': ....",
        recovery=TODO,
    ),
])
async def fetch(a: str) -> str:
    if not a:
        raise CodedError(ErrorCode.NOT_FOUND, f"There is no row for '{a}': {a!r}.")
    return a
