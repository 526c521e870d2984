"""The thread that flushes a trail to the disk at intervals."""

from __future__ import annotations

import os
import threading
import weakref
from typing import TYPE_CHECKING, Final

from mcpcore.audit.listeners import LOGGER

if TYPE_CHECKING:
    from collections.abc import Callable

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
            LOGGER.error("the audit trail %s could not be flushed to the disk: %s", self._path, exc)
        finally:
            for fd in descriptors:
                os.close(fd)
