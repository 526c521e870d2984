"""The server side of the MCP SDK: its own kinds of resources and prompts, with contracts."""
