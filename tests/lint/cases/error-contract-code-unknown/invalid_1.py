# message: the code of 'a', ErrorCode.NOTFOUND, does not exist
import mcpcore as m
from mcpcore import ErrorCode as EC, FailureMode, tool

LOST = EC.NOTFOUND

@tool(
    errors=[
        FailureMode("a", EC.NOTFOUND, when="x", recovery="y"),  # here
        FailureMode("b", code=m.ErrorCode.NO_MATCH, when="x", recovery="y"),  # here
        FailureMode("c", EC["TIME_OUT"], when="x", recovery="y"),  # here
        FailureMode("d", EC(-1), when="x", recovery="y"),  # here
        FailureMode("e", LOST, when="x", recovery="y"),  # here
        FailureMode("f", EC.not_found, when="x", recovery="y"),  # here
        FailureMode("g", EC.NOT_FOUND if LOST else EC.GONE, when="x", recovery="y"),  # here
        FailureMode("h", EC.NotFound, when="x", recovery="y"),  # here
    ]
)
def one() -> str: ...
