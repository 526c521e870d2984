"""The file of a trail: one chain of records, whoever writes to it.

Every writer of a path, in this process or another, takes turns by the trail's lock, goes on from where the last one
ended, and repairs what a dead one left behind. The head, a file of its own, says where the chain ends.

Nobody holds the mutex while it waits for another process: a thread that waits costs an event loop in the same process
nothing.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import sys
import threading
import weakref
from time import monotonic, sleep
from typing import TYPE_CHECKING, Final, Literal

from mcpcore.audit.chain import (
    FLAG_AT,
    GENESIS,
    HEAD_SIZE,
    KEY_VARIABLE,
    MAX_LINE,
    WRITING,
    Head,
    Link,
    Signer,
    read_link,
)
from mcpcore.audit.errors import AuditError
from mcpcore.audit.files import (
    head_path,
    lock_path,
    open_lock,
    open_own,
    read_at,
    rotated_files,
    rotated_path,
    sync_folder,
    try_lock,
    unlock,
    write_all,
    write_at,
)
from mcpcore.audit.listeners import LOGGER
from mcpcore.audit.recognition import require_head, require_trail
from mcpcore.audit.record import encode_event
from mcpcore.audit.watch import Watch, watch

if TYPE_CHECKING:
    import mmap
    from pathlib import Path

AuditFlush = Literal["record", "fsync", "interval"]
"""When a record is safe: from a killed process at once in all three; from a power cut "fsync" at once as well."""

_LOOK_EVERY: Final = 30.0
_LOOK_AGAIN: Final = 0.2
"""Seconds after which the files are looked at though the system tells of nothing, which file systems may leave out."""

_FIRST_PAUSE: Final = 0.00002
_LONGEST_PAUSE: Final = 0.001
"""Seconds between two tries of the lock. It is tried again and again rather than waited for: a writer that was stopped
with the lock in its hands must not stop every other server for good."""

_SHORT_PATIENCE: Final = 0.05
"""Seconds to wait for a lock that somebody has held for the whole timeout before, and so probably for good."""


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
        """Describe it; nothing is opened yet. For the options see `AuditTrail`."""
        self.path: Final = path
        # What the hot path looks at: as bytes, which need not be encoded anew each time.
        self._name = os.fsencode(str(path))
        self._head_name = os.fsencode(str(head_path(path)))
        self._lock_name = os.fsencode(str(lock_path(path)))
        self._signer = signer
        self._flush: AuditFlush = flush
        self._flush_interval = flush_interval
        self._max_bytes = max_bytes
        self._keep = keep
        self._lock_timeout = lock_timeout
        self.lost = 0
        """How many records this process could not write so far."""
        self._unnoted = 0
        """How many of them the file does not tell of yet."""
        self._inherited: list[mmap.mmap] = []
        """The same count from before each fork, in memory that both sides share, so that the side that writes first
        reports those records and the other does not."""
        self._reset()
        _WRITERS.add(self)

    def _reset(self) -> None:
        """Forget what is open; also right after a fork, where another process uses the same descriptors."""
        self._mutex = threading.RLock()
        self._counting = threading.Lock()
        self._lock_fd = -1
        self._fd = -1
        self._ident = (0, 0)
        self._end = -1
        self._seq = 0
        self._hash = GENESIS
        self._head_fd = -1
        self._head_known = False
        self._look_at = 0.0
        self._watch: Watch | None = None
        self.patience = self._lock_timeout
        """Seconds to wait for the lock now."""
        self._flusher: threading.Thread | None = None
        self._dirty = threading.Event()
        self._closing = threading.Event()

    @property
    def head(self) -> Head | None:
        """The last record as this process knows it; None where there is none."""
        with self._mutex:
            return Head(self._seq, self._hash, max(self._end, 0)) if self._seq else None

    def append(self, payload: str, wait: float = 0.0) -> bytes | None:
        """Add one record; its line, with its line feed, or None where the lock was not free within `wait` seconds.

        Raises:
            OSError: If the file cannot be written.
            AuditError: If it must not be.
        """
        deadline, pause, left = monotonic() + wait if wait else 0.0, _FIRST_PAUSE, wait
        while True:
            if self._mutex.acquire(timeout=left) if left > 0 else self._mutex.acquire(blocking=False):
                try:
                    line = self._append_at_once(payload) or self._append_with_care(payload)
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
        """The error of a record that waited for the lock all of its time; those after it do not wait as long."""
        self.patience = min(self.patience, _SHORT_PATIENCE)
        return AuditError(f"another process has held its lock for {self._lock_timeout:g} s")

    @property
    def is_stuck(self) -> bool:
        """Whether somebody has held the lock for the whole timeout, and nothing was written since."""
        return self.patience < self._lock_timeout

    def missed(self) -> int:
        """Have the next record that is written tell that one before it was not; how many were not so far."""
        with self._counting:
            self.lost += 1
            self._unnoted += 1
            return self.lost

    def check(self) -> None:
        """Open the file, and repair it where it has to be.

        Raises:
            OSError: If it cannot be opened.
            AuditError: If it cannot be continued, or somebody holds its lock.
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
        """Have all that is written on the disk when this returns.

        Raises:
            OSError: If the disk does not take it.
        """
        with self._mutex:
            if self._fd >= 0:
                os.fsync(self._fd)
            if self._head_fd >= 0:
                os.fsync(self._head_fd)
            self._dirty.clear()

    def close(self) -> None:
        """Let go of the files; the next record opens them again."""
        self._closing.set()
        self._dirty.set()
        with self._mutex:
            if self._flush == "interval":
                with contextlib.suppress(OSError):
                    self.flush()
            self._drop()
            flusher, self._flusher = self._flusher, None
        if flusher is not None and flusher is not threading.current_thread():
            flusher.join(timeout=5)

    def __del__(self) -> None:
        # Servers come and go in a process, as in tests, and few are closed. Of a path that is none, nothing is there.
        with contextlib.suppress(AttributeError, OSError):
            self._drop()

    # All below runs with the mutex held, and from _enter to _leave with the file's lock as well

    def _append_at_once(self, payload: str) -> bytes | None:
        """Add one record where the trail is as this process left it, as nearly always; None where nothing was done.

        What `_append_with_care` does, in one go: between the other work of a call no cache is warm, and every step
        counts.
        """
        fd, end, watch, lock_fd = self._fd, self._end, self._watch, self._lock_fd
        if not self._head_known or self._unnoted or self._flush == "fsync" or monotonic() >= self._look_at:
            return None
        if self._inherited or not end or not try_lock(lock_fd):
            return None
        try:
            signer, seq, head_fd = self._signer, self._seq + 1, self._head_fd
            try:
                if watch is None:
                    found = os.lstat(self._name)
                    if (found.st_dev, found.st_ino) != self._ident or os.fstat(head_fd).st_nlink == 0:
                        return None
                    if os.fstat(lock_fd).st_nlink == 0:
                        return None
                elif watch.happened(0):
                    return None
                # Whoever else writes adds to the file.
                if os.lseek(fd, 0, os.SEEK_END) != end:
                    return None
                line, digest = signer.seal(seq, self._hash, payload)
                if end + len(line) > self._max_bytes:
                    return None
                # Unknown until both are known again: whatever interrupts the next steps, they are then looked at anew.
                self._head_known, self._end = False, -1
                write_at(head_fd, WRITING, FLAG_AT)
                write_all(fd, line)
            except OSError:
                # Whoever tries it again with care says what is wrong. What was written of it goes before that.
                if self._end < 0:
                    os.ftruncate(fd, end)
                return None
            self._end = end = end + len(line)
            self._seq, self._hash = seq, digest
            self._head_known = write_at(head_fd, signer.head(seq, digest, end), 0) == HEAD_SIZE
        finally:
            unlock(lock_fd)
        if self._flush == "interval":
            self._flush_soon()
        return line

    def _append_with_care(self, payload: str) -> bytes | None:
        """Add one record and return its line, whatever became of the trail since; None where the lock is not free."""
        if not self._enter():
            return None
        try:
            return self._append(payload)
        finally:
            self._leave()

    def _enter(self) -> bool:
        """Open and lock the file that the path names now, and know its end; False where the lock is not free."""
        for _ in range(100):
            if self._fd < 0:
                self._open()
            if self._lock_fd < 0:
                self._open_lock()
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
        """Whether what is open is what the names lead to, its end known; closes what is not."""
        watched, clock = self._watch, monotonic()
        look = watched is None or clock >= self._look_at or bool(watched.happened(0))
        if watched is not None and look:
            watched.forget()
        try:
            found = os.lstat(self._name)
        except FileNotFoundError:
            found = None
        if found is None or (found.st_dev, found.st_ino) != self._ident:
            # Moved away or deleted meanwhile: another file has the name now, or will.
            self._close_file()
            return False
        if look:
            if not _is_named(self._lock_fd, self._lock_name):
                # Whoever opened the other one writes without waiting for this.
                unlock(self._lock_fd)
                os.close(self._lock_fd)
                self._lock_fd = -1
                return False
            self._look_for_head()
            self._look_at = clock + _LOOK_AGAIN
        # Whoever else writes adds to the file; a head that was changed alone is overwritten in any case.
        if found.st_size != self._end or not self._head_known:
            self._catch_up(found.st_size, self._read_head())
        return True

    def _leave(self) -> None:
        if self._lock_fd >= 0:
            unlock(self._lock_fd)

    def _open(self) -> None:
        path = self._name
        fd = open_own(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600, "it")
        try:
            require_trail(fd, self._head_name, self._signer)
        except BaseException:
            os.close(fd)
            raise
        found = os.fstat(fd)
        self._fd, self._ident, self._end = fd, (found.st_dev, found.st_ino), -1
        self._look_at = 0.0
        self._watch = watch(path)
        for opened, name in ((self._head_fd, self._head_name), (self._lock_fd, self._lock_name)):
            if opened >= 0:
                self._look_after(name)

    def _open_lock(self) -> None:
        self._lock_fd = open_lock(self._lock_name, self._fd)
        self._look_at = 0.0
        self._look_after(self._lock_name)

    def _look_after(self, name: bytes) -> None:
        if self._watch is not None and not self._watch.add(name):
            self._unwatch()

    def _unwatch(self) -> None:
        if self._watch is not None:
            self._watch.close()
            self._watch = None

    def _close_file(self) -> None:
        fd, self._fd, self._end = self._fd, -1, -1
        self._unwatch()
        if fd >= 0:
            os.close(fd)

    def _drop(self) -> None:
        self._close_file()
        head, lock, self._head_fd, self._lock_fd, self._head_known = self._head_fd, self._lock_fd, -1, -1, False
        for fd in (head, lock):
            if fd >= 0:
                os.close(fd)

    def _catch_up(self, size: int, raw: bytes) -> None:
        """Learn what was written since this process last looked, and repair what a dead one left behind."""
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
        """Find the end of the chain where the head does not say it, and write down what was found."""
        tail, torn = self._tail(self._fd, size)
        is_first = tail is None
        if tail is None:
            tail = self._tail_of_full()
        signed_by = tail.alg if tail is not None else Head.alg_of(raw) if raw else None
        if signed_by not in (None, "sha256", self._signer.alg):
            raise AuditError(
                f"it is signed with the key {str(signed_by).partition(':')[2]}, and {KEY_VARIABLE} is "
                + ("another one" if self._signer.keyed else "not set")
            )
        if head is None and raw and (tail is None or not tail.keyed):
            # The key is new: the head was still made without it, as all that came before.
            head = Head.read(raw, Signer(None))
        events: list[str] = []
        # This process remembers the end, or read it from the deleted head; otherwise only the file says where it is.
        knows = self._seq > 0
        at = (tail.seq, tail.hash) if tail is not None else (0, GENESIS)
        last = read_link(torn + b"\n", self._signer) if torn else None
        if last is not None and last.sound and (last.seq, last.prev) == (at[0] + 1, at[1]):
            # All of it but its newline got there: it is a record like any other once that is added.
            write_all(self._fd, b"\n")
            size, tail, torn, at = size + 1, last, b"", (last.seq, last.hash)
        known = [at]
        if head is not None:
            known.append((head.seq, head.hash))
        if self._seq:
            known.append((self._seq, self._hash))
        # The furthest end that anybody knows of is the end: what lies between it and the file's was taken away, and
        # the numbers tell. Where two know the same number, memory counts more than the head, the head than the file.
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
            # The file was written without the key, by this server before it had one or by anybody else.
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
            # The fragment gets its newline together with the record that accounts for it, or not at all.
            line, digest = self._seal(events.pop(0), is_first=is_first)
            self._write(b"\n" + line, digest)
        for event in (*events, *adoption):
            self._write(*self._seal(event))

    def _tail(self, fd: int, size: int) -> tuple[Link | None, bytes]:
        """The last whole record of a file, and the unfinished line after it."""
        start = size
        data = b""
        while start > 0 and len(data) < 2 * MAX_LINE:
            step = min(start, 65536)
            start -= step
            data = read_at(fd, step, start) + data
            lines = data.split(b"\n")
            # The first piece may be the end of a longer line, unless the file begins there.
            for piece in reversed(lines[1:-1] if start else lines[:-1]):
                link = read_link(piece + b"\n", self._signer)
                if link is not None and link.sound is not False:
                    return link, lines[-1]
        return None, data.rpartition(b"\n")[2] if size else b""

    def _tail_of_full(self) -> Link | None:
        """The last record of the newest full file: where the chain stands when a new file is still empty."""
        for path in reversed(rotated_files(self.path)):
            try:
                fd = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0))
            except OSError:
                continue
            try:
                link, _ = self._tail(fd, os.fstat(fd).st_size)
            finally:
                os.close(fd)
            if link is not None:
                return link
        return None

    def _append(self, payload: str) -> bytes:
        """Add one record and return its line, with its line feed."""
        if self._unnoted or self._inherited:
            self._note_losses()
        line, digest = self._seal(payload)
        if self._end and self._end + len(line) > self._max_bytes:
            self._rotate()
            line, digest = self._seal(payload)
        self._write(line, digest)
        return line

    def _note_losses(self) -> None:
        """Tell of the records that could not be written, together with the first one that fits again."""
        own = self._unnoted
        # The side that has the lock reports the losses from before a fork, and then clears them for the other side.
        count = own + sum(int.from_bytes(shared[:8], "big") for shared in self._inherited)
        if count:
            self._write(*self._seal(encode_event("lost", records=count)))
            for shared in self._inherited:
                shared[:8] = bytes(8)
            with self._counting:
                self._unnoted -= own
            LOGGER.warning("the audit trail %s can be written again; %d record(s) are not in it", self.path, count)
        for shared in self._inherited:
            shared.close()
        self._inherited.clear()

    def _seal(self, payload: str, *, is_first: bool = False) -> tuple[bytes, str]:
        """The next line and its hash; the first record of a file says whether it begins the trail."""
        begins = self._seq == 0 if is_first or self._end == 0 else None
        return self._signer.seal(self._seq + 1, self._hash, payload, begins=begins)

    def _write(self, line: bytes, digest: str) -> None:
        """Append `line`, whole or not at all, and move the head."""
        self._announce()
        fd, start = self._fd, self._end
        # Unknown until it is known again: whatever interrupts the next steps, the file is then looked at anew.
        self._end = -1
        try:
            write_all(fd, line)
            if self._flush == "fsync":
                os.fsync(fd)
        except OSError:
            # A part of a record is worth nothing, and on a full disk its space is needed.
            os.ftruncate(fd, start)
            self._end = start
            self._put_head()
            raise
        self._end = start + len(line)
        self._seq += 1
        self._hash = digest
        self._put_head()
        if self._flush == "interval":
            self._flush_soon()

    # The head. Overwritten in place: replacing the file would be as safe and take far longer, since file systems
    # write a replaced file back at once. It is one sector, written by one call, and carries its own check.

    def _read_head(self) -> bytes:
        """The head's file as it is; empty where there is none."""
        if self._head_fd < 0:
            fd = open_own(self._head_name, os.O_RDWR | os.O_CREAT, 0o600, f"its head, {self.path}.head,")
            try:
                require_head(fd, f"{self.path}.head")
            except BaseException:
                os.close(fd)
                raise
            self._head_fd = fd
            self._look_after(self._head_name)
        return read_at(self._head_fd, HEAD_SIZE, 0)

    def _look_for_head(self) -> None:
        """Let go of the head where somebody deleted it, or put another in its place."""
        if self._head_fd < 0 or _is_named(self._head_fd, self._head_name):
            return
        # Other processes wrote the deleted head as well, so that it can know of records that this one does not.
        head = Head.read(read_at(self._head_fd, HEAD_SIZE, 0), self._signer)
        if head is not None and head.seq > self._seq:
            self._seq, self._hash = head.seq, head.hash
        os.close(self._head_fd)
        self._head_fd, self._head_known = -1, False

    def _put_head(self) -> None:
        """Say where the trail ends now."""
        # Unknown while it is being written, as with the end of the file.
        self._head_known = False
        if write_at(self._head_fd, self._signer.head(self._seq, self._hash, self._end), 0) != HEAD_SIZE:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))  # pragma: no cover - full within one sector
        if self._flush == "fsync":
            os.fsync(self._head_fd)
        self._head_known = True

    def _announce(self) -> None:
        """Say that a record is about to be written after this end."""
        self._head_known = False
        write_at(self._head_fd, WRITING, FLAG_AT)
        if self._flush == "fsync":
            os.fsync(self._head_fd)

    # Rotation, flushing

    def _rotate(self) -> None:
        """Put the full file aside and begin the next; the chain goes on."""
        path = self.path
        first = read_link(read_at(self._fd, MAX_LINE, 0).partition(b"\n")[0] + b"\n", self._signer)
        target = rotated_path(path, first.seq if first is not None else self._seq)
        while target.exists():
            target = rotated_path(path, int(target.name[-12:]) + 1)
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
        """Delete full files beyond those to keep, after the trail itself has noted which."""
        if self._keep is None:
            return
        for old in rotated_files(self.path)[: -self._keep or None]:
            fd = os.open(old, os.O_RDONLY | getattr(os, "O_BINARY", 0))
            try:
                last, _ = self._tail(fd, os.fstat(fd).st_size)
            finally:
                os.close(fd)
            facts = {} if last is None else {"last": last.seq, "last_hash": last.hash}
            event = encode_event("pruned", file=old.name, **facts)
            self._write(*self._seal(event))
            old.unlink()

    def _flush_soon(self) -> None:
        self._dirty.set()
        if self._flusher is None:
            self._closing = threading.Event()
            self._flusher = threading.Thread(
                target=_flush_forever,
                args=(weakref.ref(self), self._dirty, self._closing, self._flush_interval),
                name="mcpcore-audit-flush",
                daemon=True,
            )
            self._flusher.start()

    def _flush_once(self) -> None:
        """Flush without holding up writers: through descriptors of its own."""
        with self._mutex:
            self._dirty.clear()
            fds = [os.dup(fd) for fd in (self._fd, self._head_fd) if fd >= 0]
        try:
            for fd in fds:
                os.fsync(fd)
        except OSError as exc:
            self._dirty.set()
            LOGGER.error("the audit trail %s could not be flushed to the disk: %s", self.path, exc)
        finally:
            for fd in fds:
                os.close(fd)


def _flush_forever(ref: weakref.ref[Writer], dirty: threading.Event, closing: threading.Event, interval: float) -> None:
    while not closing.wait(interval):
        # Woken now and then to find out whether the writer is still in use.
        written = dirty.wait(_LOOK_EVERY)
        writer = ref()
        if writer is None or closing.is_set():
            return
        if written:
            writer._flush_once()  # noqa: SLF001 - the thread is the writer's own, and must not keep it alive
        del writer


_WRITERS: Final[weakref.WeakSet[Writer]] = weakref.WeakSet()


def _is_named(fd: int, name: bytes) -> bool:
    """Whether the open file is the one that `name` leads to."""
    with contextlib.suppress(FileNotFoundError):
        return os.path.samestat(os.lstat(name), os.fstat(fd))
    return False


def _before_fork() -> None:
    for writer in list(_WRITERS):
        if writer._unnoted:  # noqa: SLF001
            import mmap

            with writer._counting:  # noqa: SLF001
                shared = mmap.mmap(-1, 8)
                shared[:8] = writer._unnoted.to_bytes(8, "big")  # noqa: SLF001
                writer._inherited.append(shared)  # noqa: SLF001
                writer._unnoted = 0  # noqa: SLF001


def _after_fork() -> None:
    for writer in list(_WRITERS):
        # Closed, never unlocked: the lock belongs to the parent, which shares it as long as this one keeps it open.
        for fd in (writer._fd, writer._head_fd, writer._lock_fd):  # noqa: SLF001
            if fd >= 0:
                with contextlib.suppress(OSError):
                    os.close(fd)
        with contextlib.suppress(OSError):
            writer._unwatch()  # noqa: SLF001
        writer._reset()  # noqa: SLF001
        writer.lost = 0


if hasattr(os, "register_at_fork"):  # pragma: no branch - Windows cannot fork
    os.register_at_fork(before=_before_fork, after_in_child=_after_fork)
