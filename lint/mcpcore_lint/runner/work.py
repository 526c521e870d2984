"""Judging many files in several processes: forked, so that nothing is imported twice, and fed by one pipe."""

from __future__ import annotations

import contextlib
import gc
import marshal
import os
import select
import struct
import threading
from typing import TYPE_CHECKING, Final

from mcpcore_lint.diagnostics import Failure
from mcpcore_lint.runner.packing import pack_result, unpack_result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mcpcore_lint.runner.checker import FileResult, Judge

CHUNK: Final = 64
"""Files that a process takes at a time at most."""
PIECE: Final = 16
"""Fewer files of a folder are handed out with those of the next; the last chunks have no more."""
WORTH: Final = 48
"""Fewer files than this are not worth another process, nor memory that is kept."""
LARGEST: Final = 31 << 20
"""Bytes of the largest block by which glibc's malloc measures how much freed memory to keep: it goes up to 32 MiB."""


def processes(jobs: int, files: int) -> int:
    """How many processes to use."""
    if files < WORTH or not hasattr(os, "fork") or threading.active_count() > 1:
        return 1
    if jobs <= 0:
        try:
            jobs = len(os.sched_getaffinity(0))
        except AttributeError:
            jobs = os.cpu_count() or 1
    return max(1, jobs)


def chunks_of(paths: Sequence[str], count: int) -> list[list[str]]:
    """Files that one of `count` processes takes at a time: those of one folder, which share what they import."""
    found: list[list[str]] = []
    last = None
    for path in paths:
        folder = os.path.dirname(path)
        if folder != last or len(found[-1]) >= CHUNK:
            # Small folders go together, so that a deep tree is not handed out file by file.
            if found and len(found[-1]) < PIECE and folder != last:
                last = folder
            else:
                found.append([])
                last = folder
        found[-1].append(path)
    if len(found) > 8 * count:
        # Of many, the last are small ones, so that no process has long to wait for another.
        ending = found[-2 * count :]
        found[-2 * count :] = [each[start : start + PIECE] for each in ending for start in range(0, len(each), PIECE)]
    return found


@contextlib.contextmanager
def no_collection() -> Iterator[None]:
    """Keep the garbage collector from walking the syntax trees again and again while more are made."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def keep_memory() -> None:
    """Have malloc keep what is freed, where it would give it back.

    The parser frees some megabytes after each file. glibc returns them to the system and asks for them again for the
    next file, page by page, which took half of all page faults. Once a large block was freed, it keeps twice as much
    (mallopt(3), M_TRIM_THRESHOLD). The block itself is never touched, and so takes no memory.
    """
    with contextlib.suppress(MemoryError):
        bytes(LARGEST)


def judge_all(
    make: Callable[[], Judge],
    paths: Sequence[str],
    *,
    every: bool,
    jobs: int,
    progress: Callable[[int], None] | None = None,
) -> dict[str, FileResult]:
    """Judge files; those of a process that dies are reported as failed."""
    from mcpcore_lint.runner.checker import FileResult

    if len(paths) >= WORTH:
        keep_memory()
    count = processes(jobs, len(paths))
    if count == 1:
        found: dict[str, FileResult] = {}
        with no_collection():
            judge = make()
            for number, path in enumerate(paths, 1):
                found[path] = judge.read(path, every=every)
                judge.trim()
                if progress is not None:
                    progress(number)
        return found
    results = _fork(make, paths, every=every, count=count, progress=progress)
    for path in paths:
        if path not in results:
            failure = Failure(path, "the process that checked it ended unexpectedly (out of memory, or killed)")
            results[path] = FileResult(path, b"", relevant=True, has_suppressions=False, failures=(failure,))
    return results


def _fork(
    make: Callable[[], Judge],
    paths: Sequence[str],
    *,
    every: bool,
    count: int,
    progress: Callable[[int], None] | None,
) -> dict[str, FileResult]:
    from mcpcore_lint.runner.checker import irrelevant

    chunks = chunks_of(paths, count)
    count = min(count, len(chunks))
    feed_read, feed_write = os.pipe()
    with no_collection():
        judge = make()
    gc.freeze()
    children: dict[int, tuple[int, bytearray]] = {}
    for _ in range(count):
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                os.close(read)
                os.close(feed_write)
                _child(judge, chunks, feed_read, write, every=every)
                status = 0
            finally:
                # Nothing of the parent's is flushed or cleaned up twice.
                os._exit(status)
        os.close(write)
        children[read] = (pid, bytearray())
    gc.unfreeze()
    os.close(feed_read)
    results: dict[str, FileResult] = {}
    pending = memoryview(b"".join(struct.pack("<I", number) for number in range(len(chunks))))
    os.set_blocking(feed_write, False)
    feeding = True
    try:
        while children:
            writers = [feed_write] if feeding else []
            ready, writable, _ = select.select(list(children), writers, [])
            if writable:
                try:
                    pending = pending[os.write(feed_write, pending[:512]) :]
                except BlockingIOError:
                    pass
                except BrokenPipeError:
                    pending = pending[:0]
                if not pending:
                    os.close(feed_write)
                    feeding = False
            for read in ready:
                pid, buffer = children[read]
                data = os.read(read, 1 << 20)
                if not data:
                    os.close(read)
                    os.waitpid(pid, 0)
                    del children[read]
                    continue
                buffer += data
                while len(buffer) >= 4:
                    (size,) = struct.unpack_from("<I", buffer)
                    if len(buffer) < 4 + size:
                        break
                    message = bytes(buffer[4 : 4 + size])
                    for path, said in marshal.loads(message):  # noqa: S302 - from a process of this run
                        results[path] = irrelevant(said) if isinstance(said, bytes) else unpack_result(said)
                    del buffer[: 4 + size]
                    if progress is not None:
                        progress(len(results))
    except BaseException:
        for read, (pid, _) in children.items():
            os.close(read)
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, 9)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)
        raise
    finally:
        if feeding:
            os.close(feed_write)
    return results


def _child(judge: Judge, chunks: Sequence[Sequence[str]], feed: int, write: int, *, every: bool) -> None:
    gc.disable()
    while True:
        # Every record is four bytes, and so is every write: a read gets a whole one.
        record = os.read(feed, 4)
        if len(record) < 4:
            return
        (number,) = struct.unpack("<I", record)
        results: list[tuple[str, tuple[object, ...] | bytes]] = []
        for path in chunks[number]:
            result = judge.read(path, every=every)
            # Most files have nothing to do with MCP, of which there is nothing more to tell.
            results.append((path, pack_result(result) if result.relevant else result.digest))
            judge.trim()
        payload = marshal.dumps(results)
        message = memoryview(struct.pack("<I", len(payload)) + payload)
        while message:
            message = message[os.write(write, message) :]
