# message: not_found(...) is made and never raised
from mcpcore import not_found, tool

@tool
def fetch(a: str) -> str:
    not_found("x")  # here
    return a
