"""The trail: every failure is recorded before the client gets it.

Guarantees for a trail in a file on a local file system:

- `record` returns when the operating system has the record ("record", the default, and "interval") or the disk has it
  ("fsync"). If the process is killed at any moment, the trail still verifies: every record whose call returned is
  there. The record in progress leaves at most an unfinished line, which the next writer seals off and records.
- After a power cut, "fsync" has lost no record, "interval" at most `flush_interval` seconds of them, and "record" those
  that the system had not written back. `verify` finds the loss by the head or the next record.
- Any number of processes and threads may write the same trail; their records form one chain.
- A record that cannot be written is always reported; see `AuditPolicy`.

A record on an event loop tries the lock for a moment. If another process holds it, the record is deferred: it joins
the other records of its call, and the answer of the call waits until all of them are written or their time is up. Only
the failing call waits, not the loop. In a worker thread, without a loop, or in a task that outlives its call, the
record waits where it is made.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextvars import Context, ContextVar, copy_context
from pathlib import Path
from time import monotonic
from typing import Any, Final, Literal, Self, TypedDict, Unpack, get_args

import anyio

from mcpcore.audit.chain import KEY_VARIABLE, AuditError, Head, RefusedError, Signer
from mcpcore.audit.listeners import (
    LOGGER,
    Sink,
    default_sinks,
    is_heard,
    level_of,
    listens,
    logs_to_stderr,
    summary_of,
)
from mcpcore.audit.record import dumps, encode
from mcpcore.audit.writer import AuditFlush, Writer
from mcpcore.values.logs import FILED, LOGGER as _CRASHES

_PAUSE: Final = 0.002
_LONGEST_PAUSE: Final = 0.25
_TURN: Final = 0.005
"""Seconds for which records are written without a pause, before the loop gets a turn."""


class Deferred:
    """A record that is not yet written."""

    __slots__ = ("clean", "context", "deadline", "payload", "trail")

    def __init__(self, trail: AuditTrail, clean: Mapping[str, Any], payload: str, deadline: float) -> None:
        """Keep the record and its context, since sinks need the span of that context."""
        self.trail = trail
        self.clean = clean
        self.payload = payload
        self.deadline = deadline
        self.context: Context = copy_context()


class Call(list[Deferred]):
    """The deferred records of one call."""

    answered = False
    """Whether the call was answered. Records of a task that outlives it are not written here any more."""


current_call: Final[ContextVar[Call | None]] = ContextVar("mcpcore_audit_call", default=None)
"""The current call, if its answer waits for its records."""


def on_event_loop() -> bool:
    """Whether this code runs on an event loop, which must not be blocked."""
    try:
        anyio.get_current_task()
    except (RuntimeError, anyio.NoEventLoopError):
        return False
    return True


async def settle(call: Call, on_error: Callable[[Exception], None]) -> None:
    """Wait until each record of `call` is written or its time is up; exceptions are passed to `on_error`.

    A cancellation waits too: a record must not be lost because its client has disconnected.
    """
    cancelled: BaseException | None = None
    began = monotonic()
    try:
        while call:
            pause = 0.0
            try:
                written = call[0].trail.retry(call[0])
            except Exception as exc:  # noqa: BLE001 - from the policy, or from a sink or filter of the application
                written = True
                on_error(exc)
            if written:
                del call[0]
                if monotonic() - began < _TURN:
                    continue
            else:
                # All waiting records together try as often as one alone.
                pause = min(
                    _PAUSE * max(1, call[0].trail.waiting), _LONGEST_PAUSE, max(0.0, call[0].deadline - monotonic())
                )
            try:
                with anyio.CancelScope(shield=True):
                    await anyio.sleep(pause)
            except anyio.get_cancelled_exc_class() as exc:
                # asyncio itself cancels in spite of the shield.
                cancelled = exc
            began = monotonic()
    finally:
        for deferred in call:
            # The loop was closed. The loss is counted and reported like any other.
            try:
                deferred.trail.retry(deferred, last=True)
            except Exception as exc:  # noqa: BLE001 - as above
                on_error(exc)
        call.clear()
    if cancelled is not None:
        raise cancelled


AuditPolicy = Literal["warn", "refuse"]
"""How to treat an answer whose record cannot be written: send it with a warning, or withhold it.

```python
trail = AuditTrail.open("audit.jsonl", policy="refuse")
```
"""

MAX_BYTES: Final = 64 * 1024 * 1024
"""The default size at which a file is full and the next begins."""

PATH_VARIABLE: Final = "MCPCORE_AUDIT"
POLICY_VARIABLE: Final = "MCPCORE_AUDIT_POLICY"
FLUSH_VARIABLE: Final = "MCPCORE_AUDIT_FLUSH"

_WEAK_KEY: Final = 16

_MOMENT: Final = 0.001
"""Seconds for which a record on an event loop waits for the lock before it is deferred."""


class TrailOptions(TypedDict, total=False):
    """The options of a trail; see `AuditTrail`."""

    key: str | bytes | None
    flush: AuditFlush
    flush_interval: float
    max_bytes: int
    keep: int | None
    policy: AuditPolicy
    lock_timeout: float
    warn_every: float
    sinks: Sequence[Sink] | None


class AuditTrail:
    """Records failures in a file, or else with the logger `mcpcore.audit`; and in OpenTelemetry.

    Create it with `AuditTrail.open(path)` or `AuditTrail.from_options(...)`. Safe to use from several threads,
    from several processes on one path, and across `os.fork`.

    ```python
    trail = AuditTrail.open("audit.jsonl", policy="refuse", max_bytes=16_000_000, keep=20)
    server = Server("articles", audit=trail)
    ```
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
        """Configure a trail without opening it.

        Args:
            path: The file, or None for the logger and the sinks alone.
            key: The key of the HMAC; without a key, records are chained by plain SHA-256.
            flush: When a record is safe; see `AuditFlush`.
            flush_interval: Seconds between two flushes to the disk, for "interval".
            max_bytes: The size at which a file is full.
            keep: How many full files to keep; None keeps all of them.
            policy: How to treat an answer whose record cannot be written.
            lock_timeout: Seconds to wait for another writer before the record counts as lost.
            warn_every: Seconds between two warnings that records cannot be written.
            sinks: Other receivers; None for OpenTelemetry, which costs nothing until it is configured.

        Raises:
            ValueError: If an option has a value that is not allowed.
        """
        if flush not in get_args(AuditFlush):
            raise ValueError(f"audit flush must be one of {', '.join(get_args(AuditFlush))}, not {flush!r}")
        if policy not in get_args(AuditPolicy):
            raise ValueError(f"audit policy must be one of {', '.join(get_args(AuditPolicy))}, not {policy!r}")
        if max_bytes < 1 or flush_interval <= 0 or lock_timeout < 0 or (keep is not None and keep < 0):
            raise ValueError("audit max_bytes and flush_interval must be above 0, keep and lock_timeout 0 or more")
        if path is not None and "\0" in os.fsdecode(path):
            raise ValueError(
                f"audit path {os.fsdecode(path)!r} contains a NUL, which file names cannot; give another path"
            )
        self.path: Final = None if path is None else Path(os.path.abspath(path))  # noqa: PTH100 - links stay as named
        self.policy: Final[AuditPolicy] = policy
        # A key in the environment may be no UTF-8; Python keeps such bytes as surrogates.
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
        # Only a file has a lock to wait for; a sink or a subclass may write to another trail.
        self.may_defer: Final = path is not None or sinks is not None or type(self) is not AuditTrail
        """Whether the answer of a call may have to wait for its records."""

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        **options: Unpack[TrailOptions],
    ) -> Self:
        """Open a trail in the file at `path`; for the options see `AuditTrail`.

        Args:
            path: The file.
            **options: The options of `AuditTrail`.

        Raises:
            AuditError: If the path is a link, or a file that is neither empty nor a trail; such a file is left
                unchanged. If the file cannot be used for another reason, "refuse" raises too; "warn" logs a warning,
                and every later record tries again.
        """
        trail = cls(path, **options)
        trail.check()
        return trail

    @classmethod
    def from_options(
        cls,
        audit: str | os.PathLike[str] | AuditTrail | Literal[False] | None = None,
        *,
        environ: Mapping[str, str] | None = None,
    ) -> AuditTrail:
        """The trail for the option `Server(audit=...)`.

        A trail is returned unchanged. A path is opened with the key, policy and flush from the environment
        (`MCPCORE_AUDIT_KEY`, `MCPCORE_AUDIT_POLICY`, `MCPCORE_AUDIT_FLUSH`). None takes the path from `MCPCORE_AUDIT`
        too, and uses no file if that is unset or empty; `~` in it is the home folder, since no shell expands the
        settings of a desktop client. False uses no file, whatever the environment says.

        Args:
            audit: The value of the option.
            environ: The environment; by default, that of the process.

        Raises:
            AuditError: If the policy is "refuse" and the file cannot be used, or as for `open`.
            ValueError: If a variable has a value that is not allowed.
        """
        if isinstance(audit, AuditTrail):
            return audit
        env = os.environ if environ is None else environ
        path = os.path.expanduser(env.get(PATH_VARIABLE, "")) or None if audit is None else audit or None  # noqa: PTH111
        if path is None:
            return cls()
        # A key that was read from a file ends in a newline, which is not part of it.
        key = env.get(KEY_VARIABLE, "").rstrip("\r\n")
        if not key and KEY_VARIABLE in env:
            LOGGER.warning("%s is set and empty: the audit trail %s is not signed", KEY_VARIABLE, path)
        policy = env.get(POLICY_VARIABLE) or "warn"
        flush = env.get(FLUSH_VARIABLE) or "record"
        for variable, value, kind in ((POLICY_VARIABLE, policy, AuditPolicy), (FLUSH_VARIABLE, flush, AuditFlush)):
            if value not in get_args(kind):
                raise ValueError(f"{variable} must be one of {', '.join(get_args(kind))}, not {value!r}")
        return cls.open(
            path,
            key=key or None,
            policy="refuse" if policy == "refuse" else "warn",
            flush=flush,  # type: ignore[arg-type]
        )

    @property
    def head(self) -> Head | None:
        """The last record of the trail as this process knows it; None without a file or a record."""
        return self._writer.head if self._writer is not None else None

    @property
    def lost(self) -> int:
        """How many records this process could not write to the file so far."""
        return self._writer.lost if self._writer is not None else 0

    def check(self) -> None:
        """Open the file now, to check that it can be written.

        Raises:
            AuditError: If it cannot be written and the policy is "refuse"; with any policy, if the path is a link or a
                file that is not a trail.
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
        """Whether anything receives the record of a failure of `code`: the file, a handler of the logger, or a sink.

        This check costs less than a record, especially that of a crash, whose traceback is searched for secrets. A
        subclass that overrides `record` receives every record.
        """
        if self.path is not None or type(self).record is not AuditTrail.record:
            return True
        if LOGGER.isEnabledFor(level_of(code)) and is_heard():
            return True
        if self._sinks is None:
            self._sinks = default_sinks()
        for sink in self._sinks:  # noqa: SIM110 - a generator costs more than all of the rest
            if listens(sink):
                return True
        return False

    def record(self, record: Mapping[str, Any], text: str | None = None) -> None:
        """Record one failure, before the client gets it.

        If another process holds the lock of the trail, this waits for at most `lock_timeout`. Within a call that a
        server answers on an event loop it does not wait, but the answer does. A task that records a failure after its
        call was answered waits here.

        Args:
            record: The failure.
            text: Its JSON in one line of ASCII, if it is written already and there is no secret in it.

        Raises:
            AuditError: If the file cannot be written and the policy is "refuse". The logger and the sinks get the
                record nevertheless.
        """
        clean, payload = encode(record) if text is None else (record, text)
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
        """Add a record after the lock was taken; None if the call of the record will write it."""
        call = current_call.get()
        if call is None or call.answered or not on_event_loop():
            line = writer.append(payload, writer.patience)
            if line is None:
                raise writer.held()
            return line
        # Usually another writer is in the middle of a record and soon done, unless other records wait already.
        line = None if self._deferred or writer.is_stuck else writer.append(payload, _MOMENT)
        if line is None:
            deferred = Deferred(self, clean, payload, monotonic() + writer.patience)
            self._deferred.add(deferred)
            call.append(deferred)
        return line

    @property
    def waiting(self) -> int:
        """How many records of calls on an event loop wait for the lock."""
        return len(self._deferred)

    def retry(self, deferred: Deferred, *, last: bool = False) -> bool:
        """Try once to write a deferred record; False if it still has to wait.

        Raises:
            AuditError: As `record` does, if its time is up or this is the `last` attempt.
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
        """Pass a record to the logger and the sinks; apply the policy if it is not in the file."""
        lost = 0
        if line is not None:
            self._warned_at = None
        elif problem is not None and self._writer is not None:
            lost = self._writer.missed()
        try:
            self._tell(clean, payload if line is None else line)
        finally:
            # Even if a filter of the application raised: the record is missing in the file all the same.
            if problem is not None:
                self._unwritten(problem, lost)

    def flush(self) -> None:
        """Flush all records to the disk.

        Raises:
            OSError: If the disk refuses.
        """
        if self._writer is not None:
            self._writer.flush()

    def close(self) -> None:
        """Close the files; a later record opens them again."""
        if self._writer is not None:
            self._writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"AuditTrail({str(self.path) if self.path else None!r}, policy={self.policy!r})"

    # The other receivers

    def _tell(self, record: Mapping[str, Any], line: bytes | str) -> None:
        sinks = self._sinks
        if sinks is None:
            sinks = self._sinks = default_sinks()
        text: str | None = None
        # A record in the file can be read there, so the log gets only a line with its id.
        level = logging.INFO if isinstance(line, bytes) else level_of(record.get("name"))
        try:
            if LOGGER.isEnabledFor(level) and is_heard():
                if isinstance(line, str):
                    text = _without_traceback(record, line)
                # Not LOGGER.log: it would walk the stack to find the caller, which is always this line.
                message = summary_of(record) if text is None else text
                extra: dict[str, Any] = {FILED: True} if text is None else {"audit": record}
                LOGGER.handle(LOGGER.makeRecord(LOGGER.name, level, __file__, 0, message, (), None, "record", extra))
        finally:
            for sink in sinks:
                if listens(sink):
                    _give(sink, record, line if isinstance(line, str) else line[:-1].decode("ascii"))

    def _unwritten(self, exc: OSError | AuditError, lost: int) -> None:
        """Apply the policy to a record that is not in the file."""
        reason = (
            str(exc)
            if isinstance(exc, AuditError)
            else f"{exc.strerror or exc} ({errno.errorcode.get(exc.errno or 0, type(exc).__name__)})"
        )
        clock = monotonic()
        due = self._warned_at is None or clock - self._warned_at >= self._warn_every
        if due:
            self._warned_at = clock
        text = (
            f"the audit trail {self.path} cannot be written: {reason}; {lost} record(s) not in the file so far. "
            "Free the disk, restore the folder or its permissions, or set another path; each failure tries again."
        )
        if due:
            is_on_stderr = False
            with contextlib.suppress(Exception):
                LOGGER.error("%s", text)
                is_on_stderr = logs_to_stderr()
            # The handlers may raise, or write to a place that is never read.
            if not is_on_stderr:
                with contextlib.suppress(OSError, ValueError, AttributeError):
                    sys.stderr.write(f"mcpcore.audit: {text}\n")
        if self.policy == "refuse":
            raise AuditError(text) from exc


def _without_traceback(record: Mapping[str, Any], line: str) -> str:
    """The line for the log, which has the traceback of a crash already."""
    if "traceback" not in record or not _CRASHES.isEnabledFor(logging.ERROR):
        return line
    return dumps({key: value for key, value in record.items() if key != "traceback"})


def _give(sink: Sink, record: Mapping[str, Any], line: str) -> None:
    try:
        sink.failure(record, line)
    except Exception as exc:  # noqa: BLE001 - logged with its traceback
        # A collector that is down must not prevent the answer; the record is safe by now.
        from mcpcore.audit.traces import log_crash, traceback_of

        names = (type(sink).__name__, type(exc).__name__)
        log_crash(LOGGER, logging.WARNING, exc, traceback_of(exc), "audit sink %s failed: %s", *names)
