"""Which declared reason a misspelt one means."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def clearly_near(text: str, reasons: Sequence[str]) -> str | None:
    """The declared reason that is much more similar to a text than every other one, or None."""
    scored = sorted(((difflib.SequenceMatcher(None, text, reason).ratio(), reason) for reason in reasons), reverse=True)
    if not scored or scored[0][0] < 0.8:
        return None
    return scored[0][1] if len(scored) == 1 or scored[0][0] - scored[1][0] >= 0.1 else None
