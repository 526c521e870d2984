# message: found by parse-error
# settings: {"select": ["linter"]}
x = 1  # mcpcore: ignore[parse-error] old  # here
