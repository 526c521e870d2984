from mcpcore import ErrorCode, FailureMode, tool
from store import Store

GONE = FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")
BUSY = FailureMode("busy", ErrorCode.CONFLICT, when="x", recovery="y")


@tool(errors=[GONE, BUSY])
def count(name: str) -> int:
    store = Store()
    return store.size + len(list(store))
