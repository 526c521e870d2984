# message: suppresses nothing
x = 1  # mcpcore: ignore  # here
