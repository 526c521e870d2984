"""Places that somebody has to decide about."""

from contextlib import suppress

from mcpcore import Server

mcp = Server("left", expose_internal_errors="message")


def error_response(error: Exception) -> dict[str, str]:
    return {"error": str(error)}


@mcp.tool()
def helped(x: int) -> dict[str, str]:
    """Fail through a helper."""
    try:
        return {"x": str(1 // x)}
    except ZeroDivisionError as e:
        return error_response(e)


@mcp.tool()
def beside(x: int) -> dict[str, object]:
    """Return an error beside data."""
    if x < 0:
        return {"error": "x is negative", "items": [x]}
    with suppress(ValueError):
        raise ValueError("never seen")
    return {}


@mcp.tool()
def retried(x: int) -> str:
    """Handle what it raises itself."""
    for _ in range(3):
        try:
            if x:
                raise ValueError("try again")
            return "done"
        except ValueError:
            continue
    try:
        raise OSError("cleaned up")
    except OSError as e:
        undo(x)
        return f"Error: {e}"


@mcp.tool()
def called(x: int) -> dict[str, object]:
    """Return a failure to other code."""
    if x:
        return {"error": "x is given"}
    return {}


def undo(x: int) -> bool:
    return "error" in called(x)


@mcp.tool()
def anything(**options: int) -> str:
    """Take anything."""
    raise ValueError("nothing is given")


@mcp.tool()
def verdict(email: str) -> dict[str, object]:
    """Say whether an address is valid."""
    if "@" not in email:
        return {"valid": False, "error": "an @ is missing"}
    return {"valid": True, "error": None}
