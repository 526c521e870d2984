"""The file of a trail: one chain of records, whichever process writes to it.

Every writer of a path, in this process or another, waits for the lock of the trail, continues where the last record
ended, and repairs what a dead process left behind. The head, a separate file, records where the chain ends.

A thread releases the mutex while it waits for another process, so it never blocks an event loop in its own process.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import sys
import threading
import weakref
from pathlib import Path
from time import monotonic, sleep
from typing import Final, Literal

from mcpcore.audit.chain import (
    FLAG_AT,
    GENESIS,
    HEAD_SIZE,
    KEY_VARIABLE,
    MAX_LINE,
    WRITING,
    AuditError,
    Head,
    Signer,
    read_link,
)
from mcpcore.audit.files import (
    head_path,
    identity_of,
    is_named,
    last_record,
    last_rotated_record,
    lock_path,
    open_lock,
    open_own,
    read_at,
    require_head,
    require_trail,
    rotated_files,
    rotated_path,
    state_of_names,
    sync_folder,
    try_lock,
    unlock,
    write_all,
    write_at,
)
from mcpcore.audit.listeners import LOGGER, Flusher
from mcpcore.audit.record import encode_event

AuditFlush = Literal["record", "fsync", "interval"]
"""When a record is safe. All three survive a killed process; only "fsync" survives a power cut without any loss.

```python
trail = AuditTrail.open("audit.jsonl", flush="fsync")
```
"""

_FIRST_PAUSE: Final = 0.00002
_LONGEST_PAUSE: Final = 0.001
"""Seconds between two attempts to take the lock. A blocking wait could last forever, if a stopped process holds it."""

_SHORT_PATIENCE: Final = 0.05
"""Seconds to wait for a lock that was held for a whole timeout before, and probably stays held."""


class Writer:
    """Appends to the file at one path. Safe to use from several threads and across `os.fork`."""

    def __init__(
        self,
        path: Path,
        signer: Signer,
        *,
        flush: AuditFlush,
        flush_interval: float,
        max_bytes: int,
        keep: int | None,
        lock_timeout: float,
    ) -> None:
        """Configure the writer without opening anything. For the options see `AuditTrail`."""
        self.path: Final = path
        # As bytes, so that the system calls for each record need not encode them.
        self._name = os.fsencode(str(path))
        self._head_name = os.fsencode(str(head_path(path)))
        self._lock_name = os.fsencode(str(lock_path(path)))
        self._folder = os.fsencode(str(path.parent))
        self._signer = signer
        self._flush: AuditFlush = flush
        self._flush_interval = flush_interval
        self._max_bytes = max_bytes
        self._keep = keep
        self._lock_timeout = lock_timeout
        self.lost = 0
        """How many records this process could not write so far."""
        self._unnoted = 0
        """How many of them are not yet mentioned in the file."""
        self._reset()
        _WRITERS.add(self)

    def _reset(self) -> None:
        """Forget the open files, at the start and in a forked child, whose parent uses the same descriptors."""
        self._mutex = threading.RLock()
        self._counting = threading.Lock()
        self._lock_fd = -1
        self._fd = -1
        self._ident = self._head_ident = self._lock_ident = (0, 0)
        self._names: tuple[int, int, int] | None = None
        self._end = -1
        self._seq = 0
        self._hash = GENESIS
        self._head_fd = -1
        self._head_known = False
        self.patience = self._lock_timeout
        """Seconds to wait for the lock now."""
        self._flusher = Flusher(self._open_copies, self._flush_interval, str(self.path))

    @property
    def head(self) -> Head | None:
        """The last record as this process knows it, or None."""
        with self._mutex:
            return Head(self._seq, self._hash, max(self._end, 0)) if self._seq else None

    def append(self, payload: str, wait: float = 0.0) -> bytes | None:
        """Add one record; returns its line with the line feed, or None if the lock was not free within `wait` seconds.

        Raises:
            OSError: If the file cannot be written.
            AuditError: If it must not be written.
        """
        deadline, pause, left = monotonic() + wait if wait else 0.0, _FIRST_PAUSE, wait
        while True:
            if self._mutex.acquire(timeout=left) if left > 0 else self._mutex.acquire(blocking=False):
                try:
                    line = self._append_once(payload)
                finally:
                    self._mutex.release()
                if line is not None:
                    self.patience = self._lock_timeout
                    return line
            if not wait:
                return None
            left = deadline - monotonic()
            if left <= 0:
                return None
            sleep(min(pause, left))
            pause = min(pause * 1.5, _LONGEST_PAUSE)

    def held(self) -> AuditError:
        """The error of a record that waited for the whole timeout; later records wait less."""
        self.patience = min(self.patience, _SHORT_PATIENCE)
        return AuditError(f"another process has held its lock for {self._lock_timeout:g} s")

    @property
    def is_stuck(self) -> bool:
        """Whether the lock was held for a whole timeout, and no record was written since."""
        return self.patience < self._lock_timeout

    def missed(self) -> int:
        """Count a lost record, which the next record in the file will mention; returns the number so far."""
        with self._counting:
            self.lost += 1
            self._unnoted += 1
            return self.lost

    def check(self) -> None:
        """Open the file, and repair it if necessary.

        Raises:
            OSError: If it cannot be opened.
            AuditError: If it cannot be continued, or its lock is held.
        """
        deadline = monotonic() + self.patience
        while True:
            with self._mutex:
                if self._enter():
                    self._leave()
                    return
            if monotonic() >= deadline:
                raise self.held()
            sleep(_LONGEST_PAUSE)

    def flush(self) -> None:
        """Flush all records to the disk.

        Raises:
            OSError: If the disk refuses.
        """
        with self._mutex:
            if self._fd >= 0:
                os.fsync(self._fd)
            if self._head_fd >= 0:
                os.fsync(self._head_fd)

    def close(self) -> None:
        """Close the files; the next record opens them again."""
        with self._mutex:
            if self._flush == "interval":
                with contextlib.suppress(OSError):
                    self.flush()
            self._drop()
        # Without the mutex, since this waits for the flusher's thread, which takes the mutex too.
        self._flusher.stop()

    def __del__(self) -> None:
        # Many servers of a process, as in tests, are never closed. A writer with a bad path has no attributes to close.
        try:  # noqa: SIM105 - contextlib may be gone when the process ends
            self._drop()
        except (AttributeError, OSError):
            pass

    # The methods below run with the mutex held, and from _enter to _leave with the lock of the file as well.

    def _append_once(self, payload: str) -> bytes | None:
        """Add one record and return its line; None if another process holds the lock."""
        if not self._enter():
            return None
        try:
            return self._append(payload)
        finally:
            self._leave()

    def _enter(self) -> bool:
        """Open and lock the file that the path names now, and find its end; False if the lock is taken."""
        # A file may be replaced between the moments when it is opened and when it is locked.
        for _ in range(100):
            if self._fd < 0:
                self._open()
            if self._lock_fd < 0:
                self._lock_fd = open_lock(self._lock_name, self._fd)
                self._lock_ident = identity_of(os.fstat(self._lock_fd))
            if not try_lock(self._lock_fd):
                return False
            try:
                if self._is_current():
                    return True
            except BaseException:
                self._leave()
                raise
            self._leave()
        raise AuditError("it is replaced faster than it can be opened")  # pragma: no cover - a hundred times in a row

    def _is_current(self) -> bool:
        """Whether the open files are those that the names lead to, with a known end; closes those that are not.

        A file that was moved or replaced takes no more records. The names are looked up for each record, unless no name
        in the folder has changed since they were.
        """
        names = state_of_names(self._folder)
        if names is None or names != self._names:
            if not is_named(self._ident, self._name):
                # Moved away or deleted: another file has the name now, or will have it.
                self._close_file()
                return False
            if not is_named(self._lock_ident, self._lock_name):
                # A writer that opened the new lock file does not wait for this one.
                unlock(self._lock_fd)
                os.close(self._lock_fd)
                self._lock_fd = -1
                return False
            self._drop_replaced_head()
            self._names = names
        # Other writers only add to the file; a head that was changed alone is overwritten in any case.
        size = os.lseek(self._fd, 0, os.SEEK_END)
        if size != self._end or not self._head_known:
            self._catch_up(size, self._read_head())
        return True

    def _leave(self) -> None:
        if self._lock_fd >= 0:
            unlock(self._lock_fd)

    def _open(self) -> None:
        fd = open_own(self._name, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600, "it")
        try:
            require_trail(fd, self._head_name, self._signer)
        except BaseException:
            os.close(fd)
            raise
        self._fd, self._ident, self._end = fd, identity_of(os.fstat(fd)), -1

    def _close_file(self) -> None:
        fd, self._fd, self._end = self._fd, -1, -1
        if fd >= 0:
            os.close(fd)

    def _drop(self) -> None:
        self._close_file()
        # Forgotten first: after an interruption, the number of a closed descriptor may be that of another file.
        head, lock, self._head_fd, self._lock_fd, self._head_known = self._head_fd, self._lock_fd, -1, -1, False
        for fd in (head, lock):
            if fd >= 0:
                os.close(fd)

    def _catch_up(self, size: int, raw: bytes) -> None:
        """Read the end of the chain after another process wrote, and repair the traces of a dead one."""
        head = Head.read(raw, self._signer) if raw else None
        if head is not None and not head.writing and head.size == size:
            behind = head.seq < self._seq or (head.seq == self._seq and head.hash != self._hash)
            if not behind:
                self._know(size, head.seq, head.hash)
                return
        self._recover(size, raw, head)

    def _know(self, size: int, seq: int, digest: str) -> None:
        self._end, self._seq, self._hash, self._head_known = size, seq, digest, True

    def _recover(self, size: int, raw: bytes, head: Head | None) -> None:
        """Find the end of the chain without the help of the head, and record the findings."""
        tail, torn = last_record(self._fd, size, self._signer)
        is_first = tail is None
        if tail is None:
            tail = last_rotated_record(self.path, self._signer)
        signed_by = tail.alg if tail is not None else Head.alg_of(raw) if raw else None
        if signed_by not in (None, "sha256", self._signer.alg):
            raise AuditError(
                f"it is signed with the key {str(signed_by).partition(':')[2]}, and {KEY_VARIABLE} is "
                + ("another one" if self._signer.keyed else "not set")
            )
        if head is None and raw and (tail is None or not tail.keyed):
            # The key is new: the head was made without it, like all records so far.
            head = Head.read(raw, Signer(None))
        events: list[str] = []
        # This process remembers the end, or read it from the deleted head; otherwise only the file knows it.
        knows = self._seq > 0
        at = (tail.seq, tail.hash) if tail is not None else (0, GENESIS)
        last = read_link(torn + b"\n", self._signer) if torn else None
        if last is not None and last.sound and (last.seq, last.prev) == (at[0] + 1, at[1]):
            # Only its newline is missing: with that, it is a record like any other.
            write_all(self._fd, b"\n")
            size, tail, torn, at = size + 1, last, b"", (last.seq, last.hash)
        known = [at]
        if head is not None:
            known.append((head.seq, head.hash))
        if self._seq:
            known.append((self._seq, self._hash))
        # The highest known number is the end: the records between it and the end of the file were removed. If two
        # sources know the same number, memory counts more than the head, and the head more than the file.
        end = max(enumerate(known), key=lambda item: (item[1][0], item[0]))[1]
        if torn:
            events.append(encode_event("sealed", bytes=len(torn), sha256=hashlib.sha256(torn).hexdigest()))
        if end[0] > at[0]:
            events.append(encode_event("missing", first=at[0] + 1, last=end[0]))
        elif end != at:
            events.append(encode_event("replaced", record=end[0], found=at[1]))
        if head is None and (tail is not None or raw):
            events.append(encode_event("head_restored" if knows else "head_lost", damaged=bool(raw)))
        elif head is not None and tail is not None and tail.seq > head.seq + head.writing:
            events.append(encode_event("beyond_head", first=head.seq + 1, last=tail.seq))
        adoption: list[str] = []
        if self._signer.keyed and tail is not None and not tail.keyed:
            # The file was written without the key: by this server before it had one, or by another program.
            adoption.append(encode_event("key_added", last=tail.seq, last_hash=tail.hash))
            LOGGER.warning(
                "the audit trail %s has no signature up to record %d: `mcpcore audit verify` fails until you confirm "
                "these records with --unsigned",
                self.path,
                tail.seq,
            )
        for event in events:
            LOGGER.warning("the audit trail %s needed repair: %s", self.path, event)
        self._know(size, *end)
        self._put_head()
        if torn:
            # The fragment gets its newline in one write with the record that explains it.
            line, digest = self._seal(events.pop(0), is_first=is_first)
            self._write(b"\n" + line, digest)
        for event in (*events, *adoption):
            self._write(*self._seal(event))

    def _append(self, payload: str) -> bytes:
        """Add one record and return its line, with its line feed."""
        if self._unnoted:
            self._note_losses()
        line, digest = self._seal(payload)
        if self._end and self._end + len(line) > self._max_bytes:
            self._rotate()
            line, digest = self._seal(payload)
        self._write(line, digest)
        return line

    def _note_losses(self) -> None:
        """Record how many records were lost, before the first one that can be written again."""
        count = self._unnoted
        self._write(*self._seal(encode_event("lost", records=count)))
        with self._counting:
            # Other threads may have lost records since they were counted, so it does not become 0.
            self._unnoted -= count
        LOGGER.warning("the audit trail %s can be written again; %d record(s) are not in it", self.path, count)

    def _seal(self, payload: str, *, is_first: bool = False) -> tuple[bytes, str]:
        """The next line and its hash; the first record of a file says whether it begins the trail."""
        begins = self._seq == 0 if is_first or self._end == 0 else None
        return self._signer.seal(self._seq + 1, self._hash, payload, begins=begins)

    def _write(self, line: bytes, digest: str) -> None:
        """Append `line`, whole or not at all, and move the head."""
        self._announce()
        fd, start = self._fd, self._end
        # Unknown until the write is done: after any interruption, the file is examined again.
        self._end = -1
        try:
            write_all(fd, line)
            if self._flush == "fsync":
                os.fsync(fd)
        except OSError:
            # A part of a record is useless, and a full disk needs the space.
            os.ftruncate(fd, start)
            self._end = start
            self._put_head()
            raise
        self._end = start + len(line)
        self._seq += 1
        self._hash = digest
        self._put_head()
        if self._flush == "interval":
            self._flusher.request()

    # The head is overwritten in place. Replacing the file would be as safe but far slower, since file systems write a
    # replaced file back immediately. It is one sector, written by one call, and has its own checksum.

    def _read_head(self) -> bytes:
        """The content of the head file; empty if it is new."""
        if self._head_fd < 0:
            fd = open_own(self._head_name, os.O_RDWR | os.O_CREAT, 0o600, f"its head, {self.path}.head,")
            try:
                require_head(fd, f"{self.path}.head")
            except BaseException:
                os.close(fd)
                raise
            self._head_fd, self._head_ident = fd, identity_of(os.fstat(fd))
        return read_at(self._head_fd, HEAD_SIZE, 0)

    def _drop_replaced_head(self) -> None:
        """Close the head if it was deleted, or another file has its name."""
        if self._head_fd < 0 or is_named(self._head_ident, self._head_name):
            return
        # Other processes wrote to the deleted head too, so it may name records that this process does not know.
        head = Head.read(read_at(self._head_fd, HEAD_SIZE, 0), self._signer)
        if head is not None and head.seq > self._seq:
            self._seq, self._hash = head.seq, head.hash
        os.close(self._head_fd)
        self._head_fd, self._head_known = -1, False

    def _put_head(self) -> None:
        """Write the head: where the trail ends now."""
        # Unknown until the write is done, like the end of the file.
        self._head_known = False
        if write_at(self._head_fd, self._signer.head(self._seq, self._hash, self._end), 0) != HEAD_SIZE:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))  # pragma: no cover - full within one sector
        if self._flush == "fsync":
            os.fsync(self._head_fd)
        self._head_known = True

    def _announce(self) -> None:
        """Flag in the head that a record is about to be written after this end."""
        self._head_known = False
        write_at(self._head_fd, WRITING, FLAG_AT)
        if self._flush == "fsync":
            os.fsync(self._head_fd)

    # Rotation, flushing

    def _rotate(self) -> None:
        """Rename the full file and begin the next; the chain continues."""
        path = self.path
        first = read_link(read_at(self._fd, MAX_LINE, 0).partition(b"\n")[0] + b"\n", self._signer)
        target = rotated_path(path, first.seq if first is not None else self._seq)
        while target.exists():
            target = rotated_path(path, int(target.name[-12:]) + 1)
        # The flusher only flushes the file that is open, so that nobody would flush the full one later.
        if self._flush != "record":
            os.fsync(self._fd)
        self._close_file()
        os.rename(path, target)  # noqa: PTH104
        self._open()
        if not self._is_current():  # pragma: no cover - replaced at the same moment
            raise AuditError("its next file was replaced while it was begun")
        if self._flush == "fsync" and sys.platform != "win32":
            sync_folder(path.parent)
        self._prune()

    def _prune(self) -> None:
        """Delete the oldest full files beyond those to keep, after recording which."""
        if self._keep is None:
            return
        for old in rotated_files(self.path)[: -self._keep or None]:
            fd = os.open(old, os.O_RDONLY | getattr(os, "O_BINARY", 0))
            try:
                last, _ = last_record(fd, os.fstat(fd).st_size, self._signer)
            finally:
                os.close(fd)
            facts = {} if last is None else {"last": last.seq, "last_hash": last.hash}
            self._write(*self._seal(encode_event("pruned", file=old.name, **facts)))
            old.unlink()

    def _open_copies(self) -> list[int]:
        """Copies of the open descriptors, so that the flusher need not hold up a writer."""
        with self._mutex:
            return [os.dup(fd) for fd in (self._fd, self._head_fd) if fd >= 0]


_WRITERS: Final[weakref.WeakSet[Writer]] = weakref.WeakSet()


def _after_fork() -> None:
    for writer in list(_WRITERS):
        # Closed, not unlocked: an unlock here would release the lock of the parent.
        for fd in (writer._fd, writer._head_fd, writer._lock_fd):  # noqa: SLF001
            if fd >= 0:
                with contextlib.suppress(OSError):
                    os.close(fd)
        writer._reset()  # noqa: SLF001
        writer.lost = writer._unnoted = 0  # noqa: SLF001 - the parent reports its own


if hasattr(os, "register_at_fork"):  # pragma: no branch - Windows cannot fork
    os.register_at_fork(after_in_child=_after_fork)
