import os

from elsewhere import Foreign, KINDS
from mcpcore import ErrorCode, FailureMode, rate_limited, tool
from pydantic import BaseModel


class Stock(BaseModel):
    left: int


class Shop(BaseModel):
    name: str | None = None


class Sold(Exception):
    left = 0


NO_STOCK = FailureMode("no_stock", ErrorCode.CONFLICT, when="Only {left} are left.", recovery="Order less.", data=Stock)
CLOSED = FailureMode("closed", ErrorCode.CONFLICT, when="It is closed.", recovery="Read the hours.", data=Shop)
SLOW = FailureMode("slow", ErrorCode.TIMEOUT, when="Too slow.", recovery="Call again later.")
BUSY = FailureMode("busy", ErrorCode.SERVICE_UNAVAILABLE, when="Busy.", recovery="Call again later.")


@tool(
    errors=[
        NO_STOCK.on(Sold, data=lambda exc: Stock(left=exc.left)).on(Foreign, data=lambda exc: {"left": 0}),
        CLOSED.on(*KINDS),
        SLOW.on(TimeoutError) if os.environ.get("SLOW") else BUSY.on(TimeoutError),
    ]
)
def order(item: str) -> str:
    """Order something."""
    if item == "sold":
        raise Sold
    raise TimeoutError("an exception that is mapped is no undeclared failure")


@tool(errors=[BUSY.on(TimeoutError, KeyError).on_code(ErrorCode.RATE_LIMITED, ErrorCode.CONFLICT)])
def again(item: str) -> str:
    """Order it again."""
    if item:
        raise KeyError(item)
    raise rate_limited("a coded error that is mapped is declared")
