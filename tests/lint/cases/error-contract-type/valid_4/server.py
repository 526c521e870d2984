from modes import ERRORS
from mcpcore import tool

@tool(errors=ERRORS)
def one() -> str: ...
