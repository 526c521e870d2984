# message: fetch returns an empty dict in its answer after Exception, so that a failure looks like nothing found
from mcpcore import tool

@tool
def fetch(a: str) -> dict:
    result = {"name": a}
    try:
        result["rows"] = load(a)
    except Exception:
        result["rows"] = {}  # here
    return result

@tool
def counted(query: str) -> dict:
    try:
        rows = search(query)
    except OSError:
        rows = []  # here
    return {"query": query, "rows": rows, "count": len(rows)}

@tool
def echoed(query: str) -> dict:
    try:
        return search(query)
    except OSError:
        return {"rows": [], "total": 0, "query": query}  # here
