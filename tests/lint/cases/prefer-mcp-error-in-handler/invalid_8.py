# message: fetch raises ValueError
from functools import partial
from mcpcore import tool

Bad = partial(ValueError, "no")

@tool
def fetch(pmid: str) -> str:
    raise ExceptionGroup("both", [Bad(), TypeError("x")])  # here
