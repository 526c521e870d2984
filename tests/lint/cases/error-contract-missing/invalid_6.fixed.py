from mcpcore import ErrorCode, FailureMode, TODO, conflict, forbidden, tool

@tool(errors=[
    FailureMode(
        "conflict",
        ErrorCode.CONFLICT,
        when="TODO: raised by one",
        recovery=TODO,
    ),
    FailureMode(
        "forbidden",
        ErrorCode.FORBIDDEN,
        when="TODO: raised by one",
        recovery=TODO,
    ),
])
def fetch(a: str) -> str:
    return one(a)

def one(a: str) -> str:
    if a == "1":
        raise conflict(f"The article is locked: {a}")
    if a == "2":
        raise conflict(message="The journal is closed.")
    raise forbidden(why(a))
