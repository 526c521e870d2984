# message: returns an empty list after Exception
from mcpcore import tool

@tool
def searched(query: str) -> dict:
    try:
        rows = search(query)
    except Exception:
        rows = []  # here
    return {"query": query, "rows": rows, "count": len(rows)}
