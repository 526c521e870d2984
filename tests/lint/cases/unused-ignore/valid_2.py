x = '# mcpcore: ignore[parse-error]'
