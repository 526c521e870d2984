"""Where the records of failures go when the application did not set up logging: standard error, a line each.

The SDK sets up the root logger when a server is made and nobody did before, with a handler that draws a table for each
record; that costs more than the call that failed. Then, and only then, this package's records are written by a handler
of its own instead, in the same place.
"""

from __future__ import annotations

import logging
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterator

LOGGER: Final = "mcpcore"


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
        logging.getLogger(LOGGER).addHandler(_Plain(added))


def _not_ours(record: logging.LogRecord) -> bool:
    return record.name != LOGGER and not record.name.startswith(f"{LOGGER}.")


class _Plain(logging.Handler):
    """A line for each record, as long as the SDK's handlers are in place.

    An application that sets up logging later has the last word.
    """

    def __init__(self, stands_in_for: list[logging.Handler]) -> None:
        super().__init__()
        self._stands_in_for = stands_in_for
        self.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        handlers = logging.getLogger().handlers
        if not any(handler in handlers for handler in self._stands_in_for):
            return
        try:
            # Looked up each time, as the SDK's own handler does: a host may replace it, or be without.
            stream: TextIO | None = sys.stderr
            if stream is not None:
                stream.write(f"{self.format(record)}\n")
                stream.flush()
        except Exception:  # noqa: BLE001 - as every handler of the standard library does
            self.handleError(record)
