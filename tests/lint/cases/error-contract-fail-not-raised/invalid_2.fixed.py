from mcpcore import not_found, tool

@tool
def fetch(a: str) -> str:
    raise not_found("x")
    return a
