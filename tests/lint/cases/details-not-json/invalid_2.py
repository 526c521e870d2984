# message: a frozenset
from mcpcore import not_found, tool

@tool
def fetch(a: str) -> str:
    details = {"ids": frozenset(a)}
    raise not_found("x", details)  # here
