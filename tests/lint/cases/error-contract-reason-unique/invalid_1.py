# message: the reason 'a' is declared twice
from mcpcore import Contract, ErrorCode, FailureMode, tool

NAME = "a"
A = FailureMode("a", ErrorCode.NOT_FOUND, when="x", recovery="y")
B = [FailureMode("b", ErrorCode.NOT_FOUND, when="x", recovery="y")]
TWICE = [
    FailureMode("c", ErrorCode.NOT_FOUND, when="x", recovery="y"),
    FailureMode("c", ErrorCode.CONFLICT, when="x", recovery="y"),
]

@tool(
    errors=[
        A,
        FailureMode(NAME, ErrorCode.CONFLICT, when="x", recovery="y"),  # here
    ]
)
def one() -> str: ...

@tool(errors=[A, A])  # here
def two() -> str: ...

@tool(errors=B + [*B])  # here
def three() -> str: ...

@tool(errors=TWICE)  # here
def four() -> str: ...

@tool(errors=Contract(TWICE))  # here
def five() -> str: ...
