"""Markdown in which foreign texts have no effect."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from mcpcore.values.escaping import one_line, terminal_line

_SPECIAL: Final = re.compile(r"([\\`*_{}\[\]#|~!])")
_ENTITIES: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "&#64;"}
_LEADING: Final = re.compile(r"^(\s*)([-+=]|\d+[.)])")


def escaped(text: str) -> str:
    """`text` on one line, without any effect as Markdown, HTML or a mention."""
    plain = one_line(" ".join(text.split()))
    plain = _SPECIAL.sub(r"\\\1", plain)
    plain = "".join(_ENTITIES.get(char, char) for char in plain)
    return _LEADING.sub(r"\1\\\2", plain)


_ACTIVE: Final = re.compile(r"[\\`*_{}\[\]<>()#+!|~&@:$]")


def inert(text: str) -> str:
    """`text` for a cell of a table, in which nothing is markup, a link, a mention or HTML."""
    line = terminal_line(text).encode("utf-8", "backslashreplace").decode()
    return _ACTIVE.sub(lambda match: f"&#{ord(match[0])};", line)


def code(text: str, *, cell: bool = True) -> str:
    """`text` as a code span; in a table, a bar would end the cell."""
    plain = one_line(" ".join(text.split())) or " "
    fence = "`" * (max((len(run) for run in re.findall("`+", plain)), default=0) + 1)
    padding = " " if plain.startswith("`") or plain.endswith("`") else ""
    span = f"{fence}{padding}{plain}{padding}{fence}"
    return span.replace("|", "\\|") if cell else span


def block(value: Any, language: str = "json") -> str:
    """JSON as a code block that nothing in it can end."""
    text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
    fence = "`" * max(3, max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are Markdown already."""
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])
