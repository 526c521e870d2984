# message: not_found(...) creates is never raised
from mcpcore import not_found, tool

@tool
def fetch(a: str) -> str:
    not_found("x")  # here
    return a
