# message: errors[1] of one is the string 'no_match', not a FailureMode
import mcpcore
from mcpcore import Contract, ErrorCode, FailureMode, not_found, tool

A = FailureMode("a", ErrorCode.NOT_FOUND, when="It is gone.", recovery="Call list_items to see them all.")
COMMON = [A]
NAME = "no_match"

class Gone(Exception): ...

class Mode:
    def __init__(self, reason): ...

def helper(): ...

@tool(
    errors=[
        A,
        "no_match",  # here
        NAME,  # here
        ErrorCode.NOT_FOUND,  # here
        {"reason": "a"},  # here
        ("a", ErrorCode.NOT_FOUND),  # here
        not_found("gone"),  # here
        Gone,  # here
        ValueError,  # here
        Mode("a"),  # here
        COMMON,  # here
        Contract(COMMON),  # here
        None,  # here
        helper,  # here
        FailureMode,  # here
        A if NAME else "b",  # here
        f"{NAME}x",  # here
        mcpcore.CodedError(ErrorCode.CONFLICT),  # here
    ]
)
def one() -> str: ...
