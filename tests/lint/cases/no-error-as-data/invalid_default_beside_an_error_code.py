# message: refusal() returns Refusal(success=False)
import json

from mcp.server.fastmcp import FastMCP
from pydantic import BaseModel

mcp = FastMCP("orders")


class Refusal(BaseModel):
    success: bool = False
    error_code: str
    message: str
    action: str | None = None


class Page(BaseModel):
    success: bool = False
    rows: list[str]
    message: str | None = None


def refusal(message: str, code: str, action: str) -> str:
    answer = Refusal(error_code=code, message=message, action=action)
    return answer.model_dump_json(indent=2)  # here


@mcp.tool()
def read_order(order_id: str) -> str:
    """Read an order."""
    if order_id not in ORDERS:
        return refusal("There is no such order.", code="E002", action="read_order")
    return json.dumps(ORDERS[order_id])


@mcp.tool()
def list_orders() -> Page:
    """List orders."""
    return Page(rows=list(ORDERS), message="all orders")


@mcp.tool()
def list_codes() -> str:
    """List codes, without the fields that are not set."""
    return Refusal(error_code="E002", message="There is no such order.").model_dump_json(exclude_unset=True)


@mcp.tool()
def describe_code() -> dict:
    """Describe a code, without the fields that have their defaults."""
    answer = Refusal(error_code="E002", message="There is no such order.")
    return answer.model_dump(exclude_defaults=True)


@mcp.tool()
def describe_order(order_id: str) -> Refusal:
    """Describe an order, of which nothing failed."""
    return Refusal(error_code="", message="an order", action=ORDERS[order_id]["action"])


@mcp.tool()
def close_order(order_id: str) -> dict:
    """Close an order."""
    answer = Refusal(error_code="none", message="closed", action=ORDERS[order_id]["action"])
    answer.success = True
    return answer.model_dump(exclude_none=True)


ORDERS: dict[str, dict] = {}
