from app import registry
from app.registry import pair

@pair("one")
def one(a: str) -> str:
    """One."""
    try:
        return load(a)
    except Exception:
        return ""

@registry.entry
def two(a: str) -> str:
    """Two."""
    try:
        return load(a)
    except Exception:
        return []
