# message: parse-error has no finding
# settings: {"select": ["linter"]}
x = 1  # mcpcore: ignore[parse-error] old  # here
