x = 1  # mcpcore: ignore[parse-error] why not
