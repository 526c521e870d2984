"""Checks many files in several processes.

The processes are forked, so that they share what the parent has imported and read.
"""

from __future__ import annotations

import contextlib
import gc
import os
import threading
from typing import TYPE_CHECKING, Final

from mcpcore_lint.diagnostics import Failure
from mcpcore_lint.runner.results import FileResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Future, ProcessPoolExecutor

    from mcpcore_lint.runner.checker import Checker

CHUNK: Final = 24
"""Files that a process checks at a time. Neighbours go together, since they share what they import."""
WORTH: Final = 48
"""For fewer files a second process takes longer than it saves."""
_LARGEST: Final = 31 << 20
"""Slightly less than the largest block (32 MiB) by which glibc's malloc adjusts how much freed memory it keeps."""


def processes(jobs: int, files: int) -> int:
    """The number of processes to use."""
    if files < WORTH or not hasattr(os, "fork") or threading.active_count() > 1:
        return 1
    if jobs > 0:
        return jobs
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


@contextlib.contextmanager
def no_collection() -> Iterator[None]:
    """Stop the garbage collector from walking the syntax trees again and again while more are made."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def check_all(
    make: Callable[[], Checker],
    paths: Sequence[str],
    *,
    every: bool,
    jobs: int,
    progress: Callable[[int], None] | None = None,
) -> dict[str, FileResult]:
    """Check files. The files of a process that dies are reported as failures."""
    if len(paths) >= WORTH:
        # malloc returns freed memory to the system after each file. Once a large block was freed, it keeps twice as
        # much (mallopt(3), M_TRIM_THRESHOLD). The block is never touched, so it takes no memory. A cold run of
        # `bench.lint` would take 8 percent longer without it.
        with contextlib.suppress(MemoryError):
            bytes(_LARGEST)
    count = processes(jobs, len(paths))
    results: dict[str, FileResult] = {}
    with no_collection():
        checker = make()
        if count > 1:
            return _in_processes(checker, paths, every=every, count=count, progress=progress)
        for number, path in enumerate(paths, 1):
            results[path] = checker.read(path, every=every)
            checker.trim()
            if progress is not None:
                progress(number)
    return results


def _in_processes(
    checker: Checker, paths: Sequence[str], *, every: bool, count: int, progress: Callable[[int], None] | None
) -> dict[str, FileResult]:
    from concurrent.futures import as_completed
    from concurrent.futures.process import BrokenProcessPool

    chunks = [paths[start : start + CHUNK] for start in range(0, len(paths), CHUNK)]
    results: dict[str, FileResult] = {}
    lost: list[Sequence[str]] = []

    def collect(pool: ProcessPoolExecutor, chunks: Sequence[Sequence[str]]) -> list[Sequence[str]]:
        """Check chunks; the ones that are lost because a process died."""
        pending: dict[Future[dict[str, FileResult]], Sequence[str]] = {
            pool.submit(_check, chunk, every=every): chunk for chunk in chunks
        }
        lost = []
        for future in as_completed(pending):
            try:
                results.update(future.result())
            except BrokenProcessPool:
                lost.append(pending[future])
            if progress is not None:
                progress(len(results))
        return lost

    with _pool(checker, min(count, len(chunks))) as pool:
        lost = collect(pool, chunks)
    # One process that dies breaks the whole pool, so each chunk is tried again alone to find the one that kills it.
    for chunk in lost:
        with _pool(checker, 1) as pool:
            if collect(pool, [chunk]):
                results.update((path, _died(path)) for path in chunk)
    return results


@contextlib.contextmanager
def _pool(checker: Checker, count: int) -> Iterator[ProcessPoolExecutor]:
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    pool = ProcessPoolExecutor(count, get_context("fork"), initializer=_start, initargs=(checker,))
    gc.freeze()
    try:
        yield pool
    except BaseException:
        # Without this, Ctrl-C would wait for the files that are being checked.
        for process in list((pool._processes or {}).values()):  # noqa: SLF001 - terminate_workers() is new in Python 3.14
            process.kill()
        raise
    finally:
        gc.unfreeze()
        pool.shutdown(cancel_futures=True)


_checker: Checker
"""The checker of this worker process."""


def _start(checker: Checker) -> None:
    global _checker  # noqa: PLW0603 - workers are forked with it
    gc.disable()
    _checker = checker


def _check(paths: Sequence[str], *, every: bool) -> dict[str, FileResult]:
    results = {}
    for path in paths:
        results[path] = _checker.read(path, every=every)
        _checker.trim()
    return results


def _died(path: str) -> FileResult:
    failure = Failure(path, "the process that checked it ended unexpectedly (out of memory, or killed)")
    return FileResult(path, b"", relevant=True, has_suppressions=False, failures=(failure,))
