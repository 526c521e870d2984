"""The bounds that the linter holds texts against: figures alone, since it asks for them with each file of an editor."""

from __future__ import annotations

from typing import Final

MESSAGE: Final = 1_000
"""Characters of a message, unless a server says otherwise."""

HINT: Final = 500
"""Characters of a recovery hint, unless a server says otherwise."""
