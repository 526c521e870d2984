"""The table of phrases, in parts: `mcpcore.classification.by_message` puts them in order."""
