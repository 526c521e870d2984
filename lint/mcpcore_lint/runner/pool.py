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
from mcpcore_lint.runner.results import FileResult, failed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mcpcore_lint.runner.checker import Checker

CHUNK: Final = 24
"""Files that a process checks at a time, with the rest of their folder in large trees: they share what they import."""
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
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_all(
    make: Callable[[], Checker], paths: Sequence[str], *, jobs: int, progress: Callable[[int, int], None] | None
) -> dict[str, FileResult]:
    """Check files. The files of a process that dies are reported as failures."""
    if len(paths) >= WORTH:
        # malloc returns freed memory to the system after each file. Once a large block was freed, it keeps twice as
        # much (mallopt(3), M_TRIM_THRESHOLD). The block is never touched, so it takes no memory. A cold run of
        # `bench.lint` would take 8 percent longer without it.
        with contextlib.suppress(MemoryError):
            bytes(_LARGEST)
    count = processes(jobs, len(paths))
    most = max(CHUNK, len(paths) // (8 * count))
    chunks: list[list[str]] = [[]]
    for path in paths:
        is_left = len(chunks[-1]) >= CHUNK and os.path.dirname(path) != os.path.dirname(chunks[-1][-1])
        if is_left or len(chunks[-1]) >= most:
            chunks.append([])
        chunks[-1].append(path)
    results: dict[str, FileResult] = {}
    # The garbage collector would walk the syntax trees again and again while more are made.
    enabled = gc.isenabled()
    gc.disable()
    try:
        checker = make()
        checked = (_check(checker, chunk) for chunk in chunks) if count == 1 else _in_processes(checker, chunks, count)
        for part in checked:
            results.update(part)
            if progress is not None:
                progress(len(results), len(paths))
    finally:
        if enabled:
            gc.enable()
    return results


def _check(checker: Checker, paths: Sequence[str]) -> dict[str, FileResult]:
    results = {}
    for path in paths:
        results[path] = checker.read(path)
        checker.trim()
    return results


def _in_processes(checker: Checker, chunks: Sequence[Sequence[str]], count: int) -> Iterator[dict[str, FileResult]]:
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    lost: list[Sequence[str]] = []
    pool = ProcessPoolExecutor(min(count, len(chunks)), get_context("fork"), initializer=_start, initargs=(checker,))
    gc.freeze()
    try:
        pending = {pool.submit(_check_here, chunk): chunk for chunk in chunks}
        for future in as_completed(pending):
            try:
                yield future.result()
            except BrokenProcessPool:
                lost.append(pending[future])
    except BaseException:
        # Without this, Ctrl-C would wait for the files that are being checked.
        for process in list((pool._processes or {}).values()):  # noqa: SLF001 - terminate_workers() is new in Python 3.14
            process.kill()
        raise
    finally:
        gc.unfreeze()
        pool.shutdown(cancel_futures=True)
    for chunk in lost:
        if len(chunks) > 1:
            # One process that dies breaks the whole pool, so each chunk is tried alone to find the one that kills it.
            yield from _in_processes(checker, [chunk], 1)
        else:
            why = "the process that checked it ended unexpectedly (out of memory, or killed)"
            yield {path: failed(Failure(path, why)) for path in chunk}


_checker: Checker
"""The checker of this worker process."""


def _start(checker: Checker) -> None:
    global _checker  # noqa: PLW0603 - workers are forked with it
    _checker = checker


def _check_here(paths: Sequence[str]) -> dict[str, FileResult]:
    return _check(_checker, paths)
