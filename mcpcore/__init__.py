"""MCP tools whose failures are declared, typed, checked and read."""
