"""The proxy: its overhead, and what public servers say through it."""
