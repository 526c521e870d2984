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
import logging
import os
import sys
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from mcpcore.audit.chain import KEY_VARIABLE, Signer
from mcpcore.audit.errors import AuditError, RefusedError
from mcpcore.audit.listeners import (
    FILED,
    LOGGER,
    default_sinks,
    is_heard,
    level_of,
    listens,
    logs_to_stderr,
    summary_of,
)
from mcpcore.audit.record import dumps, encode, get_ready
from mcpcore.audit.waiting import Deferred, current_call, on_event_loop
from mcpcore.audit.writer import AuditFlush, Writer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self

    from mcpcore.audit.chain import Head
    from mcpcore.audit.listeners import Sink

AuditPolicy = Literal["warn", "refuse"]
"""What becomes of an answer whose record cannot be written: it is sent and a warning given, or it is withheld."""

MAX_BYTES: Final = 64 * 1024 * 1024
"""The size at which a file is full and the next is begun, unless said otherwise."""

PATH_VARIABLE: Final = "MCPCORE_AUDIT"
POLICY_VARIABLE: Final = "MCPCORE_AUDIT_POLICY"
FLUSH_VARIABLE: Final = "MCPCORE_AUDIT_FLUSH"

_WEAK_KEY: Final = 16

_CRASHES: Final = logging.getLogger("mcpcore")
"""The logger that has the traceback of each crash."""

_MOMENT: Final = 0.001
"""Seconds that a record on an event loop waits for the lock before it is put off."""


class AuditTrail:
    """Where failures are recorded: a file where there is a path, else the logger `mcpcore.audit`; and OpenTelemetry.

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
        self.policy: Final[AuditPolicy] = policy
        secret = key.encode("utf-8", "surrogateescape") if isinstance(key, str) else key
        self._weak = bool(secret) and len(secret or b"") < _WEAK_KEY
        self._writer: Writer | None = None
        if self.path is not None:
            self._writer = Writer(
                self.path,
                Signer(secret or None),
                flush=flush,
                flush_interval=flush_interval,
                max_bytes=max_bytes,
                keep=keep,
                lock_timeout=lock_timeout,
            )
        self._warn_every = warn_every
        self._warned_at: float | None = None
        self._sinks = sinks
        self._deferred: set[Deferred] = set()
        get_ready()

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
            AuditError: If the path is that of a link, or of a file that is no trail and not empty; such a file is left
                as it is. Also if the file cannot be used otherwise and `policy` is "refuse"; with "warn", a warning is
                given instead, and every later record tries again.
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
            AuditError: If the policy is "refuse" and the file cannot be used, or as for `open`.
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
        return self._writer.head if self._writer is not None else None

    @property
    def lost(self) -> int:
        """How many records could not be written to the file so far, by this process."""
        return self._writer.lost if self._writer is not None else 0

    def check(self) -> None:
        """Open the file now, to find out whether it can be written.

        Raises:
            AuditError: If it cannot and the policy is "refuse"; with any policy, if the path is that of a link or of a
                file that is no trail.
        """
        if self._writer is None:
            return
        if self._weak:
            LOGGER.warning("%s is shorter than %d bytes: a trail signed with it can be forged", KEY_VARIABLE, _WEAK_KEY)
        try:
            self._writer.check()
        except RefusedError as exc:
            raise RefusedError(f"the audit trail {self.path} is refused: {exc}") from exc
        except (OSError, AuditError) as exc:
            self._unwritten(exc, self._writer.lost)

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

        Where another process holds the lock of the trail, this waits for at most `lock_timeout`. Within a call that a
        server answers on an event loop it does not wait; the answer does. A task that records a failure after its call
        was answered waits here.

        Raises:
            AuditError: If the file cannot be written and the policy is "refuse". The logger and the sinks have the
                record all the same.
        """
        clean, payload = encode(record)
        line: bytes | None = None
        problem: OSError | AuditError | None = None
        writer = self._writer
        if writer is not None:
            try:
                line = writer.append(payload)
                if line is None:
                    line = self._append_later(writer, clean, payload)
                    if line is None:
                        return
            except (OSError, AuditError) as exc:
                problem = exc
        self._finish(clean, payload, line, problem)

    def _append_later(self, writer: Writer, clean: Mapping[str, Any], payload: str) -> bytes | None:
        """Add a record that found the lock taken; None where its call will see to it."""
        call = current_call.get()
        if call is None or call.answered or not on_event_loop():
            line = writer.append(payload, writer.patience)
            if line is None:
                raise writer.held()
            return line
        # Nearly always another writer is just in the middle of its record. Where others wait already, it is not so.
        line = None if self._deferred or writer.is_stuck else writer.append(payload, _MOMENT)
        if line is None:
            deferred = Deferred(self, clean, payload, monotonic() + writer.patience)
            self._deferred.add(deferred)
            call.append(deferred)
        return line

    @property
    def waiting(self) -> int:
        """How many records wait for the lock, each in a call on an event loop."""
        return len(self._deferred)

    def retry(self, deferred: Deferred, *, last: bool = False) -> bool:
        """Try to write a record that was put off, once; False where it still has to wait.

        Raises:
            AuditError: As `record` does, where its time is up or this try is the `last`.
        """
        writer = self._writer
        assert writer is not None
        line: bytes | None = None
        problem: OSError | AuditError | None = None
        try:
            line = writer.append(deferred.payload)
            if line is None:
                if not last and monotonic() < deferred.deadline:
                    return False
                problem = writer.held()
        except (OSError, AuditError) as exc:
            problem = exc
        self._deferred.discard(deferred)
        deferred.context.run(self._finish, deferred.clean, deferred.payload, line, problem)
        return True

    def _finish(
        self, clean: Mapping[str, Any], payload: str, line: bytes | None, problem: OSError | AuditError | None
    ) -> None:
        """Tell the others of a record, and do what the policy says where the file did not take it."""
        lost = 0
        if line is not None:
            self._warned_at = None
        elif problem is not None and self._writer is not None:
            lost = self._writer.missed()
        try:
            self._tell(clean, payload if line is None else line)
        finally:
            # Whatever a filter of the application's own raised: a record that is not in the file is no less missing.
            if problem is not None:
                self._unwritten(problem, lost)

    def flush(self) -> None:
        """Have all that is recorded on the disk when this returns.

        Raises:
            OSError: If the disk does not take it.
        """
        if self._writer is not None:
            self._writer.flush()

    def close(self) -> None:
        """Let go of the files; a later record opens them again."""
        if self._writer is not None:
            self._writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"AuditTrail({str(self.path) if self.path else None!r}, policy={self.policy!r})"

    # Telling others

    def _tell(self, record: Mapping[str, Any], line: bytes | str) -> None:
        sinks = self._sinks
        if sinks is None:
            sinks = self._sinks = default_sinks()
        text: str | None = None
        # A record that is in the file is there to be read: the log has a line that says where to look.
        level = logging.INFO if isinstance(line, bytes) else level_of(record.get("name"))
        try:
            if LOGGER.isEnabledFor(level) and is_heard():
                if isinstance(line, str):
                    text = _without_traceback(record, line)
                # Made by hand: the logger itself would walk the stack for a caller that is always this line.
                message = summary_of(record) if text is None else text
                extra: dict[str, Any] = {FILED: True} if text is None else {"audit": record}
                LOGGER.handle(LOGGER.makeRecord(LOGGER.name, level, __file__, 0, message, (), None, "record", extra))
        finally:
            for sink in sinks:
                if listens(sink):
                    _give(sink, record, line if isinstance(line, str) else line[:-1].decode("ascii"))

    def _unwritten(self, exc: OSError | AuditError, lost: int) -> None:
        """Do what the policy says about records that the file did not take."""
        reason = str(exc) if isinstance(exc, AuditError) else f"{exc.strerror or exc} ({_errno_name(exc)})"
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


def _without_traceback(record: Mapping[str, Any], line: str) -> str:
    """The line for the log, which has the traceback of a crash already; a line of a file stays as it was signed."""
    if "traceback" not in record or not _CRASHES.isEnabledFor(logging.ERROR):
        return line
    return dumps({key: value for key, value in record.items() if key != "traceback"})


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
