"""A server of FastMCP that declares no failures. With the argument `middleware`, mcpcore answers for its tools."""

import sys

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

from mcpcore.integrations.fastmcp import ContractMiddleware

server = FastMCP("undeclared")
FAILURES = {
    "crashes": KeyError("item"),
    "refused": ToolError("connect: connection refused"),
    "points": ToolError("There is no such item. Call crashes to see the items."),
    "waits": ToolError("The service is overloaded. Try again in 20 seconds."),
    "states": ToolError("HTTP 404"),
}


def add(name, failure):
    def fail(item: str) -> str:
        raise failure

    server.tool(fail, name=name, annotations={"readOnlyHint": True})


for _name, _failure in FAILURES.items():
    add(_name, _failure)
if sys.argv[1:] == ["middleware"]:
    server.add_middleware(ContractMiddleware())
server.run(show_banner=False, log_level="CRITICAL")
