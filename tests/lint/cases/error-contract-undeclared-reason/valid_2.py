from mcpcore import ErrorCode, FailureMode, guard, tool

STORE = guard("store", errors={KeyError: "no_item", OSError: "no_items", TimeoutError: "no_answer"})

@STORE
def load(a):
    return {}[a]

@tool(errors=[FailureMode("no_item", ErrorCode.NOT_FOUND, when="x", recovery="y")])
def one(a: str) -> str:
    return load(a)

@tool(errors=[FailureMode("no_items", ErrorCode.NOT_FOUND, when="x", recovery="y")])
def several(a: str) -> str:
    return load(a)
