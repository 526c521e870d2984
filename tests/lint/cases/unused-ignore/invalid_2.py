# message: has no effect
x = 1  # mcpcore: ignore  # here
