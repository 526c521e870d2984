"""What third-party functions raise and which of their exceptions is a kind of which: data, in `*.json` beside this."""

from __future__ import annotations

from functools import cache


@cache
def exception_bases() -> dict[str, tuple[str, ...]]:
    """Qualified name of a third-party exception to its bases."""
    return {}
