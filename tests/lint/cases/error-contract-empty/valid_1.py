from mcpcore import ErrorCode, FailureMode, tool

A = FailureMode("a", ErrorCode.NOT_FOUND, when="It is gone.", recovery="Call list_items to see them all.")
LATER = []
LATER.append(A)
SOME = [A]

@tool
def one() -> str: ...

@tool(errors=LATER)
def two() -> str: ...

@tool(errors=[*SOME])
def three() -> str: ...

@tool(errors=[*unknown()])
def four() -> str: ...

@tool(errors=[] if SOME else SOME)
def five() -> str: ...

@tool(errors=None)
def six() -> str: ...

@tool(errors=list(SOME))
def seven() -> str: ...
