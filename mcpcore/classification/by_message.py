"""What an exception says: one table of phrases, read in order, first match first.

It begins with the reference table's provider-specific rows and goes on with its common ones, in its order; the rows
that go beyond it stand where a more general row would otherwise answer wrongly. `phrases.py` explains the language.
"""

from __future__ import annotations

from typing import Final

from mcpcore.classification.messages.common import COMMON
from mcpcore.classification.messages.exact import EXACT
from mcpcore.classification.messages.fallback import FAINT
from mcpcore.classification.messages.families import FAMILIES
from mcpcore.classification.messages.languages import LANGUAGES
from mcpcore.classification.messages.row import MessageRow
from mcpcore.classification.messages.rules import RULES
from mcpcore.classification.messages.systems import SYSTEMS

__all__ = ["MESSAGES", "MessageRow"]

MESSAGES: Final[tuple[MessageRow, ...]] = (*EXACT, *SYSTEMS, *FAMILIES, *RULES, *COMMON, *LANGUAGES, *FAINT)
"""Every message pattern. Rows with `only` are read first, for their class; then all others, in order."""
