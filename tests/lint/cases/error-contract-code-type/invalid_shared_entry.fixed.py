from mcpcore import ErrorCode, FailureMode, tool

MODES = (FailureMode("a", ErrorCode.TIMEOUT, when="x", recovery="y"),)

@tool(errors=MODES)
def one() -> str: ...

@tool(errors=[*MODES])
def two() -> str: ...
