"""The guarantees that need real processes, real kills and a real full disk."""

from __future__ import annotations

import json
import logging
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from mcpcore.audit import AuditError, AuditTrail, verify
from mcpcore.audit.chain import Signer
from mcpcore.audit.files import lock_path
from mcpcore.audit.reading import read
from tests.audit.conftest import written

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs signals and mounts of POSIX")


def records(path: Path) -> list[dict[str, object]]:
    return [dict(record) for record in read(path) if "event" not in record]


@posix
@pytest.mark.slow
@pytest.mark.parametrize("key", [None, "a key that is long enough to be one"])
def test_a_writer_killed_at_any_moment_leaves_a_trail_that_verifies(trail, writer, key):
    """All records whose call returned are present after a kill, and the trail verifies before and after repair."""
    rng = random.Random(20261121)
    reported: list[str] = []
    options = {"key": key} if key else {}
    for round_ in range(12):
        process = writer(trail, 1_000_000, f"r{round_}", **options)
        assert process.stdout.readline() == "ready\n"
        # The kill waits for output instead of a time, because a process on a busy machine may be slow; it then comes
        # at any moment of the following records.
        reported += [process.stdout.readline().rstrip("\n") for _ in range(5 + rng.randrange(20))]
        process.send_signal(signal.SIGKILL)
        # `communicate` leaves out the text that `readline` has buffered; the last line may be incomplete.
        reported += process.stdout.read().split("\n")[:-1]
        process.wait()
        report = verify(trail, key=key)
        assert report.ok, (report.problems, report.notes)
    there = [record["correlationId"] for record in records(trail)]
    assert len(reported) >= 12 * 5
    assert "" not in reported
    assert set(reported) <= set(there)
    # After each kill, one record may exist that the process did not report.
    assert len(there) <= len(reported) + 12 * 2


@posix
@pytest.mark.slow
def test_eight_processes_write_one_chain(trail, writer):
    """The chain has every record of every process once, in the order in which its process wrote it."""
    processes = [writer(trail, 1_000, f"w{n}", quiet=1, max_bytes=2_000_000, lock_timeout=60) for n in range(8)]
    for process in processes:
        assert process.communicate(timeout=240)[0] == "ready\n"
        assert process.returncode == 0
    report = verify(trail)
    assert report.ok, report.problems[:5]
    assert report.records == 8_000
    assert len(report.files) > 2
    latest: dict[str, int] = {}
    for record in records(trail):
        name, _, number = str(record["correlationId"]).partition("-")
        assert int(number) == latest.get(name, -1) + 1
        latest[name] = int(number)
    assert latest == {f"w{n}": 999 for n in range(8)}


@posix
@pytest.mark.slow
def test_writers_killed_again_and_again_leave_one_chain_through_many_files(trail, writer):
    """The trail verifies at any time, during and after the writes, and no record is missing."""
    rng = random.Random(700)
    running = [writer(trail, 1_000_000, f"w{n}", max_bytes=700, lock_timeout=60) for n in range(4)]
    reported: list[str] = []
    for number in range(10):
        victim = running.pop(rng.randrange(len(running)))
        assert victim.stdout.readline() == "ready\n"
        reported += [victim.stdout.readline().rstrip("\n") for _ in range(rng.randrange(4))]
        victim.kill()
        reported += victim.stdout.read().split("\n")[:-1]
        victim.wait()
        if number < 6:
            running.append(writer(trail, 1_000_000, f"v{number}", max_bytes=700, lock_timeout=60))
        report = verify(trail)
        assert report.ok, (report.problems[:5], report.notes)
    assert not running
    there = [str(record["correlationId"]) for record in records(trail)]
    assert len(there) == len(set(there)) > 10
    assert set(reported) <= set(there)
    assert len(report.files) > 3


@pytest.fixture
def small_disk(tmp_path):
    """Return the folder of a tiny file system."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("mounting needs root on Linux; the limit on file sizes is tested in any case")
    where = tmp_path / "disk"
    where.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(where)], check=False, capture_output=True
    )
    if made.returncode:
        pytest.skip("this machine allows no mounts")
    yield where
    subprocess.run(["umount", "-l", str(where)], check=True)


def test_a_full_disk_is_reported_and_leaves_no_partial_record(small_disk, failure, caplog, capsys):
    """Answers continue with one warning; once there is room, the trail continues and counts the lost records."""
    trail = AuditTrail.open(small_disk / "audit.jsonl", sinks=())
    ballast = small_disk / "ballast"
    trail.record(failure(0))
    room = os.statvfs(small_disk)
    ballast.write_bytes(b"x" * (room.f_bavail * room.f_bsize))
    caplog.clear()
    for number in range(1, 101):
        trail.record(failure(number, message="y" * 300))
    assert trail.lost > 50
    errors = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert len(errors) == 1
    assert "cannot be written: No space left on device (ENOSPC)" in errors[0].getMessage()
    assert "cannot be written" in capsys.readouterr().err
    assert verify(trail.path).ok
    written = len(records(trail.path))
    assert written == 101 - trail.lost
    ballast.unlink()
    trail.record(failure(101))
    report = verify(trail.path)
    assert report.ok, report.problems
    assert f"{trail.lost} record(s) could not be written" in " ".join(report.notes)
    assert len(records(trail.path)) == written + 1


def test_a_full_disk_withholds_answers_if_the_policy_says_so(small_disk, failure):
    """With the policy "refuse", each failure that is not recorded is an AuditError."""
    trail = AuditTrail.open(small_disk / "audit.jsonl", sinks=(), policy="refuse")
    refused = 0
    for number in range(400):
        try:
            trail.record(failure(number, message="y" * 900))
        except AuditError as exc:
            refused += "ENOSPC" in str(exc) and isinstance(exc.__cause__, OSError)
    assert refused == trail.lost > 0
    assert verify(trail.path).ok
    assert len(records(trail.path)) == 400 - refused


@posix
def test_a_partially_written_record_is_removed(path, failure):
    """If the file may not grow, the bytes written for a record are removed exactly."""
    trail = AuditTrail.open(path, sinks=(), policy="refuse")
    trail.record(failure(1))
    size = path.stat().st_size
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 100, before[1]))
    try:
        with pytest.raises(AuditError, match="EFBIG"):
            trail.record(failure(2))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert path.stat().st_size == size
    assert verify(path).ok
    trail.record(failure(3))
    assert [record["correlationId"] for record in records(path)] == [f"{1:016x}", f"{3:016x}"]
    assert verify(path).ok


@pytest.mark.usefixtures("only_warnings")
@posix
@pytest.mark.parametrize("path", ["/dev/full", "/nonexistent-folder/audit.jsonl", "/"])
def test_an_impossible_path_is_reported_immediately(path, caplog):
    """A device, a missing folder and a folder are refused by name, and no file is created next to them."""
    with pytest.raises(AuditError, match="cannot be written"):
        AuditTrail.open(path, policy="refuse")
    AuditTrail.open(path)
    assert any("cannot be written" in record.getMessage() for record in caplog.records)
    assert not Path(path + ".head").exists()


@posix
def test_a_writer_stopped_with_the_lock_does_not_stop_the_others(path, failure):
    """A lock that is never released costs a bounded wait, and then the policy applies."""
    import fcntl

    trail = AuditTrail.open(path, sinks=(), policy="refuse", lock_timeout=0.2)
    trail.record(failure(1))
    with lock_path(path).open("wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        began = time.monotonic()
        with pytest.raises(AuditError, match="another process has held its lock"):
            trail.record(failure(2))
        first = time.monotonic() - began
        assert first > 0.15
        # Later ones wait less; the fastest of several is measured because the machine may be busy.
        waits = []
        for _ in range(4):
            began = time.monotonic()
            with pytest.raises(AuditError):
                trail.record(failure(3))
            waits.append(time.monotonic() - began)
        assert min(waits) < first
    trail.record(failure(4))
    assert verify(path).ok


def test_threads_write_one_chain(tmp_path, failure):
    """Each record of several threads is in the chain once."""
    trail = AuditTrail.open(tmp_path / "audit.jsonl", sinks=(), policy="refuse", max_bytes=50_000)

    def work(name: int) -> None:
        for number in range(100):
            trail.record(failure(name * 1000 + number))

    threads = [threading.Thread(target=work, args=(name,)) for name in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert verify(trail.path).ok
    assert len({record["correlationId"] for record in records(trail.path)}) == 600


@pytest.mark.parametrize("cut", [1, 2, 40, 200])
def test_an_unfinished_line_is_sealed_and_named(path, failure, cut):
    """The fragment of a dying writer is kept, reported, and never joined with the next record."""
    with AuditTrail.open(path, sinks=()) as trail:
        trail.record(failure(1))
        # This is the state after a process dies in the middle of its second record.
        trail._writer._enter()
        trail._writer._announce()
        line, _ = Signer(None).seal(2, trail._writer._hash, json.dumps({"tool": "x", "message": "y" * 400}))
        os.write(trail._writer._fd, line[:-cut])
        trail._writer._leave()
    torn = verify(path)
    assert torn.ok, torn.problems
    assert "a writer died in the middle of it" in " ".join(torn.notes)
    written(path, 2)
    report = verify(path)
    assert report.ok, report.problems
    idents = [record.get("correlationId") for record in records(path)]
    if cut == 1:
        # Only the newline was missing, so the record is complete and is kept.
        assert idents == [f"{1:016x}", None, f"{2:016x}"]
    else:
        assert idents == [f"{1:016x}", f"{2:016x}"]
        assert f"an unfinished line of {len(line) - cut} bytes was sealed off" in " ".join(report.notes)


def test_a_flush_to_the_disk_happens_as_configured(tmp_path, failure, monkeypatch):
    """ "fsync" flushes with each record, "interval" soon after, and "record" leaves it to the system."""
    calls: list[int] = []
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: (calls.append(fd), real(fd))[1])
    with AuditTrail.open(tmp_path / "a", sinks=(), flush="record") as trail:
        trail.record(failure())
        assert not calls
    with AuditTrail.open(tmp_path / "b", sinks=(), flush="fsync") as trail:
        calls.clear()
        trail.record(failure())
        assert len(calls) == 3
    with AuditTrail.open(tmp_path / "c", sinks=(), flush="interval", flush_interval=0.02) as trail:
        calls.clear()
        trail.record(failure())
        deadline = time.monotonic() + 5
        while not calls and time.monotonic() < deadline:
            time.sleep(0.01)
        assert calls
    for name in "abc":
        assert verify(tmp_path / name).ok
