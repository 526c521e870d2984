# message: fetch raises CONFLICT and FORBIDDEN
from mcpcore import conflict, forbidden, tool

@tool
def fetch(a: str) -> str:  # here
    return one(a)

def one(a: str) -> str:
    if a == "1":
        raise conflict(f"The article is locked: {a}")
    if a == "2":
        raise conflict(message="The journal is closed.")
    raise forbidden(why(a))
