# message: errors[0] of one is the string 'a', not a FailureMode
from mcpcore import tool
from modes import COMMON

@tool(errors=[*COMMON])  # here
def one() -> str: ...

@tool(errors=COMMON)  # here
def two() -> str: ...
