# message: {"error": ...}
from acme import shop
from fastmcp import FastMCP

mcp = FastMCP("x")

def answer(data, metadata=None):
    if metadata:
        return {"data": data, "metadata": metadata}
    return data

def response(data, metadata=None):
    reply = {"source": "shop", "data": data}
    if metadata:
        reply["metadata"] = metadata
    return reply

def logged(data, metadata=None):
    shop.log(metadata)
    return {"data": data}

def chosen(data, metadata=None, *, whole=True):
    if whole:
        return {"data": data, "metadata": metadata}
    return data

@mcp.tool
def find(q: str) -> dict:
    """Find."""
    try:
        return answer(shop.find(q))
    except Exception as e:
        return answer(None, {"error": f"the shop says {e}"})  # here

@mcp.tool
def show(q: str) -> dict:
    """Show."""
    try:
        return response(shop.show(q))
    except Exception as e:
        return response(None, {"error": f"the shop says {e}"})  # here

@mcp.tool
def load(q: str) -> dict:
    """Load."""
    try:
        return answer(shop.load(q))
    except Exception as e:
        return answer(shop.cached(q), {"error": f"the shop says {e}"})

@mcp.tool
def log(q: str) -> dict:
    """Log."""
    try:
        return logged(shop.load(q))
    except Exception as e:
        return logged(None, {"error": f"the shop says {e}"})

def emptied(data, metadata=None):
    metadata = shop.cleaned(metadata)
    return {"data": data, "metadata": metadata}

@mcp.tool
def clean(q: str) -> dict:
    """Clean."""
    try:
        return emptied(shop.load(q))
    except Exception as e:
        return emptied(None, {"error": f"the shop says {e}"})

@mcp.tool
def choose(q: str, whole: bool) -> dict:
    """Choose."""
    try:
        return chosen(shop.load(q))
    except Exception as e:
        return chosen(None, {"error": f"the shop says {e}"}, whole=whole)

@mcp.tool
def search(q: str) -> dict:
    """Search."""
    rows = shop.search(q)
    if not rows:
        return answer(None, {"error": f"no rows of {q}"})
    return answer(rows)
