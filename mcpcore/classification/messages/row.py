"""What a row of the tables of phrases is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from mcpcore.retry import Retry

if TYPE_CHECKING:
    from mcpcore.codes import Code


class MessageRow(NamedTuple):
    """Phrases of one meaning, and their code; None where the phrase holds an HTTP status, which gives it."""

    code: Code | None
    phrases: tuple[str, ...]
    retry: Retry | None = None
    only: str | None = None
    """The class, as `by_type` names it, whose messages alone the row is for; such rows are read first."""


SOON: Final = Retry.after(seconds=1)
NEVER: Final = Retry.never()
