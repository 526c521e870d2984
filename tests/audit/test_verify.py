"""`verify` finds every change to a trail and the record that was changed."""

from __future__ import annotations

import hmac
import json
import re
import shutil
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from mcpcore.audit import AuditError, AuditTrail, verify
from mcpcore.audit.chain import GENESIS, Signer
from mcpcore.audit.files import head_path, rotated_files
from tests.audit.conftest import written

KEY = "correct horse battery staple"
COUNT = 7


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    """Return the lines of a small trail for each key; cached because no test changes them."""
    made = {}
    for key in (None, KEY):
        path = tmp_path_factory.mktemp("trail") / "audit.jsonl"
        written(path, *range(1, COUNT + 1), key=key)
        made[key] = (path.read_bytes().splitlines(keepends=True), head_path(path).read_bytes())
    return made


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("place") / "audit.jsonl"


def lay(path: Path, lines: list[bytes], head: bytes | None = None) -> Path:
    path.write_bytes(b"".join(lines))
    head_path(path).unlink(missing_ok=True)
    if head is not None:
        head_path(path).write_bytes(head)
    return path


def kinds(path: Path, key: str | None = None, **options) -> list[tuple[str, int | None]]:
    return [(problem.kind, problem.seq) for problem in verify(path, key=key, **options).problems]


keys = st.sampled_from([None, KEY])
quick = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.parametrize("key", [None, KEY])
def test_an_untouched_trail_verifies(lines, place, key):
    """An unchanged trail has no problems, with or without its head."""
    all_lines, head = lines[key]
    report = verify(lay(place, all_lines, head), key=key)
    assert (report.ok, report.records, report.first, report.last, report.notes) == (True, COUNT, 1, COUNT, [])
    assert verify(lay(place, all_lines), key=key, no_head=True).ok


@pytest.mark.slow
@pytest.mark.parametrize("key", [None, KEY])
def test_every_changed_byte_is_found_and_its_record_named(lines, place, key):
    """Any one byte may be changed; verify names its record, or the next one if lines were joined."""
    all_lines, head = lines[key]
    whole = b"".join(all_lines)
    numbers = [n for n, line in enumerate(all_lines, 1) for _ in line]
    place.write_bytes(whole)
    head_path(place).write_bytes(head)
    # The write is in place because some file systems write a truncated file back immediately.
    with place.open("r+b", buffering=0) as file:
        for at in range(len(whole)):
            # Every other byte becomes the end of a line.
            for other in {whole[at] ^ 1 if at % 2 else ord("\n")} - {whole[at]}:
                file.seek(at)
                file.write(bytes([other]))
                report = verify_any(place, key)
                assert report, (at, other)
                assert any(seq in (numbers[at], numbers[at] + 1, None) for _, seq in report), (at, other, report)
            file.seek(at)
            file.write(whole[at : at + 1])
    assert place.read_bytes() == whole


def verify_any(path: Path, key: str | None) -> list[tuple[str, int | None]]:
    try:
        return kinds(path, key)
    except AuditError:
        # The byte makes a plain record claim to be signed, so it cannot be verified and is not accepted.
        return [("unchecked", None)]


@quick
@given(key=keys, data=st.data())
def test_every_inserted_or_deleted_byte_is_found(lines, place, key, data):
    """This includes the last newline."""
    all_lines, head = lines[key]
    whole = b"".join(all_lines)
    at = data.draw(st.integers(0, len(whole) - 1))
    if data.draw(st.booleans()):
        changed = whole[:at] + whole[at + 1 :]
    else:
        changed = whole[:at] + bytes([data.draw(st.integers(0, 255))]) + whole[at:]
    if changed == whole:
        return
    assert verify_any(lay(place, [changed], head), key)


@pytest.mark.parametrize(
    ("content", "problems"),
    [(b"", 0), (b'{"se', 0), (b"\xff\xfe\x00not a trail", 1), (b"not a trail", 1)],
    ids=["empty", "cut", "binary", "text"],
)
def test_a_file_that_is_no_trail_is_not_as_written(tmp_path, content, problems):
    """A line that a crash cut off begins as a record does."""
    path = tmp_path / "trail.jsonl"
    path.write_bytes(content)
    assert problems == len(verify(path).problems)


@quick
@given(key=keys, gone=st.sets(st.integers(1, COUNT - 1), min_size=1))
def test_removed_records_are_found_by_number(lines, place, key, gone):
    """Any records removed before the last are reported missing, and nothing else is reported."""
    all_lines, _ = lines[key]
    problems = verify(
        lay(place, [line for n, line in enumerate(all_lines, 1) if n not in gone]), key=key, no_head=True
    ).problems
    assert {problem.kind for problem in problems} == {"removed"}
    missing = set()
    for problem in problems:
        first, last = re.match(r"records? (\d+)(?: to (\d+))?", problem.detail).groups()
        missing |= set(range(int(first), int(last or first) + 1))
    assert missing == gone


@quick
@given(key=keys, order=st.permutations(range(COUNT)))
def test_reordered_records_are_found(lines, place, key, order):
    """In any other order, the only problems are moved records, and there is at least one."""
    all_lines, _ = lines[key]
    problems = kinds(lay(place, [all_lines[n] for n in order]), key, no_head=True)
    if order == sorted(order):
        assert not problems
    else:
        assert {kind for kind, _ in problems} == {"reordered"}
        moved = {seq for _, seq in problems}
        rest = [n + 1 for n in order if n + 1 not in moved]
        assert rest == sorted(rest)


@quick
@given(key=keys, which=st.integers(1, COUNT), at=st.integers(0, COUNT))
def test_a_record_copied_elsewhere_is_found(lines, place, key, which, at):
    """A second copy is reported at any position."""
    all_lines, head = lines[key]
    problems = kinds(lay(place, [*all_lines[:at], all_lines[which - 1], *all_lines[at:]], head), key)
    assert ("duplicated", which) in problems


@quick
@given(key=keys, at=st.integers(0, COUNT), junk=st.binary(min_size=1).filter(lambda b: b"\n" not in b))
def test_an_invalid_line_is_found(lines, place, key, at, junk):
    """It is reported with its line number."""
    all_lines, head = lines[key]
    report = verify(lay(place, [*all_lines[:at], junk + b"\n", *all_lines[at:]], head), key=key)
    assert [(problem.kind, problem.line) for problem in report.problems] == [("inserted", at + 1)]


@quick
@given(which=st.integers(1, COUNT - 1), message=st.text(max_size=40))
def test_a_record_replaced_by_a_valid_one_is_found(lines, place, which, message):
    """A replaced record with a valid hash does not match the next record."""
    all_lines, _ = lines[None]
    prev = json.loads(all_lines[which - 2])["hash"] if which > 1 else GENESIS
    forged, _ = Signer(None).seal(which, prev, json.dumps({"message": message, "tool": "x"}))
    assert kinds(lay(place, [*all_lines[: which - 1], forged, *all_lines[which:]])) == [("forged", which)]


@quick
@given(since=st.integers(1, COUNT), key=st.sampled_from([None, "another key altogether"]))
def test_a_signed_trail_recomputed_without_the_key_is_found(lines, place, since, key):
    """No part of the trail can be replaced without the key, even if every hash matches."""
    all_lines, _ = lines[KEY]
    signer = Signer(key.encode() if key else None)
    kept, prev = all_lines[: since - 1], json.loads(all_lines[since - 2])["hash"] if since > 1 else GENESIS
    for number in range(since, COUNT + 1):
        line, prev = signer.seal(number, prev, json.dumps({"message": "nothing happened", "tool": "x"}))
        kept = [*kept, line]
    problems = kinds(lay(place, kept, signer.head(COUNT, prev, sum(map(len, kept)))), KEY)
    assert "head" in [kind for kind, _ in problems]
    assert "forged" in [kind for kind, _ in kinds(lay(place, kept), KEY)]


def test_an_unsigned_trail_recomputed_to_its_end_is_found_with_a_head_kept_elsewhere(lines, place):
    """Without a key, hashes can be recomputed, but a head that was sent elsewhere reveals it."""
    all_lines, head = lines[None]
    kept, prev = all_lines[:3], json.loads(all_lines[2])["hash"]
    for number in range(4, COUNT + 1):
        line, prev = Signer(None).seal(number, prev, json.dumps({"tool": "x"}))
        kept = [*kept, line]
    forged_head = Signer(None).head(COUNT, prev, sum(map(len, kept)))
    assert kinds(lay(place, kept, forged_head)) == []
    assert kinds(lay(place, kept, forged_head), head=head.decode()) == [("forged", COUNT)]


def test_records_added_after_the_head_are_found(lines, place):
    """A valid record that the head does not cover was added by another program."""
    all_lines, head = lines[None]
    prev = json.loads(all_lines[-1])["hash"]
    line, _ = Signer(None).seal(COUNT + 1, prev, json.dumps({"tool": "x"}))
    assert kinds(lay(place, [*all_lines, line], head)) == [("inserted", COUNT + 1)]


def test_a_changed_head_is_found(lines, place):
    """Any changed byte of the head's text is found, and it is signed like the trail."""
    for key in (None, KEY):
        all_lines, head = lines[key]
        for at in range(len(head.rstrip())):
            assert kinds(lay(place, all_lines, head[:at] + bytes([head[at] ^ 1]) + head[at + 1 :]), key), (key, at)


def test_a_signed_trail_is_not_verified_without_its_key(lines, place):
    """Without the key, verify refuses to give a result; with another key, no record is valid."""
    all_lines, head = lines[KEY]
    with pytest.raises(AuditError, match="set MCPCORE_AUDIT_KEY"):
        verify(lay(place, all_lines, head))
    problems = kinds(lay(place, all_lines, head), "not the key")
    assert problems.count(("forged", 1)) == 1
    assert ("head", None) in problems


def test_a_key_set_later_covers_earlier_records(path):
    """With the head from before the key, the trail verifies; after the first signed record, all must be signed."""
    written(path, *range(3))
    written(path, *range(3, 6), key=KEY)
    lines = path.read_bytes().splitlines(keepends=True)
    digest = json.loads(lines[2])["hash"]
    report = verify(path, key=KEY, unsigned=f"3:{digest}")
    assert report.ok, report.problems
    assert report.notes == [
        f"record 4: the trail got its key here: records up to 3 (hash {digest}) are not signed",
        "records 1 to 3 are from before the trail got its key, and confirmed by the head given for them",
    ]
    event = json.loads(lines[3])
    assert (event["event"], event["last"], event["last_hash"]) == ("key_added", 3, digest)
    assert event["alg"].startswith("hmac-sha256:")
    keys = KEY.encode(), KEY.encode() * 9
    assert all(Signer(key).digest(lines[3]) == hmac.digest(key, lines[3], "sha256").hex() for key in keys)
    lines[1] = lines[1].replace(b"None of", b"Many of")
    path.write_bytes(b"".join(lines))
    assert ("changed", 2) in kinds(path, KEY)


def test_a_signed_trail_is_not_continued_without_its_key(path):
    """A server that lost its key reports it instead of adding records that cannot be verified."""
    written(path, 1, key=KEY)
    before = path.read_bytes()
    with pytest.raises(AuditError, match="MCPCORE_AUDIT_KEY is not set"):
        AuditTrail.open(path, policy="refuse")
    with pytest.raises(AuditError, match="MCPCORE_AUDIT_KEY is another one"):
        AuditTrail.open(path, key="another key of some length", policy="refuse")
    assert path.read_bytes() == before


class TestSeveralFiles:
    @pytest.fixture
    def path(self, tmp_path):
        path = tmp_path / "audit.jsonl"
        written(path, *range(40), max_bytes=2000)
        return path

    def test_the_chain_continues_from_file_to_file(self, path):
        """All files together verify, and their sizes respect the limit."""
        report = verify(path)
        assert report.ok, report.problems
        assert (report.records, len(report.files)) == (40, len(rotated_files(path)) + 1)
        assert len(report.files) > 5
        assert all(Path(name).stat().st_size <= 2_000 for name in report.files)

    @pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
    def test_there_may_be_more_files_than_a_process_may_open(self, path):
        """The files of a trail are read one after the other."""
        import resource

        before = resource.getrlimit(resource.RLIMIT_NOFILE)
        folder = Path("/proc/self/fd")
        used = len(list(folder.iterdir())) if folder.exists() else 40
        resource.setrlimit(resource.RLIMIT_NOFILE, (used + 4, before[1]))
        try:
            assert verify(path).ok
            assert verify(path, head="1" * 64).problems
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, before)

    def test_a_missing_file_is_found(self, path):
        """A file removed from the middle or the beginning is a gap in the numbers."""
        middle = rotated_files(path)[2]
        aside = path.with_name("aside")
        shutil.move(middle, aside)
        (problem,) = verify(path).problems
        assert problem.kind == "removed"
        assert "a whole file, perhaps" in problem.detail
        shutil.move(aside, middle)
        assert verify(path).ok
        rotated_files(path)[0].unlink()
        (problem,) = verify(path).problems
        assert (problem.kind, problem.seq) == ("removed", 1)

    def test_the_newest_file_missing_is_found(self, path):
        """The head shows which records are missing, and a server that continues leaves the gap visible."""
        path.unlink()
        assert "cut" in [problem.kind for problem in verify(path).problems]
        written(path, 1)
        report = verify(path)
        assert [problem.kind for problem in report.problems] == ["removed"]
        assert "were gone when a writer came back" in " ".join(report.notes)

    def test_configured_pruning_is_not_a_loss(self, tmp_path):
        """The trail accounts for the files that the server deleted, and one more deleted file is found."""
        path = tmp_path / "kept" / "audit.jsonl"
        path.parent.mkdir()
        written(path, *range(60), max_bytes=2000, keep=2)
        report = verify(path)
        assert report.ok, report.problems
        assert len(report.files) == 3
        assert "were pruned by the server, as configured" in report.notes[0]
        rotated_files(path)[0].unlink()
        assert [problem.kind for problem in verify(path).problems] == ["removed"]


def test_a_trail_rolled_back_under_a_running_server_is_found(path, failure):
    """If trail and head are restored from an older copy, the server notices, and the gap stays visible."""
    trail = AuditTrail.open(path, sinks=())
    trail.record(failure(1))
    copy, head = path.read_bytes(), head_path(path).read_bytes()
    trail.record(failure(2))
    path.write_bytes(copy)
    head_path(path).write_bytes(head)
    trail.record(failure(3))
    assert kinds(path) == [("removed", 2)]


def test_a_trail_deleted_under_a_running_server_is_started_again_and_found(path, failure):
    """The next record is in a new file, and its number shows that there were earlier ones."""
    trail = AuditTrail.open(path, sinks=())
    for number in range(3):
        trail.record(failure(number))
    path.unlink()
    head_path(path).unlink()
    trail.record(failure(3))
    assert ("removed", 1) in kinds(path)
    assert trail.lost == 0


def test_a_forged_huge_number_is_reported_in_bounded_time(lines, place):
    """A valid record with the number 10^17 leaves one gap, not a list of missing numbers."""
    all_lines, _ = lines[None]
    line, _ = Signer(None).seal(10**17, "0" * 64, json.dumps({"tool": "x"}))
    problems = verify(lay(place, [*all_lines, line])).problems
    assert any(str(10**17 - 1) in problem.detail for problem in problems)


@pytest.mark.parametrize("text", ["", "xyz", "1:2", "a" * 64 + "b", "-1:" + "a" * 64, "x:" + "a" * 64, "{}"])
def test_an_invalid_head_is_refused(lines, place, text):
    """A mistyped head is an error, not a verified trail."""
    with pytest.raises(AuditError, match=r"head|number"):
        verify(lay(place, lines[None][0]), head=text)


def test_a_missing_trail_is_an_error(tmp_path):
    """A path without a trail is not a trail without problems."""
    with pytest.raises(AuditError, match="there is no trail"):
        verify(tmp_path / "audit.jsonl")


def cost_of_all_changed(path: Path, count: int) -> float:
    """Measure the processor time to verify a trail with every line changed, as the best of three."""
    lines, prev, signer = [], GENESIS, Signer(None)
    for number in range(1, count + 1):
        line, prev = signer.seal(number, prev, f'{{"message":"record {number}"}}')
        lines.append(line.replace(b'"record', b'"changed'))
    path.write_bytes(b"".join(lines))
    costs = []
    for _ in range(3):
        began = time.process_time()
        report = verify(path)
        costs.append(time.process_time() - began)
        assert len(report.problems) + report.unlisted == count
    return min(costs)


def test_verifying_a_completely_changed_trail_takes_linear_time(path):
    """Four times the lines take four times as long, not sixteen times."""
    assert cost_of_all_changed(path, 20_000) < 8 * cost_of_all_changed(path, 5_000)
