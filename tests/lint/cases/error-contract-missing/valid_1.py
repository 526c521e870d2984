from mcpcore import ErrorCode, FailureMode, not_found, timeout, tool

@tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
def one(a: str) -> str:
    raise not_found("it has a contract")

@tool
def two(a: str) -> str:
    raise timeout("a baseline code")

@tool
def three(a: str) -> str:
    try:
        raise not_found("caught")
    except Exception:
        return ""

@tool(errors=load())
def four(a: str) -> str:
    raise not_found("a contract that nobody can see")

@tool(**options)
def five(a: str) -> str:
    raise not_found("perhaps a contract")
