# message: echoed returns an empty result after OSError, so that a failure looks like nothing found
from mcpcore import tool

@tool
def echoed(query: str) -> dict:
    try:
        return search(query)
    except OSError:
        return {"rows": [], "total": 0, "query": query}  # here
