"""Tells the logger and sinks such as OpenTelemetry about each record, and flushes the file of a trail."""

from __future__ import annotations

import logging
import os
import sys
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Protocol

from mcpcore import provided
from mcpcore.audit.kinds import is_lost
from mcpcore.contract.codes import ErrorCode
from mcpcore.values.escaping import one_line

LOGGER: Final = logging.getLogger("mcpcore.audit")

_SHOWN: Final = 200
# The names of the codes whose failures are the fault of the server.
SERVER_FAULTS: Final = frozenset(code.name for code in ErrorCode if code.category == "server")


class Sink(Protocol):
    """Another receiver of every record.

    ```python
    from mcpcore.audit import AuditTrail


    class Counter:
        def __init__(self) -> None:
            self.failures = 0

        def failure(self, record: Mapping[str, Any], line: str) -> None:
            self.failures += 1


    trail = AuditTrail.open(path, sinks=[Counter()])
    ```
    """

    def failure(self, record: Mapping[str, Any], line: str) -> None:
        """Receive one failure: the record without secrets, and its line in the trail.

        If the sink has a method `listens()`, it is called first; a record that has no listener is not made.

        Args:
            record: The record, with secrets replaced.
            line: The same as it is in the trail, as JSON.
        """


def listens(sink: Sink) -> bool:
    """Whether a sink wants the record."""
    method = getattr(sink, "listens", None)
    try:
        return method is None or bool(method())
    except Exception:  # noqa: BLE001 - a broken sink gets the record, and its error is logged then
        return True


def level_of(code: object) -> int:
    """The level at which a failure of a code is logged."""
    return logging.ERROR if isinstance(code, str) and code in SERVER_FAULTS else logging.INFO


def summary_of(record: Mapping[str, Any]) -> str:
    """One line for the log: the tool, how it failed or lost a failure, and the id of the record."""
    surface = record.get("surface")
    target = record.get(surface) if isinstance(surface, str) else record.get("tool")
    how = record.get("reason") or record.get("name") or "unknown"
    verb = "lost a failure" if is_lost(record) else "failed"
    return one_line(
        f"{str(target)[:_SHOWN]!r} {verb}: {str(how)[:_SHOWN]} (id {str(record.get('correlationId'))[:64]})"
    )


def is_heard() -> bool:
    """Whether the logger has a handler that does anything; making a log record costs more than hashing it."""
    # A filter, or a logger of another class, may do anything with a record.
    if LOGGER.filters or type(LOGGER) is not logging.Logger:
        return True
    handlers = list(_handlers())
    # Without any handler, the last resort of `logging` or its replacement shows the record.
    return not handlers or any(type(handler) is not logging.NullHandler for handler in handlers)


def logs_to_stderr() -> bool:
    """Whether a logged error reaches standard error, as it does without any handler."""
    streams = tuple(filter(None, (sys.stderr, sys.__stderr__)))
    handlers = list(_handlers())
    return not handlers or any(getattr(handler, "stream", None) in streams for handler in handlers)


def _handlers() -> Iterator[logging.Handler]:
    logger: logging.Logger | None = LOGGER
    while logger is not None:
        yield from logger.handlers
        logger = logger.parent if logger.propagate else None


def default_sinks() -> tuple[Sink, ...]:
    """OpenTelemetry, if it is installed."""
    try:
        sinks: tuple[Sink, ...] = provided("otel_sinks")()
    except ImportError:
        return ()
    return sinks


_IDLE: Final = 30.0
"""Seconds without a record after which the thread checks whether its writer is still in use."""


class Flusher:
    """Flushes the files of one writer, at most once per interval. The thread starts with the first request."""

    def __init__(self, open_copies: Callable[[], list[int]], interval: float, path: str) -> None:
        """Take the method that opens copies of the writer's descriptors; the writer is not kept alive."""
        self._open_copies = weakref.WeakMethod(open_copies)
        self._interval = interval
        self._path = path
        self._dirty = threading.Event()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    def request(self) -> None:
        """Flush the files at the end of the interval."""
        self._dirty.set()
        if self._thread is None:
            # A new one, since the thread before may still be looking at the old one.
            self._closing = threading.Event()
            self._thread = threading.Thread(
                target=self._run, args=(self._closing,), name="mcpcore-audit-flush", daemon=True
            )
            self._thread.start()

    def stop(self) -> None:
        """End the thread; a later request starts a new one."""
        self._closing.set()
        self._dirty.set()
        thread, self._thread = self._thread, None
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout=5)

    def _run(self, closing: threading.Event) -> None:
        while not closing.wait(self._interval):
            is_dirty = self._dirty.wait(_IDLE)
            open_copies = self._open_copies()
            if open_copies is None or closing.is_set():
                return
            if is_dirty:
                self._dirty.clear()
                self._flush(open_copies())
            del open_copies

    def _flush(self, descriptors: list[int]) -> None:
        try:
            for fd in descriptors:
                os.fsync(fd)
        except OSError as exc:
            self._dirty.set()
            LOGGER.error("the audit trail %s could not be flushed to the disk: %s", self._path, exc)  # noqa: TRY400 - the error says it all
        finally:
            for fd in descriptors:
                os.close(fd)
