"""Failures that functions and models make."""

from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel

mcp = MCPServer("made")


class ShopError(Exception):
    """Something failed in the shop."""

    def __init__(self, message: str, code: str = "shop") -> None:
        self.code = code
        super().__init__(message)


class Answer(BaseModel):
    status: str
    message: str
    order: str | None = None


class Counted:
    def __init__(self, *, status: str, error: str) -> None:
        print(status, error)


def shop_error(error: Exception) -> ShopError:
    if isinstance(error, ShopError):
        return error
    return ShopError(f"Unexpected error: {error}", "unexpected")


def protocol_error(error: Exception):
    return MCPError(code=-32603, message=str(error))


def tool_error(error: Exception):
    return ToolError(f"Denied: {error}")


def with_data(error: Exception) -> MCPError:
    return MCPError(-32603, str(error), {"x": 1})


def nothing(error: Exception) -> ShopError | None:
    return None


def blank(x: str) -> dict[str, Any] | None:
    if not x:
        return {"error": "x is blank", "items": [x for x in "y"]}
    return None


async def look_up(x: str) -> dict[str, Any]:
    if x == "0":
        return await look_up_again(x)
    return {"x": x}


async def look_up_again(x: str) -> dict[str, Any]:
    return {"success": False, "error": f"{x} is unknown"}


@mcp.tool()
def raised(x: int) -> int:
    """Raise what a function makes."""
    try:
        return 1 // x
    except ZeroDivisionError as e:
        raise shop_error(e)
    except OverflowError as e:
        error = tool_error(e)
        print(error)
        raise error
    except ValueError as e:
        raise protocol_error(e) from e


@mcp.tool()
def unclear(x: int) -> int:
    """Raise what may be anything."""
    if x == 1:
        raise with_data(ValueError("x"))
    if x == 2:
        raise nothing(ValueError("x"))
    if x == 3:
        raise NotImplementedError("x is 3")
    try:
        raise shop_error(ValueError("x"))
    except ShopError as e:
        print(e.code)
        undo(x)
        raise ValueError("x is too long") from e


@mcp.tool()
def modelled(order: str) -> Answer:
    """Answer with a model."""
    found = order.strip()
    if not found:
        return Answer(status="error", message="There is no order", order=order)
    if found == "0":
        return Answer(status="error", message="Order is unknown", order=found)
    return Answer(status="ok", message="found", order=found)


@mcp.tool()
def counted(order: str) -> Counted:
    """Answer with a class that does something."""
    return Counted(status="error", error="Order is too long")


@mcp.tool()
def echoed(order: str) -> dict[str, Any]:
    """Return an error and the arguments of the call."""
    if not order:
        return {"error": "No order", "order": order, "items": [], "total": -1, "next": None, "retryable": False}
    return {"order": order}


@mcp.tool()
def changed(order: str) -> dict[str, Any]:
    """Return an error beside what was an argument."""
    order = order.strip()
    if not order:
        return {"error": "Order is blank", "order": order}
    return {"order": order}


@mcp.tool()
async def passed(x: str) -> dict[str, Any]:
    """Return what other functions return."""
    problem = blank(x)
    if problem is not None:
        return problem
    other = await look_up(x)
    return dict(other) if x else await look_up(x)


@mcp.tool()
def perhaps(x: str) -> bool:
    """Call a function that returns a failure."""
    return blank(x) is None


@mcp.tool()
def labelled(x: str) -> str:
    """Say that it is an error."""
    if x == "1":
        return "❌ Error: x is one"
    if x == "2":
        return f"**Error:** {x}"
    if x == "3":
        text = f"Error: {x} is three"
        return text
    if x == "4":
        return "Error: " + x.strip()
    if x == "5":
        return (
            "Error: "
            f"{x} is five"
        )
    if x == "6":
        return "Error:"
    if x == "7":
        return "\u274c Error: x is seven"
    if x == "8":
        raise ValueError(f"Error: {x} is eight")
    return x


@mcp.tool()
async def bare(x: int) -> str:
    """Catch everything."""
    try:
        return str(1 // x)
    except:
        return "Error: x is too long"


def undo(x: int) -> None:
    print(x)
