# message: errors[0] of one has no reason
from mcpcore import ErrorCode as EC, FailureMode as FM, tool

NOTHING = ""

@tool(
    errors=[
        FM(code=EC.NOT_FOUND, when="x", recovery="y"),  # here
        FM("", EC.NOT_FOUND, when="x", recovery="y"),  # here
        FM("  ", EC.NOT_FOUND, when="x", recovery="y"),  # here
        FM(NOTHING, EC.NOT_FOUND, when="x", recovery="y"),  # here
        FM(None, EC.NOT_FOUND, when="x", recovery="y"),  # here
        FM(404, EC.NOT_FOUND, when="x", recovery="y"),  # here
        FM(reason=b"a", code=EC.NOT_FOUND, when="x", recovery="y"),  # here
        FM("a" if NOTHING else "", EC.NOT_FOUND, when="x", recovery="y"),  # here
        FM(EC.NOT_FOUND, EC.NOT_FOUND, when="x", recovery="y"),  # here
        FM(["a"], EC.NOT_FOUND, when="x", recovery="y"),  # here
    ]
)
def one() -> str: ...
