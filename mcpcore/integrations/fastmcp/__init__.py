"""Contract tools on a FastMCP 4 server: `mcp.add_middleware(ContractMiddleware())`, and `@mcp.tool` above `@tool(...)`.

Begin with `middleware`, which has the class that users add. `registering` makes the signature and the metadata that
FastMCP reads, `calling` runs a tool for FastMCP, `errors` reads FastMCP's errors, `masking` keeps them from its log and
from other middleware, and `served` has the state of each server.
"""

from __future__ import annotations

from mcpcore.integrations.fastmcp.errors import ContractFailure
from mcpcore.integrations.fastmcp.middleware import ContractMiddleware
from mcpcore.integrations.fastmcp.registering import registration_of, signature_of

__all__ = ["ContractFailure", "ContractMiddleware", "registration_of", "signature_of"]
