"""Unusual states of a trail after errors."""

from __future__ import annotations

import json
import logging
import os
import shutil
import subprocess
import sys
import threading
from enum import StrEnum

import pytest

from mcpcore.audit import AuditError, AuditTrail, verification as verification_module, verify, writer as writer_module
from mcpcore.audit.chain import MAX_LINE, Signer
from mcpcore.audit.files import head_path, rotated_files, rotated_path
from mcpcore.audit.reading import read
from mcpcore.wire.redaction import REDACTED, redact
from tests.audit.conftest import written

posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX")


def notes(path) -> str:
    return " ".join(verify(path).notes)


def test_an_interrupt_during_a_write_loses_only_that_record(tmp_path, failure, monkeypatch):
    """The next record of the same process seals off the fragment."""
    trail = AuditTrail.open(tmp_path / "audit.jsonl", sinks=())
    trail.record(failure(1))
    real = writer_module.write_all

    def interrupted(fd, data):
        real(fd, data[: len(data) // 2])
        raise KeyboardInterrupt

    monkeypatch.setattr(writer_module, "write_all", interrupted)
    with pytest.raises(KeyboardInterrupt):
        trail.record(failure(2))
    monkeypatch.undo()
    assert verify(trail.path).ok
    trail.record(failure(3))
    assert verify(trail.path).ok
    assert "was sealed off" in notes(trail.path)


def test_records_beyond_the_head_are_accepted_and_noted(path, failure):
    """A power cut may preserve the trail but not its head."""
    with AuditTrail.open(path, sinks=()) as trail:
        trail.record(failure(1))
        old = head_path(path).read_bytes()
        trail.record(failure(2))
        trail.record(failure(3))
    head_path(path).write_bytes(old)
    assert [problem.kind for problem in verify(path).problems] == ["inserted"]
    written(path, 4)
    assert verify(path).ok
    assert "records 2 to 3 were in the file and not in the head" in notes(path)


def test_a_last_record_that_was_replaced_is_noted_by_the_writer_and_found(path, failure):
    """The head, or the process that wrote the record, has a different one."""
    with AuditTrail.open(path, sinks=()) as trail:
        trail.record(failure(1))
        line = json.loads(path.read_text())
        forged, _ = Signer(None).seal(1, line["prev"], json.dumps({"tool": "nothing happened"}))
        path.write_bytes(forged)
        assert [problem.kind for problem in verify(path).problems] == ["forged"]
        trail.record(failure(2))
    report = verify(path)
    assert [(problem.kind, problem.seq) for problem in report.problems] == [("forged", 1)]
    assert "record 1 was not the one that had been written" in " ".join(report.notes)


def test_a_process_that_dies_between_record_and_head_leaves_a_note(path, failure):
    """One complete record beyond the head is allowed if the head says that a write was in progress."""
    with AuditTrail.open(path, sinks=()) as trail:
        trail.record(failure(1))
        trail._writer._enter()
        trail._writer._announce()
        line, digest = Signer(None).seal(2, trail._writer._hash, json.dumps(failure(2)))
        os.write(trail._writer._fd, line)
        trail._writer._leave()
        report = verify(path)
        assert report.ok
        assert "the record is whole" in report.notes[0]
        more, _ = Signer(None).seal(3, digest, json.dumps(failure(3)))
        with path.open("ab") as file:
            file.write(more)
        assert [problem.kind for problem in verify(path).problems] == ["inserted"]


@posix
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_a_head_that_is_not_a_file_is_reported(path, make):
    """The error names it, and the trail is not started."""
    make(head_path(path))
    with pytest.raises(AuditError, match=r"head.*not a regular file|Is a directory"):
        AuditTrail.open(path, policy="refuse")


def test_an_occupied_name_does_not_stop_rotation(path):
    """An unrelated file with the name of the next full file is not overwritten."""
    rotated_path(path, 1).write_text("mine\n")
    written(path, *range(6), max_bytes=1000, flush="fsync")
    assert rotated_path(path, 1).read_text() == "mine\n"
    assert len(rotated_files(path)) > 2
    assert [problem.kind for problem in verify(path).problems] == ["inserted"]


def test_a_trail_continues_after_a_crash_during_rotation(path):
    """The full file was renamed and no new one started, so the chain continues from the full one."""
    written(path, 1)
    path.rename(rotated_path(path, 1))
    written(path, 2)
    report = verify(path)
    assert (report.ok, report.records, report.notes) == (True, 2, [])


def test_a_crash_between_two_files_of_a_rotation_is_not_tampering(path):
    """The next file was empty and the head still named the full one."""
    written(path, 1, 2)
    path.rename(rotated_path(path, 1))
    path.touch()
    assert verify(path).ok
    assert "renamed a full file" in notes(path)
    written(path, 3)
    assert (verify(path).ok, verify(path).records) == (True, 3)


def test_an_empty_file_after_a_full_one_does_not_hide_removed_records(path, failure):
    """Missing records and a wrong full file are still reported."""
    with AuditTrail.open(path, sinks=()) as trail:
        trail.record(failure(1))
        first = path.read_bytes()
        trail.record(failure(2))
    rotated_path(path, 1).write_bytes(first)
    path.write_bytes(b"")
    assert [problem.kind for problem in verify(path).problems] == ["cut"]


def test_verification_continues_while_files_are_pruned(path, failure, monkeypatch):
    """A full file deleted between two steps had already been verified."""
    with AuditTrail.open(path, sinks=(), max_bytes=700, keep=3) as trail:
        for number in range(12):
            trail.record(failure(number))
        real = verification_module._judge_head_file
        left = [3]

        def meanwhile(*args):
            if left[0]:
                left[0] -= 1
                for number in range(12):
                    trail.record(failure(number))
            return real(*args)

        monkeypatch.setattr(verification_module, "_judge_head_file", meanwhile)
        report = verify(path)
    assert report.ok, report.problems
    assert not left[0]


def test_a_line_longer_than_any_record_is_reported_and_skipped(path, failure):
    """It is not kept in memory, and later lines are verified as usual."""
    with AuditTrail.open(path, sinks=()) as trail:
        trail.record(failure(1))
        first = path.read_bytes()
        trail.record(failure(2))
    path.write_bytes(first + b"x" * (3 * MAX_LINE) + b"\n" + path.read_bytes()[len(first) :])
    assert [(problem.kind, problem.line) for problem in verify(path).problems] == [("inserted", 2)]
    assert len(list(read(path))) == 2


def test_the_head_of_another_trail_is_found(tmp_path, failure):
    """Its hash is not in this trail."""
    for name in "ab":
        with AuditTrail.open(tmp_path / name, sinks=()) as trail:
            trail.record(failure(1, tool=name))
    shutil.copy(head_path(tmp_path / "a"), head_path(tmp_path / "b"))
    assert [problem.kind for problem in verify(tmp_path / "b").problems] == ["forged"]
    empty = Signer(None).head(0, "1" * 64, 0).decode()
    assert "head" in [problem.kind for problem in verify(tmp_path / "a", head=empty).problems]


def test_bytes_added_without_a_record_are_found(tmp_path, path):
    """This includes blanks at the end."""
    written(path, 1)
    for junk in (b"\n", b" ", b"\x00" * 100):
        copy = tmp_path / "copy.jsonl"
        copy.write_bytes(path.read_bytes() + junk)
        shutil.copy(head_path(path), head_path(copy))
        assert not verify(copy).ok, junk


@posix
def test_a_writer_that_hangs_does_not_stop_verification(path, failure):
    """Verification takes no lock and waits for none."""
    with AuditTrail.open(path, sinks=()) as trail:
        trail.record(failure(1))
        trail._writer._enter()
        try:
            assert verify(path).ok
        finally:
            trail._writer._leave()


@pytest.mark.usefixtures("only_warnings")
def test_a_failed_flush_is_logged_and_retried(tmp_path, failure, monkeypatch, caplog):
    """The flushing thread has no caller to raise the error to."""
    flushed = threading.Event()
    fsync = os.fsync

    def fails_at_first(fd):
        if "could not be flushed" not in caplog.text:
            raise OSError(5, "Input/output error")
        fsync(fd)
        flushed.set()

    monkeypatch.setattr(os, "fsync", fails_at_first)
    with AuditTrail.open(tmp_path / "audit.jsonl", sinks=(), flush="interval", flush_interval=0.01) as trail:
        trail.record(failure(1))
        assert flushed.wait(10)
    assert "could not be flushed to the disk" in caplog.text


def test_a_warning_is_written_to_stderr_once(tmp_path, capsys, monkeypatch):
    """It is written by a handler that writes there, or else directly."""
    logger = logging.getLogger("mcpcore.audit")
    monkeypatch.setattr(logger, "propagate", False)
    for handler in (None, logging.StreamHandler(sys.stderr), logging.NullHandler()):
        if handler is not None:
            logger.addHandler(handler)
        try:
            AuditTrail.open(tmp_path / "none" / "audit.jsonl")
        finally:
            if handler is not None:
                logger.removeHandler(handler)
        assert capsys.readouterr().err.count("cannot be written") == 1


def test_a_trail_that_lives_longer_than_the_modules_ends_in_silence(path):
    """A program may leave it to the interpreter, which takes the standard library apart first."""
    text = "import mcpcore.audit as a; trail = a.AuditTrail.open({!r}, sinks=()); a.record.keep = lambda: trail"
    done = subprocess.run([sys.executable, "-c", text.format(str(path))], capture_output=True, text=True, check=False)
    assert (0, "") == (done.returncode, done.stderr)


def test_a_trail_has_a_repr(tmp_path):
    """Logs and debuggers show it without the key."""
    assert repr(AuditTrail(tmp_path / "a", key="k" * 32)) == f"AuditTrail({str(tmp_path / 'a')!r}, policy='warn')"
    assert "None" in repr(AuditTrail())


def test_enum_names_and_texts_are_redacted_too():
    """An enumeration of strings is a string."""

    class Field(StrEnum):
        PASSWORD = "password"
        PLAIN = "plain"

    assert redact({Field.PASSWORD: "x", Field.PLAIN: Field.PLAIN, 3: {"token": "x"}}) == {
        "password": REDACTED,
        "plain": "plain",
        3: {"token": REDACTED},
    }
    assert redact(object) is object


@pytest.mark.parametrize("listening", ["nobody", "a handler", "a filter", "a parent"])
def test_a_log_record_is_created_if_anything_handles_it(failure, monkeypatch, listening):
    """A NullHandler does not count; handlers, filters and parent loggers do."""
    logger = logging.getLogger("mcpcore.audit")
    taken = []
    taker = logging.Handler()
    taker.emit = taken.append
    monkeypatch.setattr(logger, "handlers", [taker if listening == "a handler" else logging.NullHandler()])
    monkeypatch.setattr(logger, "filters", [lambda record: taken.append(record) or True] * (listening == "a filter"))
    monkeypatch.setattr(logging.getLogger("mcpcore"), "handlers", [taker] * (listening == "a parent"))
    monkeypatch.setattr(logging.getLogger("mcpcore"), "propagate", False)
    made = []
    real = logger.makeRecord
    monkeypatch.setattr(logger, "makeRecord", lambda *args: made.append(args) or real(*args))
    trail = AuditTrail(sinks=())
    assert trail.listens("INTERNAL_ERROR") is (listening != "nobody")
    trail.record(failure(1, name="INTERNAL_ERROR"))
    assert (len(made), len(taken)) == ((0, 0) if listening == "nobody" else (1, 1))


def test_a_trail_rotated_at_every_step_is_reported(tmp_path, path, monkeypatch):
    """After a number of attempts, verification reports the problem and keeps no file open."""
    written(path, 1)
    real = verification_module._raw_head
    looks = []

    def rotated_meanwhile(where):
        looks.append(where)
        shutil.copy(path, tmp_path / "next")
        (tmp_path / "next").replace(path)
        return real(where)

    monkeypatch.setattr(verification_module, "_raw_head", rotated_meanwhile)
    monkeypatch.setattr(verification_module, "_LONGEST_PAUSE", 0.0)
    before = len(os.listdir("/dev/fd")) if os.path.isdir("/dev/fd") else 0
    with pytest.raises(AuditError, match="rotated faster than it can be read"):
        verify(path)
    assert len(looks) >= verification_module._ATTEMPTS
    assert before == (len(os.listdir("/dev/fd")) if before else 0)


def test_full_files_appearing_at_every_step_are_reported(path, monkeypatch):
    """Verification also ends if there is never a newest file."""
    looks = []

    def with_another_file(where):
        looks.append(where)
        rotated_path(where, len(looks)).write_bytes(b"")
        return rotated_files(where)

    monkeypatch.setattr(verification_module, "rotated_files", with_another_file)
    monkeypatch.setattr(verification_module, "_LONGEST_PAUSE", 0.0)
    with pytest.raises(AuditError, match="rotated faster than it can be read"):
        verify(path)
    assert len(looks) == 2 * verification_module._ATTEMPTS
