from typing import Literal

from mcpcore import Context, ErrorCode, FailureMode, Server, tool

SLOW = FailureMode("slow", ErrorCode.TIMEOUT, when="It takes too long.", recovery="Ask for less in one call.")
BUSY = FailureMode("busy", ErrorCode.RATE_LIMITED, when="Too many ask.", recovery="Ask again in a minute or two.")
DENIED = FailureMode("denied", ErrorCode.FORBIDDEN, when="A scope is missing.", recovery="Ask the user to grant it.")

@tool(errors=[SLOW, DENIED], timeout=5, auth=["orders:read"])
def report(ctx: Context[Literal["slow", "denied"]]) -> str:
    return "x"

@tool(errors=[BUSY])
def count(ctx: Context[Literal["busy"]]) -> str:
    return "x"

server = Server("x", tools=[report, count], max_concurrency=10)
