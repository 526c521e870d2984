"""`mcpcore audit`, as used at a terminal."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner

from mcpcore.audit import AuditTrail
from mcpcore.audit.chain import AuditError
from mcpcore.audit.files import head_path
from mcpcore.audit.reading import Query, follow, last, parse_time
from mcpcore.audit.stats import chart, collect, spark
from mcpcore.cli.audit import group
from tests.audit.conftest import START, WRITER, stamp

HOSTILE = "\x1b]0;owned\x07\u202egnp<script>alert(1)</script>"
KINDS = (
    ("fetch", "no_match", "NOT_FOUND"),
    ("fetch", "queue_full", "RATE_LIMITED"),
    ("save", None, "INTERNAL_ERROR"),
)


@pytest.fixture
def trail(path, failure):
    """A trail of thirty failures over thirty hours, in several files."""
    with AuditTrail.open(path, sinks=(), max_bytes=4_000) as trail:
        for number in range(30):
            tool, reason, name = KINDS[number % 3]
            when = stamp(START + timedelta(hours=number))
            trail.record(failure(number, tool=tool, reason=reason, name=name, timestamp=when))
    return path


def run(*arguments: object, status: int = 0, **options):
    result = CliRunner().invoke(group, [str(argument) for argument in arguments], **options)
    assert result.exit_code == status, result.output
    return result


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
@pytest.mark.parametrize("command", ["show", "tail", "stats", "verify"])
def test_a_full_disk_behind_the_output_is_not_blamed_on_the_trail(trail, command):
    """The trail is sound, and the message says what is not."""
    words = [sys.executable, "-m", "mcpcore", "audit", command, str(trail)]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    message = "Error: the standard output cannot be written: No space left on device.\n"
    assert (done.returncode, done.stderr) == (2, message)


class TestVerify:
    def test_an_intact_trail_exits_0(self, trail):
        """One line says so and includes the head to keep."""
        out = run("verify", trail).stdout
        assert re.search(r"audit\.jsonl: 30 records in \d files: as written, head 30:[0-9a-f]{64}\n", out)

    def test_a_change_is_located_and_exits_1(self, trail):
        """The output has the file, the line, the number, the client's id and the problem."""
        text = trail.read_text()
        trail.write_text(text.replace("None of 29", "None of 92"))
        out = run("verify", trail, status=1).stdout
        line = text.splitlines().index(next(line for line in text.splitlines() if "None of 29" in line)) + 1
        assert f"{trail}:{line}: changed record 30 (id {29:016x}): its content does not match its hash" in out
        assert "1 problem\n" in out
        report = json.loads(run("verify", trail, "--json", status=1).stdout)
        assert report["ok"] is False
        assert report["problems"] == [
            {"kind": "changed", "detail": "its content does not match its hash", "file": str(trail), "line": line,
             "seq": 30, "correlationId": f"{29:016x}"}
        ]  # fmt: skip

    def test_an_uncheckable_trail_exits_2(self, tmp_path, trail):
        """Without a trail or a key, or with an invalid head, the result is neither good nor bad."""
        assert "there is no trail at" in run("verify", tmp_path / "none", status=2).stderr
        assert "not a head" in run("verify", trail, "--head", "xyz", status=2).stderr
        assert "the head file does not exist" in run("verify", trail, "--head", "./nowhere.head", status=2).stderr
        signed = tmp_path / "signed"
        AuditTrail.open(signed, key="k" * 32, sinks=()).record({"tool": "x"})
        assert "set MCPCORE_AUDIT_KEY" in run("verify", signed, status=2).stderr

    def test_the_key_comes_from_the_environment_or_a_file(self, tmp_path):
        """Every user of the machine could read a key on the command line, so there is no such option."""
        signed, key = tmp_path / "signed", tmp_path / "key"
        AuditTrail.open(signed, key="k" * 32, sinks=()).record({"tool": "x"})
        key.write_text("k" * 32 + "\n")
        assert "signed: as written" in run("verify", signed, env={"MCPCORE_AUDIT_KEY": "k" * 32}).stdout
        assert "signed: as written" in run("verify", signed, "--key-file", key).stdout
        key.write_text("another key\n")
        assert "not with the key given" in run("verify", signed, "--key-file", key, status=1).stdout

    def test_a_printed_head_detects_removed_records(self, trail, tmp_path):
        """A head kept elsewhere is compared with the trail later, as text, as a file or from a pipe."""
        head = run("verify", trail, "--print-head").stdout.strip()
        assert re.fullmatch(r"30:[0-9a-f]{64}", head)
        kept = tmp_path / "kept.head"
        kept.write_text(head + "\n")
        copy = tmp_path / "copy.head"
        copy.write_bytes(head_path(trail).read_bytes())
        for known_head in (head, head.partition(":")[2], kept, copy):
            run("verify", trail, "--head", known_head)
        run("verify", trail, "--head", "-", input=head)
        lines = trail.read_text().splitlines(keepends=True)
        assert len(lines) > 2
        trail.write_text("".join(lines[:-2]))
        head_path(trail).unlink()
        run("verify", trail)
        for known_head in (head, kept, copy):
            assert (
                "cut record 29: records 29 to 30 are missing"
                in run("verify", trail, "--head", known_head, status=1).stdout
            )
        assert "cut" in run("verify", trail, "--head", head.partition(":")[2], status=1).stdout
        assert run("verify", trail, "--print-head", "--head", head, status=1).stdout.count("30:") == 0

    def test_the_path_may_come_from_the_environment(self, trail):
        """The server's path works the same way."""
        assert "as written" in run("verify", env={"MCPCORE_AUDIT": str(trail)}).stdout


class TestShow:
    def test_records_are_shown_with_the_important_fields(self, trail):
        """The output has the time, the tool, the code and reason, the id and the message."""
        out = run("show", trail).stdout
        assert out.count("None of ") == 30
        assert (
            f"2026-11-20T08:00:00.000Z  #1  fetch  NOT_FOUND  no_match  id {0:016x}\n    None of 0 PMIDs returned data."
        ) in out

    def test_a_filter_that_matches_nothing_says_so(self, trail):
        """A misspelt reason is not taken for a server without failures."""
        shown = run("show", trail, "--reason", "no_mtach")
        assert ("", True) == (shown.stdout, shown.stderr.startswith("No record matches; `mcpcore audit stats`"))

    def test_the_effects_of_a_failed_call_are_shown(self, path, failure):
        """An operator reads whether anything was changed."""
        AuditTrail.open(path, sinks=()).record(failure(1, effects="partial"))
        assert "\n    effects: partial\n" in run("show", path).stdout

    @pytest.mark.parametrize(
        ("filters", "count"),
        [
            (["--tool", "fetch"], 20),
            (["--tool", "fetch", "--tool", "save"], 30),
            (["--reason", "no_match"], 10),
            (["--code", "RATE_LIMITED"], 10),
            (["--code", "internal_error"], 10),
            (["--code", "-32001"], 30),
            (["--id", f"{7:016x}"], 1),
            (["--since", "2026-11-21"], 14),
            (["--until", "2026-11-20T10:00Z"], 2),
            (["--since", "2026-11-20T10:00:00+02:00", "--until", "2026-11-20T12:00"], 4),
            (["--tool", "nothing"], 0),
        ],
    )
    def test_only_matching_records_are_shown(self, trail, filters, count):
        """Several filters narrow the selection, and --json prints the records themselves."""
        lines = run("show", trail, "--json", *filters).stdout.splitlines()
        assert len([json.loads(line) for line in lines]) == count

    def test_a_record_cannot_control_the_terminal(self, path, failure):
        """Control and bidi characters are escaped."""
        AuditTrail.open(path, sinks=()).record(
            failure(
                1, message=HOSTILE, tool=HOSTILE, context={"role": HOSTILE}, exception={"type": HOSTILE, "causes": []}
            )
        )
        for command in ("show", "tail", "stats"):
            out = run(command, path).stdout
            assert "\x1b" not in out
            assert "\u202e" not in out
            assert "\\u001b]0;owned" in out

    def test_the_trails_own_notes_are_shown_among_the_records(self, path, failure):
        """A gap appears in the list unless a filter excludes it."""
        with AuditTrail.open(path, sinks=()) as trail:
            trail.record(failure(1))
            trail._writer._unnoted = 3
            trail.record(failure(2))
        assert "trail: lost records=3" in run("show", path).stdout
        assert "trail:" not in run("show", path, "--tool", "fetch_articles").stdout

    def test_an_invalid_time_is_an_error_with_valid_examples(self, trail):
        """The error helps the next try to succeed."""
        assert (
            "give 2026-11-21, 2026-11-21T08:15Z, or 30m, 2h or 7d"
            in run("show", trail, "--since", "soon", status=2).stderr
        )


class TestTail:
    def test_the_last_records_are_printed(self, trail):
        """The requested number is printed, across files."""
        idents = [
            json.loads(line)["correlationId"] for line in run("tail", trail, "-n", 12, "--json").stdout.splitlines()
        ]
        assert idents == [f"{n:016x}" for n in range(18, 30)]

    def test_following_may_start_before_the_trail_exists(self, path):
        """A trail has to exist only for printing old records; its folder must be one."""
        assert list(follow(path, Query(), count=10, idle=lambda: False)) == []
        with pytest.raises(AuditError):
            last(path, Query(), 10)
        assert "Not a directory" in run("tail", "-f", WRITER / "audit.jsonl", status=2).stderr

    @pytest.mark.skipif(sys.platform == "win32", reason="interrupts a process")
    @pytest.mark.parametrize("size", [60_000, 64_000_000])
    def test_no_record_is_lost_between_the_first_lines_and_following(self, path, size):
        """While another process writes, every record from the first line on is printed once, in order."""
        writer = subprocess.Popen(
            [sys.executable, WRITER, path, "10000000", "w", "quiet=1", f"max_bytes={size}"],
            stdout=subprocess.PIPE,
        )
        try:
            writer.stdout.readline()
            while not path.exists() or path.stat().st_size < 2_000:
                time.sleep(0.01)
            program = "from mcpcore.cli.audit import group; group()"
            for lines in (5, 40):
                process = subprocess.Popen(
                    [sys.executable, "-c", program, "tail", path, "-f", "--json", "-n", str(lines)],
                    stdout=subprocess.PIPE,
                    text=True,
                )
                watchdog = threading.Timer(60, process.kill)
                watchdog.start()
                try:
                    numbers = [json.loads(process.stdout.readline())["seq"] for _ in range(2_000)]
                finally:
                    watchdog.cancel()
                    with process:
                        process.kill()
                assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        finally:
            with writer:
                writer.kill()


class TestStats:
    def test_failures_are_counted_by_tool_and_reason(self, trail):
        """The output has a table, a chart of all failures, and a row of bars for each group."""
        out = run("stats", trail).stdout
        assert "30 failures" in out
        assert re.search(r"^save +- +INTERNAL_ERROR +10 +33\.3 % +2026-11-21 13:00:00 ", out, re.MULTILINE)
        assert "each column is one hour" in out
        assert "█" in out
        counted = json.loads(run("stats", trail, "--json").stdout)
        assert counted["total"] == 30
        assert sum(counted["series"]) == 30
        assert [entry["count"] for entry in counted["groups"]] == [10, 10, 10]
        assert json.loads(run("stats", trail, "--json", "--tool", "save").stdout)["total"] == 10

    def test_a_terminal_without_blocks_gets_plain_bars(self, trail):
        """Characters that the terminal's encoding lacks are not printed."""
        done = subprocess.run(
            [sys.executable, "-c", "from mcpcore.cli.audit import group; group()", "stats", str(trail)],
            capture_output=True, check=True, env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
        )  # fmt: skip
        assert done.stdout.isascii()
        assert b"@" in done.stdout

    def test_the_page_is_self_contained(self, trail, tmp_path, failure):
        """It is well-formed in both colour schemes, without scripts, URLs or markup from a record."""
        AuditTrail.open(trail, sinks=()).record(failure(1, tool=HOSTILE, reason="<b>", timestamp=stamp(START)))
        page = tmp_path / "page.html"
        run("stats", trail, "--html", page)
        text = page.read_text(encoding="utf-8")

        class Check(HTMLParser):
            opened: list[str]

            def __init__(self) -> None:
                super().__init__()
                self.opened = []

            def handle_starttag(self, tag, attrs):
                assert tag not in {"script", "link", "img", "iframe", "b"}
                assert not {"src", "href", "onload"} & {name for name, _ in attrs}
                if tag != "meta":
                    self.opened.append(tag)

            def handle_startendtag(self, tag, attrs):
                assert tag in {"rect", "line", "circle"}

            def handle_endtag(self, tag):
                assert self.opened.pop() == tag

        check = Check()
        check.feed(text)
        check.close()
        assert check.opened == []
        assert "prefers-color-scheme: dark" in text
        assert "http" not in text.replace("http-equiv", "")
        assert "&lt;script&gt;" in text
        assert "31 failures" in text
        assert "Each bar is one hour." in text

    def test_no_failures_are_not_an_error(self, tmp_path, path):
        """A trail that was opened but never written to is counted, too."""
        AuditTrail.open(path, sinks=()).close()
        assert run("stats", path).stdout == "No failure is recorded.\n"
        run("stats", path, "--html", tmp_path / "page.html")
        assert "No failure is recorded." in (tmp_path / "page.html").read_text()

    @pytest.mark.parametrize("command", ["stats", "show"])
    def test_another_file_is_an_error(self, command, path):
        """A file without a single record is no trail in which nothing failed."""
        path.write_text('{"a": 1}\nhello\n')
        assert "is no audit trail: none of its lines is a record" in run(command, path, status=2).stderr

    @pytest.mark.parametrize("span", [0, 1, 59, 3600, 86400 * 3, 86400 * 400, 86400 * 365 * 100])
    def test_any_span_fits_the_chart(self, span):
        """Any span, from one moment to a hundred years, has at most 48 slots that hold every failure."""
        records = [
            {"timestamp": stamp(START - timedelta(seconds=s)), "tool": "x", "name": "TIMEOUT"} for s in (0, span)
        ]
        counted = collect(records)
        assert 1 <= counted.slots <= 48
        assert sum(counted.series()) == 2
        assert len(chart(counted)) >= 9

    def test_records_without_a_time_are_counted(self):
        """They are missing from the chart and have one entry in the table."""
        counted = collect([{"tool": "x", "name": "TIMEOUT"}, {"tool": "x", "name": "TIMEOUT", "timestamp": "?"}])
        assert counted.total == 2
        assert chart(counted) == []
        assert counted.to_json()["since"] is None

    def test_a_small_bar_is_visible(self):
        """The smallest number is visible next to the largest."""
        assert spark([0, 1, 1000]) == " ▁█"


def test_times_can_be_relative():
    """Units range from seconds to weeks, and times without a zone are UTC."""
    now = datetime(2026, 11, 21, 12, tzinfo=UTC)
    assert parse_time("90s", now=now) == now - timedelta(seconds=90)
    assert parse_time("1.5h ago", now=now) == now - timedelta(minutes=90)
    assert parse_time("2w", now=now) == now - timedelta(days=14)
    assert parse_time("999999999w", now=now).year == 1
    assert parse_time("2026-11-21", now=now) == datetime(2026, 11, 21, tzinfo=UTC)


@pytest.mark.parametrize("command", ["show", "tail", "stats"])
def test_reading_a_missing_trail_exits_2(command, tmp_path):
    """A mistyped path is an error."""
    assert "there is no trail" in run(command, tmp_path / "none", status=2).stderr
