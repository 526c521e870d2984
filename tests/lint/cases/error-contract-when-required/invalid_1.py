# message: 'a' does not say when it happens
from mcpcore import ErrorCode, FailureMode as FM, tool

LATER = "  "

@tool(
    errors=[
        FM("a", ErrorCode.NOT_FOUND, recovery="y"),  # here
        FM("b", ErrorCode.NOT_FOUND, when="", recovery="y"),  # here
        FM("c", ErrorCode.NOT_FOUND, when=LATER, recovery="y"),  # here
        FM("d", ErrorCode.NOT_FOUND, when=None, recovery="y"),  # here
        FM("e", ErrorCode.NOT_FOUND, when=["gone"], recovery="y"),  # here
        FM("f", ErrorCode.NOT_FOUND, recovery="y", **{"retry": None}),  # here
        FM("g", ErrorCode.NOT_FOUND, "It is gone.", recovery="y"),  # here
        FM("h", ErrorCode.NOT_FOUND, when="It is gone." if LATER else " ", recovery="y"),  # here
        FM(
            "i",
            ErrorCode.NOT_FOUND,
            when="",  # here
            recovery="y",
        ),
        FM("j", ErrorCode.NOT_FOUND, when="TODO: say when this happens", recovery="y"),  # here
        FM("k", ErrorCode.NOT_FOUND, when=f"TODO: raised by {LATER}", recovery="y"),  # here
    ]
)
def one() -> str: ...
