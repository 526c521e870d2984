"""Tools for tests of servers: `tool_client(server)` calls a server's tools in memory, with strict contracts."""

from __future__ import annotations

from mcpcore.testing.client import tool_client

__all__ = ["tool_client"]
