from functools import partial

from elsewhere import MODE, make
from mcpcore import Contract, ErrorCode, FailureMode, tool

class Mode(FailureMode): ...

A = FailureMode("a", ErrorCode.NOT_FOUND, when="It is gone.", recovery="Call list_items to see them all.")
missing = partial(FailureMode, code=ErrorCode.NOT_FOUND)

def entry(reason): return FailureMode(reason, ErrorCode.CONFLICT, when="x", recovery="y")

@tool(errors=[A, MODE, make(), *make(), missing("b"), entry("c"), Mode("d"), getattr(A, "x")])
def one() -> str: ...

@tool(errors=[A if MODE else MODE, *Contract([A]), A.x, MODE["b"]])
def two() -> str: ...

@tool(errors=[FailureMode["e"]("e", ErrorCode.CONFLICT, when="x", recovery="y")])
def three() -> str: ...
