# message: the code of 'a' is the number -32004
from mcpcore import FailureMode, tool

MODES = (FailureMode("a", -32004, when="x", recovery="y"),)  # here

@tool(errors=MODES)
def one() -> str: ...

@tool(errors=[*MODES])
def two() -> str: ...
