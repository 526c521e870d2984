"""What a call costs: the bare SDK, FastMCP and mcpcore, side by side in one run."""
