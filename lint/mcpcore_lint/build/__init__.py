"""From a file's syntax to the model: which functions are tools, what their contracts say, what their bodies do."""

from mcpcore_lint.build.builder import Builder

__all__ = ["Builder"]
