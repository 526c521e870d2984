x = 1  # mcpcore: ignore[no-fake-empty]  # here
y = 2
