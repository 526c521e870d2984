"""The same failing tool, made with mcpcore and with its alternatives."""
