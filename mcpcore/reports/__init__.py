"""What reports in several formats share: escaping for HTML and Markdown, the frame of a page, and counts in words.

The tools around a server call it with their own texts; it imports only `values`. Begin with `markdown`.
"""

from __future__ import annotations


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """`number` with its noun: `1 tool`, `2 tools`, `2 entries`."""
    return f"{number} {noun if number == 1 else plural or f'{noun}s'}"
