"""The parts of Markdown that several pages need."""

from __future__ import annotations


def noted(page: str, source: str) -> str:
    """A page whose last line says what it is made from. The site shows this line as a footer."""
    return f"{page.rstrip()}\n\nGenerated from {source} by `docs/generate.py`; change it there.\n"


def table(head: list[str], rows: list[list[object]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines)
