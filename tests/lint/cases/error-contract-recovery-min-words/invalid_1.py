# message: the recovery of 'a' has only 2 words: 'Try again.'
import mcpcore as m
from mcpcore import TODO, ErrorCode, FailureMode, tool

HINT = "Check input."

@tool(
    errors=[
        FailureMode("a", ErrorCode.NOT_FOUND, when="x", recovery="Try again."),  # here
        m.FailureMode("b", m.ErrorCode.NOT_FOUND, when="x", recovery=HINT),  # here
        FailureMode("c", ErrorCode.NOT_FOUND, when="x", recovery="..."),  # here
        FailureMode("d", ErrorCode.NOT_FOUND, when="x", recovery="Retry - or - ask - me"),  # here
        FailureMode("e", ErrorCode.NOT_FOUND, when="x", recovery=f"Call {'it'} again."),  # here
        FailureMode("f", ErrorCode.NOT_FOUND, when="x", recovery="TODO: say what the caller does"),  # here
        FailureMode("todo", ErrorCode.NOT_FOUND, when="x", recovery=TODO),  # here
        FailureMode("todo_2", ErrorCode.NOT_FOUND, when="x", recovery=m.TODO),  # here
        FailureMode("g", ErrorCode.NOT_FOUND, when="x", recovery="todo: say what the caller does"),  # here
        FailureMode("h", ErrorCode.NOT_FOUND, when="x", recovery=f"FIXME {1 + 1} {HINT.upper()}"),  # here
    ]
)
def one() -> str: ...
