"""Names that the contract would use are taken."""

from typing import Literal

from mcp.server import Server
from mcp.server.mcpserver import Context
from mcpcore import TODO, Context as ToolContext, ErrorCode, FailureMode, Server as ContractServer, tool as contract_tool

low = Server("low")
mcp: "ContractServer" = ContractServer("taken", expose_internal_errors="message")
tool = mcp.tool


@mcp.tool(
    errors=[
        FailureMode(
            "x_must_not_be_zero",
            ErrorCode.VALIDATION_ERROR,
            when="x must not be zero.",
            recovery=TODO,
        ),
    ],
)
def one(fails: ToolContext[Literal["x_must_not_be_zero"]], x: int, *, ctx: Context) -> str:
    """Take a context of the SDK."""
    e = exc = "x"
    try:
        return str(1 // x)
    except ZeroDivisionError as error:
        raise fails.fail("x_must_not_be_zero", "x must not be zero") from error


@contract_tool(
    errors=[
        FailureMode(
            "x_must_be_zero",
            ErrorCode.VALIDATION_ERROR,
            when="x must be zero.",
            recovery=TODO,
        ),
    ],
)
def two(ctx: ToolContext[Literal["x_must_be_zero"]], x: int) -> str:
    """Is registered by a call."""
    if x: raise ctx.fail("x_must_be_zero", "x must be zero"); return ""
    return "zero"


mcp.tool(name="deux")(two)


@mcp.tool()
def three():
    raise ValueError


__all__ = ["ContractServer", "mcp"]
