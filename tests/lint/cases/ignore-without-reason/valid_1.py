x = 1  # mcpcore: ignore[no-fake-empty] the cache is optional
