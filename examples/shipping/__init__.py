"""A shipping desk on FastMCP, whose tools declare how they fail."""
