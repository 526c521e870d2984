"""Trails that were changed in more than one way, and what verify says of each record."""

from __future__ import annotations

import gc
import logging
import threading

import pytest

from mcpcore.audit import AuditTrail, verify
from mcpcore.audit.chain import GENESIS, Signer, event_of, read_link
from mcpcore.audit.files import head_path, rotated_files
from mcpcore.audit.reading import read

PLAIN = Signer(None)


def sealed(seq: int, prev: str, text: str) -> bytes:
    """A line that vouches for itself, as anybody can make one where there is no key."""
    return PLAIN.seal(seq, prev, f'{{"message":"{text}"}}')[0]


def chain(count: int, *, prev: str = GENESIS) -> list[bytes]:
    """The lines of a trail of so many records, of which the first names `prev`."""
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
    """Make a trail of these lines, without a head; its path."""

    def laid(*lines: bytes):
        path = tmp_path / "audit.jsonl"
        path.write_bytes(b"".join(lines))
        return path

    return laid


def found(path, **options):
    return [(problem.kind, problem.seq) for problem in verify(path, **options).problems]


def test_a_second_record_of_a_number_is_forged(lay):
    """Of two sound lines with one number, the one that the next record names is kept."""
    one, two, three, four = chain(4)
    other = sealed(3, hash_of(two), "another story")
    assert [("forged", 3)] == found(lay(one, two, three, other, four))
    assert [("forged", 3)] == found(lay(one, two, other, three, four))


def test_a_record_that_stands_in_two_places_is_told_once(lay):
    """The one in its place is kept, and the other is named with where it stands too."""
    one, two, three = chain(3)
    path = lay(one, two, three, two)
    assert [("duplicated", 2)] == found(path)
    assert "it is also at audit.jsonl:2" in verify(path).problems[0].detail


def test_a_record_without_the_key_after_the_first_that_has_it_is_forged(tmp_path, failure):
    """Somebody without the key goes on with the chain as anybody could before there was one."""
    path = tmp_path / "audit.jsonl"
    with AuditTrail.open(path, sinks=(), key="k" * 32) as trail:
        trail.record(failure(1))
    (signed,) = path.read_bytes().splitlines(keepends=True)
    link = read_link(signed, Signer(b"k" * 32))
    assert link is not None
    path.write_bytes(signed + sealed(2, link.hash, "by another writer"))
    problems = verify(path, key="k" * 32).problems
    assert ("forged", 2, "it is not signed, and those before it are") in [(p.kind, p.seq, p.detail) for p in problems]


def test_a_chain_that_begins_elsewhere_is_forged(lay):
    """A first record that names a record before it was forged."""
    assert [("forged", 1)] == found(lay(*chain(3, prev="1" * 64)))


def test_records_missing_around_one_that_was_moved_are_told_apart(lay):
    """The record that stands elsewhere is not among the missing."""
    lines = chain(7)
    moved = lay(lines[0], lines[5], lines[6], lines[2])
    report = verify(moved)
    assert {("removed", 2), ("removed", 4), ("reordered", 3)} == {(one.kind, one.seq) for one in report.problems}
    told = " ".join(problem.detail for problem in report.problems)
    assert "record 2 is missing" in told
    assert "records 4 to 5 are missing" in told


def test_the_head_of_an_empty_trail_fits_every_trail(lay, tmp_path):
    """What `--print-head` says before the first record can be held against the trail later."""
    empty = tmp_path / "empty.jsonl"
    AuditTrail.open(empty, sinks=()).close()
    report = verify(empty)
    assert (True, None, None) == (report.ok, report.last, report.last_hash)
    assert verify(empty, head=f"0:{GENESIS}").ok
    assert verify(lay(*chain(2)), head=f"0:{GENESIS}").ok


def test_files_that_were_joined_into_one_are_found(tmp_path, failure):
    """Every record is there and in order, and yet the file is not the one that the server wrote."""
    path = tmp_path / "audit.jsonl"
    with AuditTrail.open(path, sinks=(), max_bytes=2_000) as trail:
        for number in range(1, 13):
            trail.record(failure(number))
    full = rotated_files(path)
    assert full
    assert verify(path).ok
    path.write_bytes(b"".join(file.read_bytes() for file in (*full, path)))
    for file in full:
        file.unlink()
    report = verify(path)
    assert ["changed"] == [problem.kind for problem in report.problems]
    assert f"bytes long, and was {report.head.size}" in report.problems[0].detail


def test_a_fragment_that_was_sealed_off_and_then_changed_is_found(tmp_path, failure):
    """The record after it confirms the bytes that a dying writer left."""
    path = tmp_path / "audit.jsonl"
    with AuditTrail.open(path, sinks=()) as trail:
        trail.record(failure(1))
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"seq":2,"prev":"')
    with AuditTrail.open(path, sinks=()) as trail:
        trail.record(failure(2))
    assert verify(path).ok
    path.write_bytes(path.read_bytes().replace(b'{"seq":2,"prev":"\n', b'{"seq":2,"prev":"?\n'))
    report = verify(path)
    assert not report.ok
    assert any(problem.line == 2 for problem in report.problems)


@pytest.fixture
def pruned(tmp_path, failure):
    """A trail whose server keeps one full file, and the head that it had after three records."""
    path = tmp_path / "audit.jsonl"
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


def test_what_was_pruned_is_not_missed_where_something_else_is_wrong(pruned):
    """A changed record is named alone, though the trail no longer begins with the first."""
    path, _ = pruned
    last = verify(path).last
    path.write_bytes(path.read_bytes().replace(b"None of 30", b"None of 31"))
    assert [("changed", last)] == found(path)


def test_a_head_from_before_the_pruning_is_told_to_be_old(pruned):
    """It can no longer be held against the record that it knew, and that is no sign of a change."""
    path, old = pruned
    report = verify(path, head=old)
    assert report.ok
    assert "the head given is older than the first record that is kept" in report.notes


def test_a_number_inside_that_a_head_knows_is_missed(tmp_path, failure):
    """A head kept elsewhere names a record that was taken out of the middle."""
    path = tmp_path / "audit.jsonl"
    with AuditTrail.open(path, sinks=()) as trail:
        trail.record(failure(1))
        trail.record(failure(2))
        kept = trail.head
        trail.record(failure(3))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[2])
    problems = verify(path, head=kept).problems
    assert ("removed", "the head given lists record 2, which is missing") in [(p.kind, p.detail) for p in problems]


def test_a_line_that_only_looks_like_an_event_is_none():
    """The word alone does not make one."""
    assert event_of(b'{"event":\n') is None
    assert event_of(b'["event":' + b"[" * 100_000 + b"\n") is None
    assert event_of(b'{"event": 7}\n') is None
    assert event_of(b'{"message":"event"}\n') is None
    assert event_of(b'{"event":"lost","records":2}\n') == {"event": "lost", "records": 2}


def test_a_full_file_that_cannot_be_read_is_passed_over_when_the_chain_is_taken_up(tmp_path, failure):
    """A writer that begins an empty file looks for the end of the chain in the newest full file that it can read."""
    path = tmp_path / "audit.jsonl"
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


def test_a_folder_that_became_a_file_is_told_and_the_lock_is_given_back(tmp_path, failure, caplog):
    """Every failure is answered all the same, and the next one finds the trail where the folder is there again."""
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


def test_a_trail_without_a_file_has_nothing_to_check():
    """Neither the policy nor the disk can refuse what is only logged."""
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
def test_of_a_crash_that_is_too_long_its_kind_and_its_message_stay(tmp_path, failure, exception, kept):
    """The part that makes the record too long is dropped and named; the kind of crash stays."""
    path = tmp_path / "audit.jsonl"
    with AuditTrail.open(path, sinks=()) as trail:
        trail.record(failure(1, exception=exception, traceback="t"))
    (record,) = read(path)
    assert ["traceback", "exception"] == record["dropped"]
    assert failure(1)["message"] == record["message"]
    told = record.get("exception")
    assert (None if kept is None else set(kept)) == (None if told is None else set(told))
    assert kept is None or "message" not in kept or told["message"].startswith(kept["message"])


def test_the_thread_that_flushes_ends_with_its_trail(tmp_path, failure, monkeypatch):
    """It ends soon after the trail is garbage-collected, with or without anything to flush."""
    monkeypatch.setattr("mcpcore.audit.flushing._IDLE", 0.02)
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


@pytest.fixture
def bare_logger(monkeypatch):
    """The trail's logger without handlers, filters or a parent, as a library without an application has it."""
    logger = logging.getLogger("mcpcore.audit")
    for name, value in (("handlers", []), ("filters", []), ("propagate", False), ("disabled", False)):
        monkeypatch.setattr(logger, name, value)
    level = logger.level
    logger.setLevel(logging.DEBUG)
    yield logger
    logger.setLevel(level)


def heard(logger: logging.Logger, failure) -> list[str]:
    """What the filters of the logger see of one failure."""
    seen: list[str] = []
    watch = logging.Filter()
    watch.filter = lambda record: bool(seen.append(record.getMessage()))  # type: ignore[method-assign]
    logger.addFilter(watch)
    AuditTrail(sinks=()).record(failure(1))
    logger.removeFilter(watch)
    return seen


def test_a_filter_sees_every_record_whatever_the_handlers_are(bare_logger, failure):
    """An application may take the trail by a filter; a handler that does nothing does not take it away."""
    assert 1 == len(heard(bare_logger, failure))
    bare_logger.addHandler(logging.NullHandler())
    assert 1 == len(heard(bare_logger, failure))


def test_nothing_is_made_for_a_logger_that_nobody_hears(bare_logger, failure, monkeypatch, capsys):
    """A NullHandler is how an application says so; with no handler at all the last resort has it."""
    made: list[object] = []
    factory = logging.getLogRecordFactory()
    monkeypatch.setattr(logging, "_logRecordFactory", lambda *args, **more: made.append(args) or factory(*args, **more))
    crash = failure(1, name="INTERNAL_ERROR")
    bare_logger.handlers.clear()  # pytest adds a handler if records do not propagate to the root
    AuditTrail(sinks=()).record(crash)
    assert 1 == len(made)
    assert '"INTERNAL_ERROR"' in capsys.readouterr().err
    bare_logger.addHandler(logging.NullHandler())
    AuditTrail(sinks=()).record(crash)
    assert (1, "") == (len(made), capsys.readouterr().err)
    bare_logger.addHandler(logging.StreamHandler())
    AuditTrail(sinks=()).record(crash)
    assert 2 == len(made)
