"""Where the records of failures go when the application did not set up logging: standard error, a line each.

The SDK sets up the root logger when a server is made and nobody did before, with a handler that draws a table for each
record; that costs more than the call that failed. Then, and only then, this package's records are written by its own
handler instead, in the same place.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, TextIO

from mcpcore.values.escaping import terminal_line, terminal_text

LOGGER: Final = logging.getLogger("mcpcore")
"""The logger of this package, above those of its parts."""

FILED: Final = "mcpcore_filed"
"""The attribute of a log record that only points to a record in the trail's file, so that handlers can filter it."""


@contextmanager
def own_handler() -> Iterator[None]:
    """Take the records of this package off the handlers that the block adds to the root logger, if it adds any."""
    root = logging.getLogger()
    before = list(root.handlers)
    yield
    added = [handler for handler in root.handlers if handler not in before]
    if not before and added:
        for handler in added:
            handler.addFilter(_not_ours)
        LOGGER.addHandler(_Plain(added))


def _asked_for(record: logging.LogRecord) -> bool:
    """Whether the application itself set a level that takes `record`; the SDK sets one for the root logger alone."""
    return any(logging.getLogger(name).level in range(1, record.levelno + 1) for name in (record.name, LOGGER.name))


def _not_ours(record: logging.LogRecord) -> bool:
    return record.name != LOGGER.name and not record.name.startswith(f"{LOGGER.name}.")


class _Formatter(logging.Formatter):
    """A record begins a line, and nothing that it quotes does: its message is one line, and a traceback is indented."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the library's name
        return terminal_line(super().formatMessage(record))

    def format(self, record: logging.LogRecord) -> str:
        return terminal_text(super().format(record)).replace("\n", "\n  ")


class _Plain(logging.Handler):
    """A line for each record, as long as the SDK's handlers are in place.

    An application that sets up logging later has the last word.
    """

    def __init__(self, stands_in_for: list[logging.Handler]) -> None:
        super().__init__()
        self._stands_in_for = stands_in_for
        self.setFormatter(_Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))

    @property
    def stream(self) -> TextIO | None:
        """The stream to write to; None once the SDK's handlers are gone, or without standard error."""
        handlers = logging.getLogger().handlers
        # Looked up each time, as the SDK's own handler does: a host may replace standard error, or be without.
        return sys.stderr if any(handler in handlers for handler in self._stands_in_for) else None

    def emit(self, record: logging.LogRecord) -> None:
        stream = self.stream
        if stream is None or (hasattr(record, FILED) and not _asked_for(record)):
            return
        try:
            stream.write(f"{self.format(record)}\n")
            stream.flush()
        except Exception:  # noqa: BLE001 - as every handler of the standard library does
            self.handleError(record)
