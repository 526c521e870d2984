# message: fetch throws NOT_FOUND itself
from mcpcore import ErrorCode, FailureMode, not_found, timeout, tool

TABLE = {"gone": not_found, "slow": timeout}

@tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
def fetch(a: str) -> str:
    raise TABLE[a]("x")  # here
