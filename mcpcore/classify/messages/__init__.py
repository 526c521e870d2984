"""The table of phrases, in parts: `mcpcore.classify.by_message` puts them in order."""
