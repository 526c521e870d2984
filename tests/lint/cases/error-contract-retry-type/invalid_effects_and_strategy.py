# message: the effects of 'a' must be 'none' or 'partial' or 'unknown', not the string 'non'
from mcpcore import ErrorCode as EC, FailureMode as FM, tool

EFFECTS = "nothing"

@tool(
    errors=[
        FM("a", EC.CONFLICT, when="x", recovery="y", effects="non"),  # here
        FM("b", EC.CONFLICT, when="x", recovery="y", effects=EFFECTS),  # here
        FM("c", EC.CONFLICT, when="x", recovery="y", effects=False),  # here
        FM("d", EC.CONFLICT, when="x", recovery="y", effects="none" if EFFECTS else "all"),  # here
        FM("e", EC.CONFLICT, when="x", recovery="y", strategy="try_again"),  # here
        FM("f", EC.CONFLICT, when="x", recovery="y", strategy=["check_input"]),  # here
    ]
)
def one() -> str: ...
