"""Linter: files that cannot be read, suppressions and settings that have no effect."""
