# message: the code of this FailureMode is the number -32003, not an ErrorCode
from mcpcore import ErrorCode, FailureMode, tool


def busy(reason: str) -> FailureMode:
    return FailureMode(reason, -32003, when="Too many calls.", recovery="Wait 30 seconds and call again.")  # here


@tool(errors=[busy("busy")])
def one(a: str) -> str:
    return a
