# message: returns {"success": False}; the client sees a successful call
from mcp.server.fastmcp import FastMCP

mcp = FastMCP("x")

def show(key, **others):
    if not key:
        return {"success": False, "error": "no key"}  # here
    return {"success": True, "others": others}

def store(key, **others):
    try:
        return {"success": True, "row": STORE.put(key, others)}
    except OSError as error:
        return {"success": False, "error": str(error)}  # here

def drop(key):
    return {"success": False, "error": "no such key"} if key not in STORE else {"success": True}  # here

TABLE = {"drop": drop, "other": OTHER}

class Shop:
    def close(self, key):
        if key in self.open:
            return {"success": True}
        return {"success": False, "error": "it is not open"}  # here

    def change(self, action, key):
        actions = {"close": self.close}
        return actions[action](key)

shop = Shop()

@mcp.tool()
def manage(action: str, key: str, others: dict | None = None) -> dict:
    """Manage."""
    actions = {"show": show, "store": store}
    run = actions.get(action)
    if run is None:
        raise ValueError(action)
    return run(key, **(others or {}))

@mcp.tool()
def remove(action: str, key: str) -> dict:
    """Remove."""
    return TABLE[action](key)

@mcp.tool()
def change(action: str, key: str) -> dict:
    """Change."""
    return shop.change(action, key)
