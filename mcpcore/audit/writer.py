"""The file of a trail: one chain of records, whoever writes to it.

Every writer of a path, in this process or another, takes turns by the file's lock, goes on from where the last one
ended, and repairs what a dead one left behind. The head, a file of its own, says where the chain ends.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
import sys
import threading
import weakref
from time import monotonic
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
    lock,
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
from mcpcore.audit.record import encode_event
from mcpcore.audit.watch import Watch, watch

if TYPE_CHECKING:
    from pathlib import Path

AuditFlush = Literal["record", "fsync", "interval"]
"""When a record is safe: from a killed process at once in all three; from a power cut "fsync" at once as well."""

_LOOK_EVERY: Final = 30.0
_LOOK_AGAIN: Final = 0.2
"""Seconds after which the files are looked at though the system tells of nothing, which file systems may leave out."""


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
        self._head_name = self._name + b".head"
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
        self._reset()
        _WRITERS.add(self)

    def _reset(self) -> None:
        """Forget what is open; also right after a fork, where another process uses the same descriptors."""
        self._mutex = threading.RLock()
        self._fd = -1
        self._ident = (0, 0)
        self._end = -1
        self._seq = 0
        self._hash = GENESIS
        self._head_fd = -1
        self._head_known = False
        self._look_at = 0.0
        self._watch: Watch | None = None
        self._patience = self._lock_timeout
        self._flusher: threading.Thread | None = None
        self._dirty = threading.Event()
        self._closing = threading.Event()

    @property
    def head(self) -> Head | None:
        """The last record as this process knows it; None where there is none."""
        with self._mutex:
            return Head(self._seq, self._hash, max(self._end, 0)) if self._seq else None

    def append(self, payload: str) -> bytes:
        """Add one record; its line, with its line feed.

        Raises:
            OSError: If the file cannot be written.
            AuditError: If it must not be, or somebody holds its lock.
        """
        with self._mutex:
            return self._append_at_once(payload) or self._append_with_care(payload)

    def missed(self) -> int:
        """Have the next record that is written tell that one before it was not; how many were not so far."""
        with self._mutex:
            self.lost += 1
            self._unnoted += 1
            return self.lost

    def check(self) -> None:
        """Open the file, and repair it where it has to be.

        Raises:
            OSError: If it cannot be opened.
            AuditError: If it is none that can be gone on with, or somebody holds its lock.
        """
        with self._mutex:
            self._enter()
            self._leave()

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
        fd, end, watch = self._fd, self._end, self._watch
        if not self._head_known or self._unnoted or self._flush == "fsync" or monotonic() >= self._look_at:
            return None
        if not try_lock(fd):
            return None
        try:
            signer, seq, head_fd = self._signer, self._seq + 1, self._head_fd
            try:
                if watch is None:
                    found = os.stat(self._name)  # noqa: PTH116 - the hot path has the name as bytes
                    if (found.st_dev, found.st_ino) != self._ident or os.fstat(head_fd).st_nlink == 0:
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
            unlock(fd)
        if self._flush == "interval":
            self._flush_soon()
        return line

    def _append_with_care(self, payload: str) -> bytes:
        """Add one record and return its line, whatever became of the trail since."""
        self._enter()
        try:
            return self._append(payload)
        finally:
            self._leave()

    def _enter(self) -> None:
        """Open and lock the file that the path names now, and know its end."""
        for _ in range(100):
            if self._fd < 0:
                self._open()
            if not try_lock(self._fd) and not lock(self._fd, self._patience):
                # Whoever holds it so long has stopped; the next failures do not wait as long again.
                self._patience = min(self._patience, 0.05)
                raise AuditError(f"another process has held its lock for {self._lock_timeout:g} s")
            self._patience = self._lock_timeout
            watched, clock = self._watch, monotonic()
            look = watched is None or clock >= self._look_at or bool(watched.happened(0))
            if watched is not None and look:
                watched.forget()
            try:
                found = os.stat(self._name)  # noqa: PTH116 - the hot path has the name as bytes
            except FileNotFoundError:
                found = None
            except BaseException:
                unlock(self._fd)
                raise
            if found is not None and (found.st_dev, found.st_ino) == self._ident:
                try:
                    if look:
                        self._look_for_head()
                        self._look_at = clock + _LOOK_AGAIN
                    # Whoever else writes adds to the file; a head that was changed alone is overwritten in any case.
                    if found.st_size != self._end or not self._head_known:
                        self._catch_up(found.st_size, self._read_head())
                except BaseException:
                    unlock(self._fd)
                    raise
                return
            # Moved away or deleted meanwhile: another file has the name now, or will.
            self._close_file()
        raise AuditError("it is replaced faster than it can be opened")  # pragma: no cover - a hundred times in a row

    def _leave(self) -> None:
        if self._fd >= 0:  # pragma: no branch - closed where a rotation could not begin the next file
            unlock(self._fd)

    def _open(self) -> None:
        path = self._name
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
        flags |= getattr(os, "O_BINARY", 0)
        with contextlib.suppress(FileNotFoundError):
            # Looked at before it is opened: opening a device or a pipe can do things.
            if not stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116
                raise AuditError("it is not a regular file")
        fd = os.open(path, flags, 0o600)
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):  # pragma: no cover - replaced between the look and the opening
            os.close(fd)
            raise AuditError("it is not a regular file")
        self._fd, self._ident, self._end = fd, (found.st_dev, found.st_ino), -1
        self._watch = watch(path)
        if self._watch is not None and self._head_fd >= 0 and not self._watch.add(self._head_name):
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
        fd, self._head_fd, self._head_known = self._head_fd, -1, False
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
            events.append(encode_event("head_lost", damaged=bool(raw)))
        elif head is not None and tail is not None and tail.seq > head.seq + head.writing:
            events.append(encode_event("beyond_head", first=head.seq + 1, last=tail.seq))
        for event in events:
            LOGGER.warning("the audit trail %s needed repair: %s", self.path, event)
        self._know(size, *end)
        self._put_head()
        if torn:
            # The fragment gets its newline together with the record that accounts for it, or not at all.
            line, digest = self._signer.seal(self._seq + 1, self._hash, events.pop(0))
            self._write(b"\n" + line, digest)
        for event in events:
            self._write(*self._signer.seal(self._seq + 1, self._hash, event))

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
        if self._unnoted:
            # Written in the same breath as the first record that fits again, so that the gap has its place.
            count = self._unnoted
            self._write(*self._signer.seal(self._seq + 1, self._hash, encode_event("lost", records=count)))
            self._unnoted -= count
            LOGGER.warning("the audit trail %s can be written again; %d record(s) are not in it", self.path, count)
        line, digest = self._signer.seal(self._seq + 1, self._hash, payload)
        if self._end and self._end + len(line) > self._max_bytes:
            self._rotate()
            line, digest = self._signer.seal(self._seq + 1, self._hash, payload)
        self._write(line, digest)
        return line

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
            flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
            self._head_fd = os.open(self._head_name, flags | getattr(os, "O_BINARY", 0), 0o600)
            if self._watch is not None and not self._watch.add(self._head_name):
                self._unwatch()
            if not stat.S_ISREG(os.fstat(self._head_fd).st_mode):
                os.close(self._head_fd)
                self._head_fd = -1
                raise AuditError(f"its head, {head_path(self.path)}, is not a regular file")
        return read_at(self._head_fd, HEAD_SIZE, 0)

    def _look_for_head(self) -> None:
        """Let go of the head where somebody deleted it, or put another in its place."""
        if self._head_fd < 0:
            return
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.stat(self._head_name), os.fstat(self._head_fd)):  # noqa: PTH116
                return
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
        if sys.platform == "win32":  # pragma: no cover - the tests run on POSIX
            self._leave()
            self._close_file()
        os.rename(path, target)  # noqa: PTH104
        self._leave()
        self._close_file()
        self._enter()
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
            self._write(*self._signer.seal(self._seq + 1, self._hash, event))
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


def _after_fork() -> None:
    for writer in list(_WRITERS):
        # Closed, never unlocked: the lock belongs to the parent, which shares it as long as this one keeps it open.
        for fd in (writer._fd, writer._head_fd):  # noqa: SLF001
            if fd >= 0:
                with contextlib.suppress(OSError):
                    os.close(fd)
        with contextlib.suppress(OSError):
            writer._unwatch()  # noqa: SLF001
        writer._reset()  # noqa: SLF001


if hasattr(os, "register_at_fork"):  # pragma: no branch - Windows cannot fork
    os.register_at_fork(after_in_child=_after_fork)
