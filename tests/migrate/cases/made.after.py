"""Failures that functions and models make."""

from typing import Any, Literal

from mcpcore import TODO, Context, ErrorCode, FailureMode, Server, internal_error
from mcp.server.mcpserver.exceptions import ToolError
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel

mcp = Server("made")


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


X_IS_TOO_LONG = FailureMode(
    "x_is_too_long",
    ErrorCode.VALIDATION_ERROR,
    when="x is too long.",
    recovery=TODO,
)


@mcp.tool(errors=[X_IS_TOO_LONG])
def unclear(ctx: Context[Literal["x_is_too_long"]], x: int) -> int:
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
        raise ctx.fail("x_is_too_long", "x is too long") from e


@mcp.tool(
    errors=[
        FailureMode(
            "there_is_no_order",
            ErrorCode.NOT_FOUND,
            when="There is no order.",
            recovery=TODO,
        ),
    ],
)
def modelled(ctx: Context[Literal["there_is_no_order"]], order: str) -> Answer:
    """Answer with a model."""
    found = order.strip()
    if not found:
        raise ctx.fail("there_is_no_order", "There is no order", data={"order": order})
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
        raise internal_error("No order", data={"order": order, "total": -1, "can_be_retried": False})
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


@mcp.tool(
    errors=[
        FailureMode(
            "is_eight",
            ErrorCode.VALIDATION_ERROR,
            when="{x} is eight.",
            recovery=TODO,
        ),
    ],
)
def labelled(ctx: Context[Literal["is_eight"]], x: str) -> str:
    """Say that it is an error."""
    if x == "1":
        raise internal_error("x is one")
    if x == "2":
        raise internal_error(str(x))
    if x == "3":
        text = f"Error: {x} is three"
        raise internal_error(text.removeprefix("Error: "))
    if x == "4":
        raise internal_error(x.strip())
    if x == "5":
        raise internal_error(f"{x} is five")
    if x == "6":
        raise internal_error("Error:")
    if x == "7":
        raise internal_error("\u274c Error: x is seven")
    if x == "8":
        raise ctx.fail("is_eight", f"{x} is eight")
    return x


@mcp.tool(errors=[X_IS_TOO_LONG])
async def bare(ctx: Context[Literal["x_is_too_long"]], x: int) -> str:
    """Catch everything."""
    try:
        return str(1 // x)
    except Exception as exc:
        raise ctx.fail("x_is_too_long", "x is too long") from exc


def undo(x: int) -> None:
    print(x)
