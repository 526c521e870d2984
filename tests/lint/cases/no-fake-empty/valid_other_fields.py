from mcpcore import tool

@tool
def fetch(a: str) -> dict:
    try:
        tags = load(a)
    except Exception:
        tags = []
    return {"name": a, "tags": tags}
