"""`mcpcore check`: calls the tools of a running server, in any language, and judges how they fail."""
