# message: the recovery of 'd' is blank
from mcpcore import ErrorCode as E, FailureMode, tool

HINT = ""
SHARED = FailureMode("d", E.NOT_FOUND, when="x", recovery=" ")  # here

@tool(
    errors=[
        FailureMode("a", E.NOT_FOUND, when="x", recovery=""),  # here
        FailureMode("b", E.NOT_FOUND, when="x", recovery=" \n\t "),  # here
        FailureMode("c", E.NOT_FOUND, when="x", recovery=HINT),  # here
        SHARED,
        FailureMode("e", E.NOT_FOUND, when="x", recovery="Ask the user for it." if HINT else ""),  # here
    ]
)
def one() -> str: ...

@tool(errors=[SHARED])
def two() -> str: ...
