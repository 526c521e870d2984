"""Trails with several kinds of changes, and the report of `verify` for each record."""

from __future__ import annotations

import gc
import threading

import pytest

from mcpcore.audit import AuditTrail, verify
from mcpcore.audit.chain import GENESIS, Signer, event_of, read_link
from mcpcore.audit.files import head_path, rotated_files
from mcpcore.audit.reading import read
from tests.audit.conftest import written

PLAIN = Signer(None)


def sealed(seq: int, prev: str, text: str) -> bytes:
    """Return a line with a valid hash, as anyone can make if there is no key."""
    return PLAIN.seal(seq, prev, f'{{"message":"{text}"}}')[0]


def chain(count: int, *, prev: str = GENESIS) -> list[bytes]:
    """Return the lines of a trail with this many records, of which the first names `prev`."""
    made = []
    for seq in range(1, count + 1):
        line, prev = PLAIN.seal(seq, prev, f'{{"message":"record {seq}"}}')
        made.append(line)
    return made


def hash_of(line: bytes) -> str:
    link = read_link(line, PLAIN)
    assert link is not None
    return link.hash


@pytest.fixture
def lay(tmp_path):
    """Write a trail with these lines and no head, and return its path."""

    def laid(*lines: bytes):
        path = tmp_path / "audit.jsonl"
        path.write_bytes(b"".join(lines))
        return path

    return laid


def problems_of(path, **options):
    return [(problem.kind, problem.seq) for problem in verify(path, **options).problems]


def test_a_second_record_with_the_same_number_is_forged(lay):
    """Of two valid lines with the same number, the one that the next record names is kept."""
    first, second, third, fourth = chain(4)
    other = sealed(3, hash_of(second), "another story")
    assert [("forged", 3)] == problems_of(lay(first, second, third, other, fourth))
    assert [("forged", 3)] == problems_of(lay(first, second, other, third, fourth))


def test_an_unsigned_record_after_the_first_signed_one_is_forged(path):
    """An attacker without the key continues the chain, as was possible before the key was set."""
    written(path, 1, key="k" * 32)
    (signed,) = path.read_bytes().splitlines(keepends=True)
    link = read_link(signed, Signer(b"k" * 32))
    assert link is not None
    path.write_bytes(signed + sealed(2, link.hash, "by another writer"))
    problems = verify(path, key="k" * 32).problems
    assert ("forged", 2, "it is not signed, and those before it are") in [(p.kind, p.seq, p.detail) for p in problems]


def test_a_chain_with_a_foreign_beginning_is_forged(lay):
    """The first record of the trail names a predecessor."""
    assert [("forged", 1)] == problems_of(lay(*chain(3, prev="1" * 64)))


def test_records_missing_around_a_moved_one_are_distinguished(lay):
    """The moved record is not among the missing ones."""
    lines = chain(7)
    report = verify(lay(lines[0], lines[5], lines[6], lines[2]))
    assert {("removed", 2), ("removed", 4), ("reordered", 3)} == {
        (problem.kind, problem.seq) for problem in report.problems
    }
    details = " ".join(problem.detail for problem in report.problems)
    assert "record 2 is missing" in details
    assert "records 4 to 5 are missing" in details


def test_the_head_of_an_empty_trail_matches_every_trail(lay, tmp_path):
    """The output of `--print-head` before the first record can be compared with the trail later."""
    empty = tmp_path / "empty.jsonl"
    AuditTrail.open(empty, sinks=()).close()
    report = verify(empty)
    assert (True, None, None) == (report.ok, report.last, report.last_hash)
    assert verify(empty, head=f"0:{GENESIS}").ok
    assert verify(lay(*chain(2)), head=f"0:{GENESIS}").ok


def test_files_joined_into_one_are_found(path):
    """Every record is present and in order, but the server did not write them to one file."""
    written(path, *range(1, 13), max_bytes=2000)
    full = rotated_files(path)
    assert full
    assert verify(path).ok
    path.write_bytes(b"".join(file.read_bytes() for file in (*full, path)))
    for file in full:
        file.unlink()
    report = verify(path)
    assert ["changed"] == [problem.kind for problem in report.problems]
    assert f"bytes long, and was {report.head.size}" in report.problems[0].detail


def test_a_sealed_fragment_that_was_changed_is_found(path):
    """The next record confirms the bytes that a dying writer left."""
    written(path, 1)
    path.write_bytes(path.read_bytes() + b'{"seq":2,"prev":"')
    written(path, 2)
    assert verify(path).ok
    path.write_bytes(path.read_bytes().replace(b'{"seq":2,"prev":"\n', b'{"seq":2,"prev":"?\n'))
    report = verify(path)
    assert not report.ok
    assert any(problem.line == 2 for problem in report.problems)


@pytest.fixture
def pruned(path, failure):
    """A trail whose server keeps one full file, and its head after three records."""
    with AuditTrail.open(path, sinks=(), max_bytes=2_000, keep=1) as trail:
        for number in range(1, 4):
            trail.record(failure(number))
        old = trail.head
        for number in range(4, 31):
            trail.record(failure(number))
    report = verify(path)
    assert report.ok
    assert report.first is not None
    assert report.first > 4
    return path, old


def test_pruned_records_are_not_reported_as_missing_with_other_problems(pruned):
    """Only the changed record is reported, even though the trail no longer begins with the first one."""
    path, _ = pruned
    last = verify(path).last
    path.write_bytes(path.read_bytes().replace(b"None of 30", b"None of 31"))
    assert [("changed", last)] == problems_of(path)


def test_a_head_from_before_pruning_is_reported_as_old(pruned):
    """It cannot be compared with its record any more, which is not a sign of tampering."""
    path, old = pruned
    report = verify(path, head=old)
    assert report.ok
    assert "the head given is older than the first record that is kept" in report.notes


def test_a_missing_record_named_by_a_head_is_reported(path, failure):
    """A head kept elsewhere names a record that was removed from the middle."""
    with AuditTrail.open(path, sinks=()) as trail:
        trail.record(failure(1))
        trail.record(failure(2))
        kept = trail.head
        trail.record(failure(3))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[2])
    problems = verify(path, head=kept).problems
    assert ("removed", "the head given lists record 2, which is missing") in [(p.kind, p.detail) for p in problems]


def test_a_line_that_only_resembles_an_event_is_not_one():
    """The word alone does not make an event."""
    assert event_of(b'{"event":\n') is None
    assert event_of(b'["event":' + b"[" * 100_000 + b"\n") is None
    assert event_of(b'{"event": 7}\n') is None
    assert event_of(b'{"message":"event"}\n') is None
    assert event_of(b'{"event":"lost","records":2}\n') == {"event": "lost", "records": 2}


def test_an_unreadable_full_file_is_skipped_when_the_chain_continues(tmp_path, path, failure):
    """A writer with an empty file takes the end of the chain from the newest readable full file."""
    with AuditTrail.open(path, sinks=(), max_bytes=2_000) as trail:
        for number in range(1, 9):
            trail.record(failure(number))
        end = trail.head
    path.rename(path.with_name(f"{path.name}.{end.seq:012d}"))
    path.with_name(f"{path.name}.{end.seq + 1:012d}").symlink_to(tmp_path / "gone")
    head_path(path).unlink()
    with AuditTrail.open(path, sinks=()) as trail:
        trail.record(failure(9))
        assert trail.head.seq > end.seq


@pytest.mark.usefixtures("only_warnings")
def test_a_folder_replaced_by_a_file_is_reported_and_the_lock_released(tmp_path, failure, caplog):
    """Every failure is still answered, and recording resumes once the folder exists again."""
    folder = tmp_path / "logs"
    folder.mkdir()
    with AuditTrail.open(folder / "audit.jsonl", sinks=()) as trail:
        trail.record(failure(1))
        folder.rename(tmp_path / "moved")
        folder.write_text("in the way")
        trail.record(failure(2))
        assert "cannot be written" in caplog.text
        folder.unlink()
        (tmp_path / "moved").rename(folder)
        trail.record(failure(3))
    report = verify(folder / "audit.jsonl")
    assert report.ok
    assert any("1 record(s) could not be written" in note for note in report.notes)


def test_a_trail_without_a_file_has_nothing_to_verify():
    """Neither the policy nor the disk can refuse records that are only logged."""
    AuditTrail(policy="refuse").check()


@pytest.mark.parametrize(
    ("exception", "kept"),
    [
        ({"type": "E", "message": "m" * 5_000, "causes": ["c" * 3_000_000]}, {"type": "E", "message": "m" * 2_000}),
        ({"type": 7, "causes": ["c" * 3_000_000]}, {}),
        ("e" * 3_000_000, None),
    ],
    ids=["both", "neither", "text"],
)
def test_an_oversized_crash_keeps_its_type_and_message(path, failure, exception, kept):
    """The part that makes the record too long is dropped and named."""
    with AuditTrail.open(path, sinks=()) as trail:
        trail.record(failure(1, exception=exception, traceback="t"))
    (record,) = read(path)
    assert ["traceback", "exception"] == record["dropped"]
    assert failure(1)["message"] == record["message"]
    recorded = record.get("exception")
    assert (None if kept is None else set(kept)) == (None if recorded is None else set(recorded))
    assert kept is None or "message" not in kept or recorded["message"].startswith(kept["message"])


def test_the_flushing_thread_ends_with_its_trail(tmp_path, failure, monkeypatch):
    """It ends soon after the trail is garbage-collected, with or without anything to flush."""
    monkeypatch.setattr("mcpcore.audit.listeners._IDLE", 0.02)
    before = set(threading.enumerate())
    trail = AuditTrail.open(tmp_path / "audit.jsonl", sinks=(), flush="interval", flush_interval=0.01)
    trail.record(failure(1))
    (flusher,) = set(threading.enumerate()) - before
    flusher.join(0.3)
    assert flusher.is_alive()
    del trail
    gc.collect()
    flusher.join(10)
    assert not flusher.is_alive()
    assert 1 == verify(tmp_path / "audit.jsonl").records
