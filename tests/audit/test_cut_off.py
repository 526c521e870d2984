"""The end of a signed trail cannot be cut off without failing verification, even if the head is lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from mcpcore.audit import AuditTrail, verification, verify
from mcpcore.audit.files import head_path, rotated_files
from mcpcore.cli.audit import group
from tests.audit.conftest import written

KEY = "correct horse battery staple"


@pytest.fixture
def path(tmp_path, failure):
    """A signed trail of six records, closed."""
    with AuditTrail.open(tmp_path / "audit.jsonl", key=KEY, sinks=()) as trail:
        for number in range(1, 7):
            trail.record(failure(number))
    return trail.path


def kinds(path: Path, **options) -> list[tuple[str, int | None]]:
    return [(problem.kind, problem.seq) for problem in verify(path, key=KEY, **options).problems]


def cut(path: Path, kept: int) -> None:
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:kept]))
    head_path(path).unlink()


def restart(path: Path, number: int = 99) -> None:
    written(path, number, key=KEY)


def first_record(path: Path) -> dict[str, object]:
    return json.loads(path.read_text().partition("\n")[0])


@pytest.mark.parametrize("kept", [0, 1, 4, 6])
def test_a_signed_trail_without_its_head_does_not_verify(path, kept):
    """Without the head, nothing shows whether records were cut off."""
    cut(path, kept)
    assert kinds(path) == [("head", kept or None)]
    (problem,) = verify(path, key=KEY).problems
    assert "the signed trail has no head" in problem.detail
    assert "--no-head" in problem.detail


@pytest.mark.parametrize("kept", [1, 4, 6])
def test_a_head_lost_while_closed_is_found_after_the_next_start(path, kept):
    """The writer records the loss, and verification reports it, however many records and heads follow."""
    cut(path, kept)
    for number in range(3):
        restart(path, number)
    report = verify(path, key=KEY)
    assert [(problem.kind, problem.seq) for problem in report.problems] == [("head", kept)]
    assert "the head was lost while no server had the trail open" in report.problems[0].detail
    assert report.head is not None


def test_a_head_damaged_while_closed_is_found_after_the_next_start(path):
    """A damaged head is treated like a deleted one."""
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:4]))
    head_path(path).write_bytes(b"garbage".ljust(512))
    restart(path)
    assert kinds(path) == [("head", 4)]


def test_a_head_kept_elsewhere_shows_what_was_cut_off(path):
    """It works before and after the next start."""
    kept = head_path(path).read_text()
    cut(path, 4)
    assert ("cut", 5) in kinds(path, head=kept)
    restart(path)
    restart(path)
    assert ("forged", 6) in kinds(path, head=kept)


def test_a_head_kept_elsewhere_shows_that_nothing_was_cut_off(path):
    """If it names the last record, the trail verifies without a head file, and the hash alone is enough."""
    kept, digest = head_path(path).read_text(), verify(path, key=KEY).last_hash
    head_path(path).unlink()
    for head in (kept, digest, f"6:{digest}"):
        assert kinds(path, head=head) == []
    restart(path)
    for head in (kept, digest, f"6:{digest}"):
        assert kinds(path, head=head) == []


def test_a_head_from_before_the_end_does_not_cover_later_records(path):
    """Later records may still have been cut off."""
    older = verify(path, key=KEY)
    assert older.ok
    restart(path, 7)
    head = f"6:{older.last_hash}"
    assert kinds(path, head=head) == []
    head_path(path).unlink()
    assert kinds(path, head=head) == [("head", 7)]
    restart(path, 8)
    assert kinds(path, head=head) == [("head", 7)]
    assert kinds(path, head=head, no_head=True) == []


def test_a_missing_head_can_be_accepted(path):
    """An export from a log store has none."""
    head_path(path).unlink()
    assert kinds(path, no_head=True) == []
    restart(path)
    assert kinds(path, no_head=True) == []


def test_a_trail_that_was_restarted_is_found_by_the_previous_head(path):
    """The first record says that it begins a trail, and a copy of the old head shows that there was another."""
    kept = head_path(path).read_text()
    assert first_record(path)["begins"] is True
    cut(path, 0)
    restart(path, 1)
    assert first_record(path)["begins"] is True
    assert kinds(path) == []
    report = verify(path, key=KEY, head=kept)
    assert [problem.kind for problem in report.problems] == ["cut"]
    assert "this trail says that it began 2026-" in report.problems[0].detail
    for number in range(8):
        restart(path, number)
    assert "says that it began" in verify(path, key=KEY, head=kept).problems[0].detail


def test_an_emptied_file_is_found_by_its_head(path):
    """After the next start, the first record of the file says that it continues a trail."""
    path.write_bytes(b"")
    assert kinds(path) == [("cut", 1)]
    restart(path)
    assert kinds(path) == [("removed", 1)]
    assert first_record(path)["begins"] is False


def test_each_new_file_says_whether_it_begins_a_trail(tmp_path):
    """The first file begins a trail and later files continue it; only the first record of a file says so."""
    path = tmp_path / "audit.jsonl"
    written(path, *range(20), key=KEY, max_bytes=2000)
    files = [*rotated_files(path), path]
    assert len(files) > 3
    assert [first_record(file)["begins"] for file in files] == [True] + [False] * (len(files) - 1)
    for file in files:
        assert file.read_text().count('"begins":') == 1
    files[0].write_bytes(files[0].read_bytes().replace(b'"begins":true', b'"begins":null'))
    assert ("changed", 1) in kinds(path)


def test_full_files_without_the_newest_one_and_without_a_head_do_not_verify(tmp_path):
    """The newest file may be gone or empty, before or after the next start."""
    path = tmp_path / "audit.jsonl"
    written(path, *range(20), key=KEY, max_bytes=2000)
    path.unlink()
    head_path(path).unlink()
    assert [kind for kind, _ in kinds(path)] == ["head"]
    path.touch()
    assert [kind for kind, _ in kinds(path)] == ["head"]
    restart(path)
    assert [kind for kind, _ in kinds(path)] == ["head"]


def test_a_head_deleted_under_its_running_server_is_not_a_loss(tmp_path, failure):
    """The server knows the end, so cut-off records leave a gap, and a deleted head alone does not."""
    path = tmp_path / "audit.jsonl"
    with AuditTrail.open(path, key=KEY, sinks=()) as trail:
        for number in range(1, 4):
            trail.record(failure(number))
        head_path(path).unlink()
        trail.record(failure(4))
        assert kinds(path) == []
        assert "the running server knew the end" in " ".join(verify(path, key=KEY).notes)
        cut(path, 2)
        trail.record(failure(5))
        assert ("removed", 3) in kinds(path)


def test_a_deleted_head_of_other_processes_is_read_once_more(tmp_path, failure):
    """A server with the trail open learns from it about others' records, and notices if they are cut off."""
    path = tmp_path / "audit.jsonl"
    with AuditTrail.open(path, key=KEY, sinks=()) as one:
        one.record(failure(1))
        written(path, *range(2, 5), key=KEY)
        cut(path, 2)
        one.record(failure(5))
        assert ("removed", 3) in kinds(path)


def test_a_trail_without_a_key_proves_less(tmp_path):
    """Anyone who can write it can recompute every part, so a missing head is only noted."""
    path = tmp_path / "audit.jsonl"
    for number in range(3):
        written(path, number)
        head_path(path).unlink()
    report = verify(path)
    assert report.ok
    assert "can only be found with --head" in " ".join(report.notes)


def test_the_command_supports_both_options(path):
    """It exits with 1 without a head, and with 0 if one was kept or the missing head is accepted."""

    def run(*arguments: str) -> tuple[int, str]:
        result = CliRunner().invoke(group, ["verify", str(path), *arguments], env={"MCPCORE_AUDIT_KEY": KEY})
        return result.exit_code, result.output

    kept = head_path(path).read_text()
    head_path(path).unlink()
    code, output = run()
    assert code == 1
    assert "the signed trail has no head" in output
    assert run("--head", kept)[0] == 0
    assert run("--no-head")[0] == 0
    assert run("--no-head", "--print-head")[1].startswith("6:")


def test_a_missing_head_is_counted_among_many_problems(path, tmp_path, failure):
    """More problems than are listed do not hide it."""
    long = tmp_path / "long.jsonl"
    with AuditTrail.open(long, key=KEY, sinks=()) as trail:
        for number in range(1_100):
            trail.record(failure(number))
        trail.flush()
    long.write_bytes(long.read_bytes().replace(b"None of", b"Many of", 1_099))
    head_path(long).unlink()
    report = verify(long, key=KEY)
    assert (len(report.problems), report.unlisted) == (1_000, 100)


def test_a_file_that_vanishes_during_verification_is_read_again(path, monkeypatch):
    """Files from two different moments are not verified together."""
    real = verification._raw_head
    looks: list[Path] = []

    def vanishing(where: Path) -> bytes | None:
        looks.append(where)
        if len(looks) == 2:
            path.rename(path.with_name("aside"))
        elif len(looks) == 4:
            path.with_name("aside").rename(path)
        return real(where)

    monkeypatch.setattr(verification, "_raw_head", vanishing)
    assert kinds(path) == []
    assert len(looks) > 4
