"""What mcpcore check and its peer find on public servers."""
