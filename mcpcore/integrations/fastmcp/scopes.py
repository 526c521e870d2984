"""Tools that FastMCP hides from a caller who lacks a scope, as `@mcp.tool(auth=require_scopes(...))` does.

To FastMCP such a tool does not exist. A caller that names it gets the missing scopes instead, and can ask for them. A
tool that any other check hides stays hidden.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastmcp.server.auth import AuthContext
from fastmcp.server.dependencies import get_access_token

from mcpcore.boundary.scopes import require_scopes
from mcpcore.contract.failure_modes import NO_CONTRACT
from mcpcore.integrations.fastmcp.finding import contract_tool_of

if TYPE_CHECKING:
    from fastmcp import FastMCP


async def require_visible(server: FastMCP[Any], name: str) -> None:
    """Check that the tool `name`, which FastMCP does not find, is not one that it hides for want of scopes.

    Raises:
        CodedError: UNAUTHORIZED or FORBIDDEN, if it is.
    """
    for provider in server.providers:
        # A provider finds its tools without regard to the caller; the server hides them.
        tool = await provider.get_tool(name)
        if tool is None or tool.auth is None:
            continue
        token = get_access_token()
        context = AuthContext(token=token, component=tool)
        checks = tool.auth if isinstance(tool.auth, list) else [tool.auth]
        required: set[str] = set()
        for check in checks:
            scopes = getattr(check, "required_scopes", None)
            if not isinstance(scopes, frozenset):
                return
            if not check(context):
                required |= scopes
        declared = contract_tool_of(tool)
        contract = NO_CONTRACT if declared is None else declared.contract
        require_scopes(sorted(required), None if token is None else token.scopes, contract)
