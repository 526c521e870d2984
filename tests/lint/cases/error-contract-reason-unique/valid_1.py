from elsewhere import ERRORS, REASON
from mcpcore import Contract, ErrorCode, FailureMode, tool

A = FailureMode("a", ErrorCode.NOT_FOUND, when="x", recovery="y")
A2 = FailureMode("a", ErrorCode.CONFLICT, when="x", recovery="y")

@tool(errors=[A, FailureMode("b", ErrorCode.CONFLICT, when="x", recovery="y")])
def one() -> str: ...

@tool(errors=[A])
def two() -> str: ...

@tool(errors=[FailureMode(REASON, ErrorCode.CONFLICT, when="x", recovery="y"), *ERRORS, A])
def three() -> str: ...

@tool(errors=[A] if ERRORS else [A2])
def four() -> str: ...

@tool(errors=[A if ERRORS else A2])
def five() -> str: ...
