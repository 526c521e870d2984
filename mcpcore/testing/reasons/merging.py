"""Merges the records of all processes of a run into the coverage of each handler."""

from __future__ import annotations

import json
import site
import sysconfig
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mcpcore.testing.reasons.recording import SUFFIX, Handler

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@dataclass(slots=True, kw_only=True)
class Covered:
    """The coverage of one handler."""

    handler: Handler
    declared: dict[str, str] = field(default_factory=dict)
    """The code of each declared reason."""

    raised: set[str] = field(default_factory=set)
    """The declared reasons that were raised."""

    undeclared: set[tuple[str, str | None]] = field(default_factory=set)
    """The codes, each with its reason, that the contract does not declare."""

    sites: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    """The files and lines that would raise each reason, as far as the linter knows."""

    @property
    def missing(self) -> list[str]:
        """The declared reasons that were not raised, in order."""
        return [reason for reason in self.declared if reason not in self.raised]


def merged(folder: Path) -> list[Covered]:
    """The coverage of all handlers that the processes recorded in `folder`.

    The last line of a process that was killed while it wrote may be incomplete; it is left out.
    """
    handlers: dict[Handler, Covered] = {}
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        for line in path.read_bytes().splitlines():
            try:
                event, key, facts = json.loads(line)
            except ValueError:
                continue
            handler = Handler(*key)
            covered = handlers.setdefault(handler, Covered(handler=handler))
            if event == "declared":
                covered.declared.update(facts)
            elif event == "raised":
                covered.raised.add(facts)
            else:
                code, reason = facts
                covered.undeclared.add((code, reason))
    # Without a contract, a handler is there only for the codes that it raised.
    kept = [covered for covered in handlers.values() if covered.declared or covered.undeclared]
    return sorted(kept, key=lambda covered: (covered.handler.file, covered.handler.line, covered.handler))


_INSTALLED: Final = tuple(
    Path(folder).resolve()
    for folder in {*site.getsitepackages(), *(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib"))}
)


def within(handlers: Iterable[Covered], sources: Sequence[Path]) -> list[Covered]:
    """The handlers of files in `sources`; without any, all handlers except those of installed packages.

    A tool without a contract has no known file, so that it is left out only if there are `sources`.
    """
    kept = []
    for covered in handlers:
        path = Path(covered.handler.file).resolve() if covered.handler.file else None
        if sources:
            keep = path is not None and any(path.is_relative_to(source) for source in sources)
        else:
            keep = path is None or not any(path.is_relative_to(folder) for folder in _INSTALLED)
        if keep:
            kept.append(covered)
    return kept
