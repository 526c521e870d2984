# message: returns an empty list after Exception
from mcpcore import tool

@tool
def searched(query: str) -> list:
    try:
        rows = search(query)
    except Exception:
        rows = []  # here
    return rows

@tool
def explained(query: str) -> dict:
    try:
        rows = search(query)
    except Exception:
        rows = []
    return {"query": query, "rows": rows, "complete": False}
