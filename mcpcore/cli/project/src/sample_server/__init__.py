"""An MCP server that lends books."""
