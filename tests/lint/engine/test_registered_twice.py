"""A handler with two decorators: FastMCP's registers it, mcpcore's declares its failures."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner
from mcpcore_lint.cli import lint

SERVER = '''
from typing import Literal

from fastmcp import FastMCP

from mcpcore import Context, ErrorCode, FailureMode, tool

mcp = FastMCP("orders")


@mcp.tool(name="fetch_order")
@tool(
    errors=[
        FailureMode(
            "no_order",
            ErrorCode.NOT_FOUND,
            when="There is no such order.",
            recovery="Call list_orders for the known ids.",
            fallback_tool="list_orders",
        )
    ]
)
async def get_order(ctx: Context[Literal["no_order"]]) -> str:
    """Get the order."""
    raise ctx.fail("no_ordr")


@mcp.tool
@tool(errors=[FailureMode("none", ErrorCode.NOT_FOUND, when="Empty.", recovery="Create an order before you list.")])
async def list_orders(ctx: Context[Literal["none"]]) -> str:
    """List the orders."""
    raise ctx.fail("none")
'''


def test_both_decorators_make_one_tool(tmp_path: Path) -> None:
    """The contract applies to the tool, a misspelt reason is found, and the outer decorator's name counts."""
    file = tmp_path / "server.py"
    file.write_text(SERVER)
    result = CliRunner().invoke(lint, ["--no-cache", str(file)])
    assert "the reason 'no_ordr' is not declared: fetch_order calls ctx.fail with it" in result.output
    assert "has no contract" not in result.output
    assert "error-contract-recovery-unknown-tool" not in result.output
    assert "1 error in 1 file, 2 tools" in result.output
