from elsewhere import ERRORS, make
from mcpcore import tool

OPTIONS = load()

@tool(errors=ERRORS)
def one() -> str: ...

@tool(errors=make())
def two() -> str: ...

@tool(**OPTIONS)
def three() -> str: ...

@tool(errors=ERRORS | make())
def four() -> str: ...
