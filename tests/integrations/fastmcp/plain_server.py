"""A FastMCP server with a contract tool and plain tools, and the results that a client reads."""

from __future__ import annotations

from typing import Any, Literal

import anyio
import httpx2
from fastmcp import FastMCP
from fastmcp.exceptions import AuthorizationError, ToolError
from fastmcp.tools.base import ToolResult
from pydantic import BaseModel

from mcpcore import Context, ErrorCode, FailureMode, not_found, tool
from mcpcore.integrations.fastmcp import ContractMiddleware

NO_ORDER = FailureMode(
    "no_order", ErrorCode.NOT_FOUND, when="There is no order of that id.", recovery="Call list_orders."
)
SECRET = "password=hunter2hunter2"


@tool(errors=[NO_ORDER])
async def get_order(ctx: Context[Literal["no_order"]], order_id: str) -> dict[str, str]:
    """Get an order."""
    if order_id == "crash":
        raise KeyError(SECRET)
    if order_id == "slow":
        await anyio.sleep(5)
    if order_id == "none":
        raise ctx.fail("no_order")
    return {"id": order_id}


def bare(name: str = "bare") -> FastMCP[Any]:
    mcp: FastMCP[Any] = FastMCP(name)
    mcp.add_tool(get_order)

    @mcp.tool
    def plain(how: str) -> str:
        match how:
            case "crash":
                raise KeyError(SECRET)
            case "said":
                raise ToolError("Told to the model.")
            case "said of a cause":
                raise ToolError("Told again.") from KeyError(SECRET)
            case "coded":
                raise not_found("Coded.", {"a": 1})
            case "late":
                raise httpx2.ReadTimeout(SECRET)
            case "denied":
                raise AuthorizationError("Not you.")
            case "body":
                Model.model_validate({"x": SECRET})
        return how

    @mcp.tool
    def marked() -> ToolResult:
        return ToolResult(content="By hand.", is_error=True)

    return mcp


class Model(BaseModel):
    """A model that a tool's body validates."""

    x: int


class Own(BaseModel):
    """A result with a field that has the same name as a failure."""

    error: str | None = None


def contracted(mcp: FastMCP[Any], **options: Any) -> FastMCP[Any]:
    mcp.add_middleware(ContractMiddleware(**options))
    return mcp
