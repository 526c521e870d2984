"""The parts of Markdown that several pages need."""

from __future__ import annotations

from typing import Final

NOTE: Final = "Generated from `{}` by `docs/generate.py`; change the table there."
"""The sentence below the heading of a page that is made from a table."""


def table(head: list[str], rows: list[list[object]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines)
