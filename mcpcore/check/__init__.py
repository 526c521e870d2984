"""`mcpcore check`: calls the tools of a running server, in any language, and judges how they fail."""

from __future__ import annotations

FORMATS = ("text", "json", "sarif", "markdown", "junit")
"""The formats of a report, which `reports` writes; here, so that the help of the command need not load it."""
