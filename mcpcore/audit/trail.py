"""The trail: every failure, recorded before it is answered.

What is guaranteed, for a trail in a file on a local file system:

- `record` returns after the record is with the operating system ("record", the default, and "interval") or on the disk
  ("fsync"). Kill the process at any moment, and the trail verifies; every record whose `record` call returned is
  there, and of the one that was under way at most an unfinished line, which the next writer seals off and names.
- Cut the power, and "fsync" loses nothing that was answered, "interval" at most `flush_interval` seconds, "record" what
  the system had not written back. What is lost is found by `verify`, since the head or the next record tells of it.
- Any number of processes and threads may write the same trail; their records make one chain.
- A record that could not be written is never passed over in silence: see `AuditPolicy`.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import logging
import os
import stat
import sys
import threading
import weakref
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from mcpcore.audit.chain import FLAG_AT, GENESIS, HEAD_SIZE, MAX_LINE, WRITING, Head, Link, Signer, read_link
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
from mcpcore.audit.listeners import LOGGER, default_sinks, is_heard, level_of, listens, logs_to_stderr
from mcpcore.audit.record import encode, encode_event, get_ready
from mcpcore.audit.watch import Watch, watch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self

    from mcpcore.audit.listeners import Sink

AuditPolicy = Literal["warn", "refuse"]
"""What becomes of an answer whose record cannot be written: it is sent and a warning given, or it is withheld."""

AuditFlush = Literal["record", "fsync", "interval"]
"""When a record is safe: from a killed process at once in all three; from a power cut "fsync" at once as well."""

MAX_BYTES: Final = 64 * 1024 * 1024
"""The size at which a file is full and the next is begun, unless said otherwise."""

PATH_VARIABLE: Final = "MCPCORE_AUDIT"
KEY_VARIABLE: Final = "MCPCORE_AUDIT_KEY"
POLICY_VARIABLE: Final = "MCPCORE_AUDIT_POLICY"
FLUSH_VARIABLE: Final = "MCPCORE_AUDIT_FLUSH"

_WEAK_KEY: Final = 16
_LOOK_EVERY: Final = 30.0
_LOOK_AGAIN: Final = 0.2
"""Seconds after which the files are looked at though the system tells of nothing, which file systems may leave out."""


class AuditTrail:
    """Where failures are recorded: the logger `mcpcore.audit` always, a file where there is a path, OpenTelemetry.

    Made by `AuditTrail.open(path)` or `AuditTrail.from_options(...)`. Safe to use from several threads, from several
    processes on one path, and across `os.fork`.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        key: str | bytes | None = None,
        flush: AuditFlush = "record",
        flush_interval: float = 1.0,
        max_bytes: int = MAX_BYTES,
        keep: int | None = None,
        policy: AuditPolicy = "warn",
        lock_timeout: float = 2.0,
        warn_every: float = 60.0,
        sinks: Sequence[Sink] | None = None,
    ) -> None:
        """Describe a trail; nothing is opened yet.

        Args:
            path: The file, or None for the logger and the sinks alone.
            key: The key of the HMAC; with none, records are chained by SHA-256 alone.
            flush: When a record is safe; see `AuditFlush`.
            flush_interval: Seconds between two flushes to the disk, for "interval".
            max_bytes: The size at which a file is full.
            keep: How many full files to keep; None keeps all of them.
            policy: What becomes of an answer whose record cannot be written.
            lock_timeout: Seconds to wait for another writer before the record counts as not written.
            warn_every: Seconds between two warnings that records cannot be written.
            sinks: Where else records go; None for OpenTelemetry, which costs nothing where it is not set up.

        Raises:
            ValueError: If an option is none of those allowed.
        """
        if flush not in get_args(AuditFlush):
            raise ValueError(f"audit flush must be one of {', '.join(get_args(AuditFlush))}, not {flush!r}")
        if policy not in get_args(AuditPolicy):
            raise ValueError(f"audit policy must be one of {', '.join(get_args(AuditPolicy))}, not {policy!r}")
        if max_bytes < 1 or flush_interval <= 0 or lock_timeout < 0 or (keep is not None and keep < 0):
            raise ValueError("audit max_bytes and flush_interval must be above 0, keep and lock_timeout 0 or more")
        if path is not None and "\0" in os.fsdecode(path):
            raise ValueError(f"audit path {os.fsdecode(path)!r} holds a NUL, which no file name can; give another path")
        self.path: Final = None if path is None else Path(os.path.abspath(path))  # noqa: PTH100 - links stay as named
        # What the hot path looks at: as bytes, which need not be encoded anew each time.
        self._name = os.fsencode(str(self.path))
        self._head_name = self._name + b".head"
        self.policy: Final[AuditPolicy] = policy
        self.lost = 0
        """How many records could not be written to the file so far, by this process."""
        secret = key.encode("utf-8", "surrogateescape") if isinstance(key, str) else key
        self._signer = Signer(secret or None)
        self._weak = bool(secret) and len(secret or b"") < _WEAK_KEY
        self._flush: AuditFlush = flush
        self._flush_interval = flush_interval
        self._max_bytes = max_bytes
        self._keep = keep
        self._lock_timeout = lock_timeout
        self._warn_every = warn_every
        self._warned_at: float | None = None
        self._unnoted = 0
        self._sinks = sinks
        get_ready()
        self._reset()
        _TRAILS.add(self)

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

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        key: str | bytes | None = None,
        flush: AuditFlush = "record",
        flush_interval: float = 1.0,
        max_bytes: int = MAX_BYTES,
        keep: int | None = None,
        policy: AuditPolicy = "warn",
        lock_timeout: float = 2.0,
        warn_every: float = 60.0,
        sinks: Sequence[Sink] | None = None,
    ) -> Self:
        """A trail in the file at `path`, opened at once; for the options see `AuditTrail`.

        Raises:
            AuditError: If the file cannot be used and `policy` is "refuse"; with "warn", a warning is given instead,
                and every later record tries again.
        """
        trail = cls(
            path,
            key=key,
            flush=flush,
            flush_interval=flush_interval,
            max_bytes=max_bytes,
            keep=keep,
            policy=policy,
            lock_timeout=lock_timeout,
            warn_every=warn_every,
            sinks=sinks,
        )
        trail.check()
        return trail

    @classmethod
    def from_options(
        cls,
        audit: str | os.PathLike[str] | AuditTrail | Literal[False] | None = None,
        *,
        environ: Mapping[str, str] | None = None,
    ) -> AuditTrail:
        """The trail that `Server(audit=...)` means.

        A trail is itself; a path is opened, with the key, the policy and the flush that the environment names
        (`MCPCORE_AUDIT_KEY`, `MCPCORE_AUDIT_POLICY`, `MCPCORE_AUDIT_FLUSH`); None takes the path from `MCPCORE_AUDIT`
        too, where `~` is the home folder, since no shell reads what a desktop client sets; where that is unset or empty
        there is no file; False means no file whatever the environment says.

        Raises:
            AuditError: If the policy is "refuse" and the file cannot be used.
            ValueError: If a variable holds none of the values allowed.
        """
        if isinstance(audit, AuditTrail):
            return audit
        env = os.environ if environ is None else environ
        path = os.path.expanduser(env.get(PATH_VARIABLE, "")) or None if audit is None else audit or None  # noqa: PTH111
        if path is None:
            return cls()
        # As a file with the key has it, which ends in a newline that nobody means.
        key = env.get(KEY_VARIABLE, "").rstrip("\r\n")
        if not key and KEY_VARIABLE in env:
            LOGGER.warning("%s is set and empty: the audit trail %s is not signed", KEY_VARIABLE, path)
        policy = env.get(POLICY_VARIABLE) or "warn"
        flush = env.get(FLUSH_VARIABLE) or "record"
        for variable, value, kind in ((POLICY_VARIABLE, policy, AuditPolicy), (FLUSH_VARIABLE, flush, AuditFlush)):
            if value not in get_args(kind):
                raise ValueError(f"{variable}={value!r} is none of {', '.join(get_args(kind))}")
        return cls.open(
            path,
            key=key or None,
            policy="refuse" if policy == "refuse" else "warn",
            flush=flush,  # type: ignore[arg-type]
        )

    @property
    def head(self) -> Head | None:
        """The last record of the trail as this process knows it; None where there is no file or nothing recorded."""
        with self._mutex:
            return Head(self._seq, self._hash, max(self._end, 0)) if self._seq else None

    def check(self) -> None:
        """Open the file now, to find out whether it can be written.

        Raises:
            AuditError: If it cannot and the policy is "refuse".
        """
        if self.path is None:
            return
        if self._weak:
            LOGGER.warning("%s is shorter than %d bytes: a trail signed with it can be forged", KEY_VARIABLE, _WEAK_KEY)
        try:
            with self._mutex:
                self._enter()
                self._leave()
        except (OSError, AuditError) as exc:
            self._unwritten(exc, records=0)

    def listens(self, code: str) -> bool:
        """Whether anybody takes the record of a failure of `code`: the file, a handler of the logger, or a sink.

        Making a record costs more than asking, most of all of a crash, whose traceback is read for secrets. A subclass
        with a `record` of its own takes every one.
        """
        if self.path is not None or type(self).record is not AuditTrail.record:
            return True
        if LOGGER.isEnabledFor(level_of(code)) and is_heard():
            return True
        if self._sinks is None:
            self._sinks = default_sinks()
        return any(listens(sink) for sink in self._sinks)

    def record(self, record: Mapping[str, Any]) -> None:
        """Record one failure; to be called before it is answered.

        Raises:
            AuditError: If the file cannot be written and the policy is "refuse". The logger and the sinks have the
                record all the same.
        """
        clean, payload = encode(record)
        line: bytes | str = payload
        problem: OSError | AuditError | None = None
        if self.path is not None:
            try:
                with self._mutex:
                    line = self._append_at_once(payload) or self._append_with_care(payload)
            except (OSError, AuditError) as exc:
                problem = exc
        try:
            self._tell(clean, line)
        finally:
            # Whatever a filter of the application's own raised: a record that is not in the file is no less missing.
            if problem is not None:
                self._unwritten(problem, records=1)

    def flush(self) -> None:
        """Have all that is recorded on the disk when this returns.

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
        """Let go of the files; a later record opens them again."""
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

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __del__(self) -> None:
        # Servers come and go in a process, as in tests, and few are closed.
        try:
            self._drop()
        except (AttributeError, OSError, TypeError):
            # After a bad option not all of it is there, nor are the modules when the interpreter ends.
            return

    def __repr__(self) -> str:
        return f"AuditTrail({str(self.path) if self.path else None!r}, policy={self.policy!r})"

    # Telling others

    def _tell(self, record: Mapping[str, Any], line: bytes | str) -> None:
        sinks = self._sinks
        if sinks is None:
            sinks = self._sinks = default_sinks()
        text: str | None = None
        level = level_of(record.get("name"))
        try:
            if LOGGER.isEnabledFor(level) and is_heard():
                text = line if isinstance(line, str) else line[:-1].decode("ascii")
                # Made by hand: the logger itself would walk the stack for a caller that is always this line.
                extra = {"audit": record}
                LOGGER.handle(LOGGER.makeRecord(LOGGER.name, level, __file__, 0, text, (), None, "record", extra))
        finally:
            for sink in sinks:
                if listens(sink):
                    text = text or (line if isinstance(line, str) else line[:-1].decode("ascii"))
                    _give(sink, record, text)

    def _unwritten(self, exc: OSError | AuditError, *, records: int) -> None:
        """Do what the policy says about records that the file did not take."""
        reason = str(exc) if isinstance(exc, AuditError) else f"{exc.strerror or exc} ({_errno_name(exc)})"
        with self._mutex:
            self.lost += records
            self._unnoted += records
            lost = self.lost
            clock = monotonic()
            due = self._warned_at is None or clock - self._warned_at >= self._warn_every
            if due:
                self._warned_at = clock
        text = (
            f"the audit trail {self.path} cannot be written: {reason}; {lost} record(s) not in the file so far. "
            "Free the disk, restore the folder or its permissions, or set another path; each failure tries again."
        )
        if due:
            heard = False
            with contextlib.suppress(Exception):
                LOGGER.error("%s", text)
                heard = logs_to_stderr()
            # The handlers may go where nobody looks, or raise.
            if not heard:
                with contextlib.suppress(OSError, ValueError, AttributeError):
                    sys.stderr.write(f"mcpcore.audit: {text}\n")
        if self.policy == "refuse":
            raise AuditError(text) from exc

    # The file; all below runs with the mutex held, and from _enter to _leave with the file's lock as well

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
        assert self.path is not None
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
        assert self.path is not None
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
            self._warned_at = None
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
        assert self.path is not None
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
        assert path is not None
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
        assert self.path is not None
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


def _flush_forever(
    ref: weakref.ref[AuditTrail], dirty: threading.Event, closing: threading.Event, interval: float
) -> None:
    while not closing.wait(interval):
        # Woken now and then to find out whether the trail is still in use.
        written = dirty.wait(_LOOK_EVERY)
        trail = ref()
        if trail is None or closing.is_set():
            return
        if written:
            trail._flush_once()  # noqa: SLF001 - the thread is the trail's own, and must not keep it alive
        del trail


def _give(sink: Sink, record: Mapping[str, Any], line: str) -> None:
    try:
        sink.failure(record, line)
    except Exception as exc:  # noqa: BLE001 - told of with its traceback
        # A collector that is down must not cost the answer; the record itself is safe by now.
        from mcpcore.audit.traces import log_crash, traceback_of

        names = (type(sink).__name__, type(exc).__name__)
        log_crash(LOGGER, logging.WARNING, exc, traceback_of(exc), "audit sink %s failed: %s", *names)


def _errno_name(exc: OSError) -> str:
    return errno.errorcode.get(exc.errno or 0, type(exc).__name__)


_TRAILS: Final[weakref.WeakSet[AuditTrail]] = weakref.WeakSet()


def _after_fork() -> None:
    for trail in list(_TRAILS):
        # Closed, never unlocked: the lock belongs to the parent, which shares it as long as this one keeps it open.
        for fd in (trail._fd, trail._head_fd):  # noqa: SLF001
            if fd >= 0:
                with contextlib.suppress(OSError):
                    os.close(fd)
        with contextlib.suppress(OSError):
            trail._unwatch()  # noqa: SLF001
        trail._reset()  # noqa: SLF001


if hasattr(os, "register_at_fork"):  # pragma: no branch - Windows cannot fork
    os.register_at_fork(after_in_child=_after_fork)
