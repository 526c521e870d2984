from fastmcp import Context as TheirContext
from fastmcp import FastMCP
from mcp.server.mcpserver import Context as SDKContext
from mcp.server.mcpserver import MCPServer

from mcpcore import ErrorCode, FailureMode, prompt, resource, tool

mcp = FastMCP("orders")
sdk = MCPServer("orders")
GONE = FailureMode("gone", ErrorCode.NOT_FOUND, when="It is gone.", recovery="Call list_orders to see all orders.")


@tool(errors=[GONE])
@mcp.tool  # here
def below(order_id: str) -> str:
    """Get an order."""
    return order_id


@tool(errors=[GONE])
@sdk.tool(name="sent")  # here
async def below_the_sdk(order_id: str) -> str:
    """Get an order."""
    return order_id


@resource("orders://all", errors=[GONE])
@mcp.resource("orders://all")  # here
def all_orders() -> str:
    """All orders."""
    return ""


@prompt(errors=[GONE])
@mcp.prompt  # here
def ask() -> str:
    """Ask."""
    return ""


@mcp.tool(
    name="get",
    errors=[GONE],  # here
)
def errors_on_fastmcp(order_id: str) -> str:
    """Get an order."""
    return order_id


@sdk.tool(errors=[GONE])  # here
def errors_on_the_sdk(order_id: str) -> str:
    """Get an order."""
    return order_id


@mcp.tool
@tool(errors=[GONE])
def their_context(ctx: TheirContext, order_id: str) -> str:  # here
    """Get an order."""
    return order_id


class Orders:
    """Methods."""

    @tool(errors=[GONE])
    async def get(self, ctx: SDKContext | None, order_id: str) -> str:  # here
        """Get an order."""
        return order_id
