from mcpcore import CodedError, ErrorCode, not_found, tool

@tool
def fetch(a: str) -> str:
    raise not_found(f"no {a}", {"a": a}, retry=None) from None
