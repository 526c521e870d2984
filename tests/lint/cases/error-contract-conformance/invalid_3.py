# message: fetch raises CONFLICT
from mcpcore import ErrorCode, FailureMode, conflict, forbidden, not_found, tool

GONE = FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")

@tool(errors=[GONE])
def fetch(a: int) -> str:
    if a == 1:
        raise (conflict if a > 4 else forbidden)("x")  # here
    if a == 2:
        factory = conflict
    else:
        factory = not_found
    if a == 3:
        raise factory("x", reason="gone")
    return factory.__name__

@tool(errors=[GONE])
def second(a: int) -> str:
    if a == 1:
        raise load()[a]("what makes it is not known")
    return ""
