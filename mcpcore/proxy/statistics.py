"""What passed through the proxy, counted for `--stats`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore.proxy.overlay import Overlay
    from mcpcore.wire.envelope import Envelope

_MAX_KINDS: Final = 10_000
"""The most kinds of failures that are counted; clients may call tools of any name."""


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun: "1 failure", "2 failures"."""
    return f"{number} {one if number == 1 else many or f'{one}s'}"


@dataclass(slots=True)
class Statistics:
    """The counts of one run."""

    calls: int = 0
    restarts: int = 0
    failures: Counter[tuple[str, str]] = field(default_factory=Counter)

    def count(self, name: str, envelope: Envelope) -> None:
        """Count a failure by its tool and its reason, or its code if it has none."""
        kind = (name[:200], envelope.reason or envelope.name)
        if kind in self.failures or len(self.failures) < _MAX_KINDS:
            self.failures[kind] += 1

    def lines(self, overlay: Overlay) -> Iterator[str]:
        """The counts as lines of text, with the entries of the overlay that never matched."""
        failed = sum(self.failures.values())
        yield f"{counted(self.calls, 'tool call')}, {counted(failed, 'failure')}, {counted(self.restarts, 'restart')}"
        for (name, reason), count in self.failures.most_common():
            yield f"  {count:>6}  {name}  {reason}"
        unfired = list(overlay.unfired())
        if unfired:
            yield f"{counted(len(unfired), 'entry', 'entries')} of {overlay.source} matched nothing:"
            for place, reason in unfired:
                yield f"          {place}  {reason}"
