"""A key added to an existing trail: earlier records are not trusted until their head is confirmed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mcpcore.audit import verify
from mcpcore.audit.files import head_path
from tests.audit.conftest import written
from tests.audit.test_cut_off import KEY, verifying


def events(path: Path) -> list[str]:
    records = map(json.loads, path.read_text().splitlines())
    return [record["event"] for record in records if "event" in record]


@pytest.mark.usefixtures("only_warnings")
def test_a_forgery_does_not_verify_after_the_server_continued_it(path, caplog):
    """An attacker replaces a signed trail; the server continues it with a note, which proves nothing."""
    written(path, *range(5), key=KEY)
    genuine = verify(path, key=KEY)
    path.unlink()
    head_path(path).unlink()
    written(path, *range(10, 13))
    assert [problem.kind for problem in verify(path, key=KEY).problems].count("forged")
    for number in (20, 30):
        written(path, *range(number, number + 2), key=KEY)
        report = verify(path, key=KEY)
        assert [(problem.kind, problem.seq) for problem in report.problems] == [("unsigned", 3)]
        assert "records 1 to 3 are not signed" in report.problems[0].detail
    assert events(path) == ["key_added"]
    assert "has no signature up to record 3" in caplog.text
    for options in ({"no_head": True}, {"head": f"{report.last}:{report.last_hash}"}):
        assert not verify(path, key=KEY, **options).ok
    (problem,) = verify(path, key=KEY, unsigned=f"{genuine.last}:{genuine.last_hash}").problems
    assert "the head given for them is not that of record 3" in problem.detail


def test_the_head_from_before_the_key_confirms_the_records_before_it(path):
    """The head may be a file, a number with a hash, or only the hash; a wrong number or hash confirms nothing."""
    written(path, *range(1))
    head = head_path(path).read_text()
    digest = verify(path).last_hash
    written(path, *range(1, 3), key=KEY)
    for text in (head, f"1:{digest}", str(digest)):
        report = verify(path, key=KEY, unsigned=text)
        assert report.ok, report.problems
        assert "record 1 is from before the trail got its key" in " ".join(report.notes)
    for text in (f"2:{digest}", "0" * 64):
        assert [problem.kind for problem in verify(path, key=KEY, unsigned=text).problems] == ["unsigned"]


def test_full_files_from_before_the_key_need_confirmation_too(path):
    """The key may be added while the newest file is empty or missing."""
    written(path, *range(20), max_bytes=2_000)
    old = verify(path)
    written(path, *range(20, 40), max_bytes=2_000, key=KEY)
    assert [(problem.kind, problem.seq) for problem in verify(path, key=KEY).problems] == [("unsigned", old.last)]
    assert verify(path, key=KEY, unsigned=f"{old.last}:{old.last_hash}").ok


def test_a_head_lost_before_the_key_was_added_is_confirmed_too(path):
    """An earlier head shows that no record before it was cut off."""
    for number in range(3):
        written(path, *range(number, number + 1))
        if number < 2:
            head_path(path).unlink()
    old = verify(path)
    written(path, *range(3, 5), key=KEY)
    assert {problem.kind for problem in verify(path, key=KEY).problems} == {"unsigned", "head"}
    assert verify(path, key=KEY, unsigned=f"{old.last}:{old.last_hash}").ok


def test_a_trail_signed_from_its_start_needs_no_confirmation(path):
    """A given head is not mentioned."""
    written(path, *range(3), key=KEY)
    assert events(path) == []
    for unsigned in (None, "0" * 64):
        report = verify(path, key=KEY, unsigned=unsigned)
        assert (report.ok, report.notes) == (True, [])


def test_the_command_names_the_record_to_confirm(path, tmp_path):
    """It exits with 1 and names the option, and with 0 if the option is given."""

    written(path, *range(3))
    code, old = verifying(path, "--print-head", key="")
    assert code == 0
    kept = tmp_path / "kept.txt"
    kept.write_text(old)
    written(path, *range(3, 5), key=KEY)
    code, text = verifying(path)
    assert code == 1
    assert f"--unsigned {old.strip()}" in " ".join(text.split())
    assert verifying(path, "--unsigned", old.strip())[0] == 0
    assert verifying(path, "--unsigned", str(kept))[0] == 0
