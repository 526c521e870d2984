# message: parse-eror
x = 1  # mcpcore: ignore[parse-eror] why not  # here
