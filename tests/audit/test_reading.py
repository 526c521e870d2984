"""Reading a trail for people: following through rotation, unusual records, and the output of the commands."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import timedelta

import pytest
from click.testing import CliRunner

import mcpcore.audit
from mcpcore.audit import AuditTrail, reading as reading_module, stats as stats_module
from mcpcore.audit.diagnosis import MAX_PROBLEMS
from mcpcore.audit.files import rotated_files
from mcpcore.audit.reading import Query, follow, read, what_failed
from mcpcore.audit.stats import chart, collect, render, spark
from mcpcore.cli.audit import group
from tests.audit.conftest import START, stamp, written


def run(*arguments: object, status: int = 0):
    result = CliRunner().invoke(group, [str(argument) for argument in arguments])
    assert result.exit_code == status, result.output
    return result


def numbers(records) -> list[str]:
    return [record["correlationId"] for record in records]


class Steps:
    """Runs a step each time no new record is there; following ends after the last step."""

    def __init__(self, *steps):
        self._steps = list(steps)

    def __call__(self) -> bool:
        if not self._steps:
            return False
        self._steps.pop(0)()
        return True


def test_following_begins_at_the_end_and_goes_through_every_rotation(path, failure):
    """Old records are not printed, and matching new ones are printed once, across any number of files."""
    with AuditTrail.open(path, sinks=(), max_bytes=1_500) as trail:
        trail.record(failure(1))

        def some() -> None:
            for number in range(2, 12):
                trail.record(failure(number, tool="fetch" if number % 2 else "save"))

        def more() -> None:
            trail.record(failure(12, tool="fetch"))
            trail.record(failure(13, tool="save"))

        seen = numbers(follow(path, Query(tools=frozenset({"fetch"})), idle=Steps(some, more)))
    assert len(rotated_files(path)) > 1
    assert [f"{n:016x}" for n in (3, 5, 7, 9, 11, 12)] == seen


def test_following_waits_for_a_missing_trail(path):
    """The first record is printed, without an earlier error."""

    def begin() -> None:
        written(path, 7)

    assert [f"{7:016x}"] == numbers(follow(path, Query(), idle=Steps(lambda: None, begin)))


def test_following_continues_after_a_file_is_cut_or_removed(path):
    """A shorter file is read from its end, and a missing file is waited for."""

    def write(number: int) -> None:
        written(path, number)

    for number in range(1, 4):
        write(number)
    seen = numbers(
        record
        for record in follow(
            path,
            Query(),
            idle=Steps(
                lambda: path.write_bytes(path.read_bytes().splitlines(keepends=True)[0]),
                lambda: write(4),
                path.unlink,
                lambda: None,
                lambda: write(5),
            ),
        )
        if "correlationId" in record
    )
    assert [f"{4:016x}", f"{5:016x}"] == seen


def test_two_rotations_between_reads_lose_nothing(path, failure):
    """A slow reader finds the full files that appeared in the meantime."""
    with AuditTrail.open(path, sinks=(), max_bytes=1_200) as trail:
        trail.record(failure(1))

        def burst() -> None:
            for number in range(2, 40):
                trail.record(failure(number))

        seen = numbers(follow(path, Query(), idle=Steps(burst)))
    assert len(rotated_files(path)) > 5
    assert [f"{n:016x}" for n in range(2, 40)] == seen


def test_a_rotation_during_a_read_loses_nothing(path, failure, monkeypatch):
    """Files become full or are deleted just after the reader has listed them."""
    with AuditTrail.open(path, sinks=(), max_bytes=1_200) as trail:
        numbers_to_come = iter(range(1, 1_000))

        def burst() -> None:
            for _ in range(20):
                trail.record(failure(next(numbers_to_come)))

        real = reading_module._missed
        bursts = [burst, burst, burst]

        def then_more(*args):
            yield from real(*args)
            if bursts:
                bursts.pop()()

        burst()
        monkeypatch.setattr(reading_module, "_missed", then_more)
        seen = numbers(follow(path, Query(), idle=Steps(burst)))
        assert not bursts
        assert [f"{n:016x}" for n in range(21, 101)] == seen

        def listed_and_deleted(where):
            files = rotated_files(where)
            if len(files) > 1:
                files[-1].unlink()
            return files

        monkeypatch.setattr(reading_module, "rotated_files", listed_and_deleted)
        monkeypatch.setattr(reading_module, "_missed", real)
        there = numbers(follow(path, Query(), idle=Steps(burst)))
    assert f"{120:016x}" == there[-1]


def test_resources_and_prompts_are_labelled():
    """A record says which of the three kinds failed, or has a dash."""
    assert "fetch" == what_failed({"tool": "fetch"})
    assert "resource file:///a" == what_failed({"tool": None, "resource": "file:///a"})
    assert "prompt greet" == what_failed({"prompt": "greet"})
    assert "-" == what_failed({"tool": 7})


def test_a_record_without_a_time_matches_no_time_filter(path, failure):
    """It is shown only without a time filter."""
    with AuditTrail.open(path, sinks=()) as trail:
        trail.record(failure(1, timestamp="soon"))
        trail.record(failure(2))
    assert 2 == len(list(read(path)))
    assert [f"{2:016x}"] == numbers(read(path, Query(since=START)))
    assert [] == numbers(read(path, Query(until=START)))


def test_a_crash_is_shown_with_its_causes_and_bound_fields(path, failure):
    """The exception, its causes, the broken contract and the call's fields have separate lines."""
    causes = [{"type": "OSError", "message": "no route"}, "and 3 more"]
    with AuditTrail.open(path, sinks=()) as trail:
        trail.record(
            failure(
                1,
                message="",
                exception={"type": "KeyError", "message": "'a'", "causes": causes},
                broken_contract="raised as TIMEOUT",
                injected=True,
                context={"role": "admin"},
                arguments={"pmids": ["1"]},
            )
        )
        trail.record(failure(2, message=None, exception={"type": "Plain", "causes": "none"}))
    lines = run("show", path).stdout.splitlines()
    assert [
        "    KeyError: 'a'",
        "      because of OSError: no route",
        "      because of and 3 more",
        "    broken contract: raised as TIMEOUT",
        "    injected: a test asked for this failure, and no handler raised it",
        '    context {"role": "admin"}',
        '    arguments {"pmids": ["1"]}',
    ] == lines[1:8]
    assert ["    Plain: "] == lines[9:]


def test_lost_records_are_reported_next_to_the_counts(tmp_path, small_gap):
    """Failures that could not be written are not in the chart, but are mentioned."""
    path = small_gap
    out = run("stats", path).stdout
    assert out.startswith("2 failures\n2 more could not be written when they happened, and are not counted\n")
    assert 2 == json.loads(run("stats", path, "--json").stdout)["lost"]


@pytest.fixture
def small_gap(tmp_path, failure):
    """A trail whose folder was missing for two failures."""
    folder = tmp_path / "logs"
    folder.mkdir()
    with AuditTrail.open(folder / "audit.jsonl", sinks=()) as trail:
        trail.record(failure(1))
        folder.rename(tmp_path / "away")
        trail.record(failure(2))
        trail.record(failure(3))
        (tmp_path / "away").rename(folder)
        trail.record(failure(4))
    return folder / "audit.jsonl"


def test_the_trails_own_notes_are_left_out_with_a_narrower_filter(small_gap):
    """A note has a time, but no tool, reason, code or id."""
    assert "trail: lost records=2" in run("show", small_gap).stdout
    assert "trail: lost" in run("show", small_gap, "--since", "2020-01-01").stdout
    for narrower in (("--id", "0"), ("--tool", "None"), ("--reason", "None")):
        assert "trail:" not in run("show", small_gap, *narrower).stdout


def test_invalid_lines_are_skipped(path):
    """Reading continues after invalid lines and waits for an unfinished last line."""
    written(path, 1)
    whole = path.read_bytes()
    path.write_bytes(b"junk\n[7]\n" + b"[" * 100_000 + b"\n" + b"x" * (2 << 20) + b"\n" + whole + whole[:-1])
    assert [f"{1:016x}"] == numbers(read(path))


def test_failures_without_a_time_have_a_row_but_no_bars(tmp_path):
    """They are counted in the terminal and on the page, but not drawn over time."""
    records = [{"tool": "late", "name": "TIMEOUT"}, {"tool": "now", "name": "TIMEOUT", "timestamp": stamp(START)}]
    counted = collect(records)
    late, now = (next(group for group in counted.groups if group.tool == name) for name in ("late", "now"))
    assert (" ", "█") == (spark(counted.series(late)), spark(counted.series(now)))
    assert render(counted, title="t").count("<rect") == 2  # the bar of the chart, and the only row with a trend
    assert None is collect([]).slot_start(0)
    assert "The records say no time." in render(collect(records[:1]), title="t")


def test_a_wide_chart_labels_both_ends_on_one_line():
    """The first time is on the left and the last on the right; a narrow chart prints both on the left."""
    records = [{"tool": "x", "name": "n", "timestamp": stamp(START + timedelta(hours=hour))} for hour in range(48)]
    assert f"  {'2026-11-20 08:00':<16}{'2026-11-22 07:00':>32}" in chart(collect(records))[-2]
    assert chart(collect(records[:2]))[-2].endswith("2026-11-20 08:00 to 2026-11-20 09:00")


def test_any_number_of_centuries_fits_the_chart(tmp_path):
    """A record from the year 1 is counted in the first slot, and none is left out at the end."""
    records = [{"tool": "x", "name": "n", "timestamp": f"{year:04d}-06-01T00:00:00Z"} for year in (1, 2026, 9998)]
    counted = collect(records)
    assert 48 == counted.slots
    assert 3 == sum(counted.series())


def test_a_page_with_many_groups_merges_the_rare_ones():
    """The most common groups have colours, the others share a layer, and empty slots have no bar."""
    records = [
        {"tool": f"tool_{n}", "name": "TIMEOUT", "timestamp": stamp(START + timedelta(hours=3 * (n % 2)))}
        for n in range(30)
    ]
    page = render(collect(records), title="t")
    assert "all others" in page
    assert 30 == page.count("<tr><td>")


def test_problems_beyond_the_limit_are_counted(path):
    """The report ends with their number."""
    written(path, *range(MAX_PROBLEMS + 50))
    path.write_bytes(path.read_bytes().replace(b"None of", b"Some of"))
    out = run("verify", path, status=1).stdout
    assert MAX_PROBLEMS == out.count(": changed record")
    assert "... and 50 more\n" in out
    assert f"{MAX_PROBLEMS + 50} problems\n" in out


def test_file_system_errors_are_reported_in_one_line(tmp_path, path):
    """For a missing key, an unwritable page or an overlong head, the exit code is 2 and the line names it."""
    written(path, 1)
    missing = tmp_path / "no" / "such"
    unread = run("verify", path, "--key-file", missing, status=2).stderr
    assert f"Error: {missing}: No such file or directory\n" == unread
    unwritten = run("stats", path, "--html", missing, status=2).stderr
    assert unwritten.startswith(f"Error: {missing} cannot be written: No such file or directory.\nNext: ")
    assert "not a head: 'xxx" in run("verify", path, "--head", "x" * 5_000, status=2).stderr
    assert "the head file does not exist" in run("verify", path, "--head", "x/" * 3_000, status=2).stderr
    assert "there is no trail" in run("show", missing, status=2).stderr


@pytest.mark.skipif(os.name != "posix", reason="a pipe of POSIX")
def test_a_closed_pipe_ends_the_command_quietly(path):
    """`mcpcore audit show | head -1` reports no error."""
    written(path, *range(3000))
    command = [sys.executable, "-m", "mcpcore", "audit", "show", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline()
        process.stdout.close()
        assert b"" == process.stderr.read()
    assert 1 == process.returncode


def test_the_package_lists_its_public_names():
    """`dir()` lists every public name before it is loaded, and an unknown name is an error."""
    assert set(mcpcore.audit.__all__) <= set(dir(mcpcore.audit))
    with pytest.raises(AttributeError, match="no attribute 'Trail'"):
        _ = mcpcore.audit.Trail


def test_groups_beyond_the_limit_are_counted_as_one(monkeypatch):
    """A server may have any number of resources."""
    monkeypatch.setattr(stats_module, "MAX_GROUPS", 3)
    records = [{"resource": f"notes://{number}", "name": "N", "timestamp": stamp(START)} for number in range(10)]
    counted = collect(records)
    assert counted.total == sum(group.count for group in counted.groups) == 10
    assert (counted.groups[0].tool, counted.groups[0].count) == ("(all others)", 7)
    assert len(counted.groups) == 4


@pytest.fixture
def full_files(path):
    """A trail of several files, and the numbers of its records."""
    written(path, *range(12), max_bytes=1200)
    assert len(rotated_files(path)) > 2
    return path


def test_files_deleted_while_they_are_listed_are_skipped(full_files, monkeypatch):
    """If a server prunes files during the read, the remaining ones are read."""
    gone = rotated_files(full_files)[0]
    listed = rotated_files(full_files)
    gone.unlink()
    monkeypatch.setattr(reading_module, "rotated_files", lambda path: listed)
    assert numbers(read(full_files)) == [f"{n:016x}" for n in range(12)][-len(numbers(read(full_files))) :]
    assert numbers(reading_module.last(full_files, Query(), 100)) == numbers(read(full_files))
    there = {str(path) for path in (full_files, *listed[1:])}
    assert there == {name for name, _, _ in reading_module.lines(full_files)}


def test_a_file_renamed_during_the_read_is_read_once(full_files, monkeypatch):
    """It was opened under one name and is listed under another, and later files are not read."""
    there = numbers(read(full_files))
    real = reading_module._opened

    def then_rotated(path):
        opened = real(path)
        if path == full_files:
            monkeypatch.setattr(reading_module, "_opened", real)
            written(full_files, 99, max_bytes=1)
        return opened

    for read_all in (lambda: read(full_files), lambda: reading_module.last(full_files, Query(), 100)):
        before = numbers(read(full_files)) if there is None else there
        monkeypatch.setattr(reading_module, "_opened", then_rotated)
        assert numbers(read_all()) == before
        there = numbers(read(full_files))


def test_a_trail_without_a_newest_file_is_readable(full_files, monkeypatch):
    """A server may have died between renaming one file and creating the next."""
    whole = numbers(read(full_files))
    newest = full_files.read_bytes()
    full_files.unlink()
    older = numbers(read(full_files))
    assert older == whole[: len(older)] != whole
    assert numbers(reading_module.last(full_files, Query(), 2)) == older[-2:]
    real = reading_module._opened

    def too_early(path):
        if path != full_files or path.exists():
            return real(path)
        path.write_bytes(newest)
        return None

    monkeypatch.setattr(reading_module, "_opened", too_early)
    assert numbers(read(full_files)) == whole
