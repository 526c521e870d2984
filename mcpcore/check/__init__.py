"""`mcpcore check`: calls the tools of a running server, in any language, and judges how they fail."""

from __future__ import annotations

from typing import Final, Literal

FORMATS: Final = ("text", "json", "sarif", "markdown", "junit")
"""The formats of a report, which `reports` writes; here, so that the help of the command need not load it."""

LEVELS: Final[tuple[Literal["error", "warning", "note"], ...]] = ("error", "warning", "note")
"""The levels of a finding, the worst first. A note says something about a server that is no defect."""
