# message: answer() returns {"status": "error"}
from fastmcp import FastMCP

mcp = FastMCP("x")

def answer(*, success: bool, message: str, status: str | None = None, **more) -> dict:
    payload = {"status": status or ("success" if success else "error"), "message": message}
    for key, value in more.items():
        payload[key] = value
    return payload  # here

def attempt(operation, message: str, **more) -> dict:
    try:
        done = operation()
    except OSError:
        return answer(success=False, message=message, **more)
    return answer(success=True, message=done, **more)

@mcp.tool
def lend(title: str) -> dict:
    """Lend."""
    return attempt(lambda: open(title).read(), "not lent", title=title)

@mcp.tool
def find(title: str) -> dict:
    """Find."""
    if title == "atlas":
        return answer(success=False, message="no such title", title=title)
    return answer(success=True, message="this is it", title=title)
