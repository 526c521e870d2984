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
def signed(path):
    """A signed trail of six records, closed."""
    written(path, *range(1, 7), key=KEY)
    return path


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
def test_a_signed_trail_without_its_head_does_not_verify(signed, kept):
    """Without the head, nothing shows whether records were cut off."""
    cut(signed, kept)
    assert kinds(signed) == [("head", kept or None)]
    (problem,) = verify(signed, key=KEY).problems
    assert "the signed trail has no head" in problem.detail
    assert "--no-head" in problem.detail


@pytest.mark.parametrize("kept", [1, 4, 6])
def test_a_head_lost_while_closed_is_found_after_the_next_start(signed, kept):
    """The writer records the loss, and verification reports it, however many records and heads follow."""
    cut(signed, kept)
    for number in range(3):
        restart(signed, number)
    report = verify(signed, key=KEY)
    assert [(problem.kind, problem.seq) for problem in report.problems] == [("head", kept)]
    assert "the head was lost while no server had the trail open" in report.problems[0].detail
    assert report.head is not None


def test_a_head_damaged_while_closed_is_found_after_the_next_start(signed):
    """A damaged head is treated like a deleted one."""
    signed.write_bytes(b"".join(signed.read_bytes().splitlines(keepends=True)[:4]))
    head_path(signed).write_bytes(b"garbage".ljust(512))
    restart(signed)
    assert kinds(signed) == [("head", 4)]


def test_a_head_kept_elsewhere_shows_what_was_cut_off(signed):
    """It works before and after the next start."""
    kept = head_path(signed).read_text()
    cut(signed, 4)
    assert ("cut", 5) in kinds(signed, head=kept)
    restart(signed)
    restart(signed)
    assert ("forged", 6) in kinds(signed, head=kept)


def test_a_head_kept_elsewhere_shows_that_nothing_was_cut_off(signed):
    """If it names the last record, the trail verifies without a head file, and the hash alone is enough."""
    kept, digest = head_path(signed).read_text(), verify(signed, key=KEY).last_hash
    head_path(signed).unlink()
    for head in (kept, digest, f"6:{digest}"):
        assert kinds(signed, head=head) == []
    restart(signed)
    for head in (kept, digest, f"6:{digest}"):
        assert kinds(signed, head=head) == []


def test_a_head_from_before_the_end_does_not_cover_later_records(signed):
    """Later records may still have been cut off."""
    older = verify(signed, key=KEY)
    assert older.ok
    restart(signed, 7)
    head = f"6:{older.last_hash}"
    assert kinds(signed, head=head) == []
    head_path(signed).unlink()
    assert kinds(signed, head=head) == [("head", 7)]
    restart(signed, 8)
    assert kinds(signed, head=head) == [("head", 7)]
    assert kinds(signed, head=head, no_head=True) == []


def test_a_missing_head_can_be_accepted(signed):
    """An export from a log store has none."""
    head_path(signed).unlink()
    assert kinds(signed, no_head=True) == []
    restart(signed)
    assert kinds(signed, no_head=True) == []


def test_a_trail_that_was_restarted_is_found_by_the_previous_head(signed):
    """The first record says that it begins a trail, and a copy of the old head shows that there was another."""
    kept = head_path(signed).read_text()
    assert first_record(signed)["begins"] is True
    cut(signed, 0)
    restart(signed, 1)
    assert first_record(signed)["begins"] is True
    assert kinds(signed) == []
    report = verify(signed, key=KEY, head=kept)
    assert [problem.kind for problem in report.problems] == ["cut"]
    assert "this trail says that it began 2026-" in report.problems[0].detail
    for number in range(8):
        restart(signed, number)
    assert "says that it began" in verify(signed, key=KEY, head=kept).problems[0].detail


def test_an_emptied_file_is_found_by_its_head(signed):
    """After the next start, the first record of the file says that it continues a trail."""
    signed.write_bytes(b"")
    assert kinds(signed) == [("cut", 1)]
    restart(signed)
    assert kinds(signed) == [("removed", 1)]
    assert first_record(signed)["begins"] is False


def test_each_new_file_says_whether_it_begins_a_trail(path):
    """The first file begins a trail and later files continue it; only the first record of a file says so."""
    written(path, *range(20), key=KEY, max_bytes=2000)
    files = [*rotated_files(path), path]
    assert len(files) > 3
    assert [first_record(file)["begins"] for file in files] == [True] + [False] * (len(files) - 1)
    for file in files:
        assert file.read_text().count('"begins":') == 1
    files[0].write_bytes(files[0].read_bytes().replace(b'"begins":true', b'"begins":null'))
    assert ("changed", 1) in kinds(path)


def test_full_files_without_the_newest_one_and_without_a_head_do_not_verify(path):
    """The newest file may be gone or empty, before or after the next start."""
    written(path, *range(20), key=KEY, max_bytes=2000)
    path.unlink()
    head_path(path).unlink()
    assert [kind for kind, _ in kinds(path)] == ["head"]
    path.touch()
    assert [kind for kind, _ in kinds(path)] == ["head"]
    restart(path)
    assert [kind for kind, _ in kinds(path)] == ["head"]


def test_a_head_deleted_under_its_running_server_is_not_a_loss(path, failure):
    """The server knows the end, so cut-off records leave a gap, and a deleted head alone does not."""
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


def test_a_deleted_head_of_other_processes_is_read_once_more(path, failure):
    """A server with the trail open learns from it about others' records, and notices if they are cut off."""
    with AuditTrail.open(path, key=KEY, sinks=()) as trail:
        trail.record(failure(1))
        written(path, *range(2, 5), key=KEY)
        cut(path, 2)
        trail.record(failure(5))
        assert ("removed", 3) in kinds(path)


def test_a_trail_without_a_key_proves_less(path):
    """Anyone who can write it can recompute every part, so a missing head is only noted."""
    for number in range(3):
        written(path, number)
        head_path(path).unlink()
    report = verify(path)
    assert report.ok
    assert "can only be found with --head" in " ".join(report.notes)


def verifying(trail: Path, *arguments: str, key: str = KEY) -> tuple[int, str]:
    """The exit code and the output of the command."""
    result = CliRunner().invoke(group, ["verify", str(trail), *arguments], env={"MCPCORE_AUDIT_KEY": key})
    return result.exit_code, result.output


def test_the_command_supports_both_options(signed):
    """It exits with 1 without a head, and with 0 if one was kept or the missing head is accepted."""

    kept = head_path(signed).read_text()
    head_path(signed).unlink()
    code, output = verifying(signed)
    assert code == 1
    assert "the signed trail has no head" in output
    assert verifying(signed, "--head", kept)[0] == 0
    assert verifying(signed, "--no-head")[0] == 0
    assert verifying(signed, "--no-head", "--print-head")[1].startswith("6:")


def test_a_missing_head_is_counted_among_many_problems(signed, tmp_path, failure):
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


def test_a_file_that_vanishes_during_verification_is_read_again(signed, monkeypatch):
    """Files from two different moments are not verified together."""
    real = verification._raw_head
    looks: list[Path] = []

    def vanishing(where: Path) -> bytes | None:
        looks.append(where)
        if len(looks) == 2:
            signed.rename(signed.with_name("aside"))
        elif len(looks) == 4:
            signed.with_name("aside").rename(signed)
        return real(where)

    monkeypatch.setattr(verification, "_raw_head", vanishing)
    assert kinds(signed) == []
    assert len(looks) > 4
