"""The servers of the reach tests: the same shop on mcpcore and on the two frameworks alone, over streamable HTTP.

Each has the tools `reserve`, which fails in every way that the tests look at, and `stock`. The process prints the
address of each server as one line of JSON and serves them until it is ended.
"""

from __future__ import annotations

import json
import socket
from typing import Annotated, Any, Literal

import anyio
import fastmcp
import uvicorn
from fastmcp import FastMCP
from fastmcp.exceptions import ToolError as FastMCPToolError
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import Field

from mcpcore import Context, ErrorCode, FailureMode, Retry, Server, tool
from mcpcore.integrations.fastmcp import ContractMiddleware

SECRET = "hunter2"
"""The password in the text of the crash and in the cause of the declared failure."""

TOO_FEW = "Only 2 of A-7 are left."
DEPOT_DOWN = "The depot does not answer."

Sku = Annotated[str, Field(description="Number of the article.")]
Quantity = Annotated[int, Field(description="How many to reserve.", ge=1)]


class DepotError(Exception):
    """What the client of the depot raises, with its password."""


def ask_depot(sku: str) -> None:
    """Fail as the number says, with text that no client may see."""
    match sku:
        case "A-7":
            raise DepotError(f"409 from https://shop:{SECRET}@depot.example")
        case "B-2":
            raise DepotError(f"connection refused by https://shop:{SECRET}@depot.example")
        case "C-9":
            raise RuntimeError(f"unexpected state of shop:{SECRET}")


@tool(
    errors=[
        FailureMode(
            "out_of_stock",
            ErrorCode.CONFLICT,
            when="Fewer articles are left than asked for.",
            recovery="Call stock to see how many are left, and reserve fewer.",
            fallback_tool="stock",
            effects="none",
        ),
        FailureMode(
            "depot_down",
            ErrorCode.SERVICE_UNAVAILABLE,
            when=DEPOT_DOWN,
            recovery="After 30 seconds, look up the order and reserve what is missing.",
            retry=Retry.after(seconds=30),
            effects="partial",
        ),
    ],
    annotations=ToolAnnotations(read_only_hint=False, idempotent_hint=False),
)
def reserve(ctx: Context[Literal["out_of_stock", "depot_down"]], sku: Sku, quantity: Quantity) -> str:
    """Reserve articles."""
    try:
        ask_depot(sku)
    except DepotError as error:
        if sku == "A-7":
            raise ctx.fail("out_of_stock", TOO_FEW, data={"left": 2}) from error
        raise ctx.fail("depot_down") from error
    return f"{quantity} of {sku} are reserved."


@tool
def stock(sku: Sku) -> int:
    """Tell how many of an article are left."""
    return len(sku)


def plainly(error: type[Exception]) -> Any:
    """Return the handler as its author writes it without mcpcore: with the exception of the framework."""

    def reserve(sku: Sku, quantity: Quantity) -> str:
        """Reserve articles."""
        try:
            ask_depot(sku)
        except DepotError as cause:
            raise error(TOO_FEW if sku == "A-7" else DEPOT_DOWN) from cause
        return f"{quantity} of {sku} are reserved."

    return reserve


def make(name: str) -> Any:
    """The server of that name."""
    match name:
        case "mcpcore":
            return Server("shop", tools=[reserve, stock])
        case "mcpcore-fastmcp":
            contracts = FastMCP("shop")
            contracts.add_middleware(ContractMiddleware())
            contracts.add_tool(reserve)
            contracts.add_tool(stock)
            return contracts
        case "tool-error":
            sdk = MCPServer("shop")
            sdk.add_tool(plainly(ToolError))
            sdk.add_tool(stock.handler, name="stock")
            return sdk
        case "fastmcp":
            alone = FastMCP("shop")
            alone.add_tool(fastmcp.tools.Tool.from_function(plainly(FastMCPToolError)))
            alone.add_tool(fastmcp.tools.Tool.from_function(stock.handler, name="stock"))
            return alone
    raise ValueError(name)


NAMES = ("mcpcore", "mcpcore-fastmcp", "tool-error", "fastmcp")


async def serve() -> None:
    """Serve all of them in this process, each on another port."""
    listening = {name: socket.create_server(("127.0.0.1", 0)) for name in NAMES}
    print(
        json.dumps({name: f"http://127.0.0.1:{bound.getsockname()[1]}/mcp" for name, bound in listening.items()}),
        flush=True,
    )
    async with anyio.create_task_group() as tasks:
        for name, bound in listening.items():
            server = make(name)
            app = server.http_app() if isinstance(server, FastMCP) else server.streamable_http_app()
            tasks.start_soon(uvicorn.Server(uvicorn.Config(app, log_level="error")).serve, [bound])


if __name__ == "__main__":
    anyio.run(serve)
