"""The linter: it reads MCP servers as text and tells where code and contract part; it never runs them."""
