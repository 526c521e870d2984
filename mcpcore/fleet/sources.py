"""The files that a load reads: trails with their rotated files, single rotated files, and exports of a collector."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from mcpcore.audit.chain import MAX_LINE, Signer, read_link
from mcpcore.audit.reading import lines, parse_line
from mcpcore.fleet.errors import StoreError
from mcpcore.fleet.otlp import looks_exported
from mcpcore.fleet.rows import Line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_ROTATED: Final = re.compile(r"\.\d{12}\Z")
_BESIDE: Final = (".head", ".lock")
"""The endings of the files next to a trail, which a pattern such as `audit.jsonl*` names too."""


class Source(NamedTuple):
    """One file to load, or one trail with its rotated files."""

    path: Path
    exported: bool = False
    """It is an export of a collector."""
    whole: bool = False
    """It is a trail with all its files, which can be verified from end to end."""


def find(paths: Sequence[Path]) -> list[Source]:
    """The sources in `paths`, each once.

    Raises:
        StoreError: If a file is neither a trail nor an export.
        OSError: If a file cannot be read.
    """
    sources: dict[Path, Source] = {}
    bases = {path.resolve() for path in paths}
    for path in paths:
        where = path.resolve()
        if path.suffix in _BESIDE and path.with_suffix("").resolve() in bases:
            continue
        if _ROTATED.search(path.name) and path.with_name(_ROTATED.sub("", path.name)).resolve() in bases:
            continue
        sources.setdefault(where, _examined(path))
    return list(sources.values())


def _examined(path: Path) -> Source:
    if not path.exists() and any(path.parent.glob(f"{_literal(path.name)}.{'[0-9]' * 12}")):
        return Source(path, whole=True)  # just rotated
    with path.open("rb") as file:
        first = file.readline(MAX_LINE + 1)
        second = file.readline(MAX_LINE + 1)
    if looks_exported(first):
        return Source(path, exported=True)
    signer = Signer(None)
    if first.strip() and not any(read_link(line, signer) or parse_line(line) for line in (first, second)):
        raise StoreError(
            f"{path}: neither a trail nor logs that a collector exported as JSON: its first lines are no records"
        )
    return Source(path, whole=_ROTATED.search(path.name) is None)


def _literal(name: str) -> str:
    return re.sub(r"([*?[])", r"[\1]", name)


def lines_of(source: Source, resource: dict[str, str]) -> Iterator[Line]:
    """The lines of a trail, oldest first, with the attributes of its process."""
    for file, number, raw in lines(source.path, rotated=source.whole):
        yield Line(raw, file, number, resource)
