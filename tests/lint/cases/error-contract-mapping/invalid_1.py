# message: 'no_stock' is mapped without data=, and its data model requires left
from mcpcore import CodedError, Context, ErrorCode, FailureMode, tool
from pydantic import BaseModel


class Stock(BaseModel):
    left: int


class Coded(CodedError): ...


class Other(Coded): ...


NO_STOCK = FailureMode("no_stock", ErrorCode.CONFLICT, when="Only {left} are left.", recovery="Order less.", data=Stock)
HIDDEN = FailureMode("hidden", ErrorCode.INTERNAL_ERROR, when="It failed.", recovery="Tell somebody.")
SLOW = FailureMode("slow", ErrorCode.TIMEOUT, when="Too slow.", recovery="Call again later.")
BUSY = FailureMode("busy", ErrorCode.RATE_LIMITED, when="Busy.", recovery="Call again later.")
GONE = FailureMode("gone", ErrorCode.NOT_FOUND, when="The item is gone.", recovery="Order another item.")


@tool(
    errors=[
        NO_STOCK.on(LookupError),  # here
        HIDDEN.on(Exception)  # here
        .on(KeyboardInterrupt)  # here
        .on("KeyError"),  # here
        SLOW.on(
            TimeoutError,
            Coded,  # here
            ErrorCode.TIMEOUT,  # here
        ),
        BUSY.on(TimeoutError)  # here
        .on(OSError)
        .on_code(ErrorCode.RATE_LIMITED)
        .on_code(ErrorCode.RATE_LIMITED)  # here
        .on_code(7)  # here
        .on_code(Other),  # here
        GONE.on(),  # here
    ]
)
def order(ctx: Context, item: str) -> str:
    """Order something."""
    raise ctx.fail("busy")
