# message: BusyError is mapped twice in the contract of order
from mcpcore import ErrorCode, FailureMode, tool

from .errors import BusyError

BUSY = FailureMode("busy", ErrorCode.RATE_LIMITED, when="Busy.", recovery="Call again later.").on(BusyError)
SLOW = FailureMode("slow", ErrorCode.TIMEOUT, when="Slow.", recovery="Call again later.").on(BusyError)  # here


@tool(errors=[BUSY, SLOW])
def order(item: str) -> str:
    """Order something."""
    raise BusyError(item)
