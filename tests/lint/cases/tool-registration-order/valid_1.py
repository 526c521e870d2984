from typing import Literal

import click
from fastmcp import Context as TheirContext
from fastmcp import FastMCP

from mcpcore import Context, ErrorCode, FailureMode, Server, tool

mcp = FastMCP("orders")
server = Server("orders")
GONE = FailureMode("gone", ErrorCode.NOT_FOUND, when="It is gone.", recovery="Call list_orders to see all orders.")


@mcp.tool(name="get")
@tool(errors=[GONE])
def above(ctx: Context[Literal["gone"]], order_id: str) -> str:
    """Get an order."""
    raise ctx.fail("gone")


@mcp.tool
@tool(errors=[GONE])
async def both_contexts(ctx: Context[Literal["gone"]], theirs: TheirContext, order_id: str) -> str:
    """Get an order."""
    await theirs.info("x")
    raise ctx.fail("gone")


@mcp.tool
def plain(ctx: TheirContext) -> str:
    """Look."""
    return ""


@mcp.tool
@tool
def without_errors(ctx: TheirContext) -> str:
    """Look."""
    return ""


@server.tool(errors=[GONE])
def own(ctx: Context[Literal["gone"]], order_id: str) -> str:
    """Get an order."""
    raise ctx.fail("gone")


class Bench:
    """Not a server."""

    def tool(self, errors: list[str]) -> object:
        """Make a decorator."""
        return lambda fn: fn


bench = Bench()


@bench.tool(errors=["x"])
def tightened() -> str:
    """Tighten."""
    return ""


@click.command()
def run() -> None:
    """Run."""
