"""Contract tools on a FastMCP 4 server: `mcp.add_middleware(ContractMiddleware())`, and `@mcp.tool` above `@tool(...)`.

Begin with `middleware`, which has the class that users add. `components` makes the signature and the metadata that
FastMCP reads, `calling` runs a tool for FastMCP and keeps its failures from FastMCP's log and from other middleware,
`errors` reads FastMCP's errors, and `served` has the state of each server.
"""

from __future__ import annotations

from mcpcore.integrations.fastmcp.components import registration_of, signature_of
from mcpcore.integrations.fastmcp.errors import ContractFailure
from mcpcore.integrations.fastmcp.middleware import ContractMiddleware

__all__ = ["ContractFailure", "ContractMiddleware", "registration_of", "signature_of"]
