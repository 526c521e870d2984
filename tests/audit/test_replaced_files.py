"""Trail files that are moved, replaced or deleted while a server writes to them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import time

import pytest

from mcpcore.audit import AuditTrail, files, verify

pytestmark = pytest.mark.skipif(os.name != "posix", reason="files that are open cannot be moved on Windows")


@pytest.fixture(params=["a new folder", "a folder in which no name changed for long"])
def trail(tmp_path, request, monkeypatch):
    """An open trail in a separate folder."""
    folder = tmp_path / "logs"
    folder.mkdir()
    if request.param != "a new folder":
        monkeypatch.setattr(files, "time_ns", lambda: time.time_ns() + 10**10)
    with AuditTrail.open(folder / "audit.jsonl", sinks=()) as opened:
        time.sleep(0.02)  # the tick of a file system, so that the next change has another time
        yield opened


@pytest.mark.parametrize("name", ["audit.jsonl.lock", "audit.jsonl.head"])
def test_the_next_record_after_a_file_beside_it_was_deleted_makes_a_new_one(trail, failure, name):
    """A writer that opens the lock file later waits for this one again, and the trail verifies."""
    trail.record(failure(1))
    trail.path.with_name(name).unlink()
    trail.record(failure(3))
    assert trail.path.with_name(name).exists()
    report = verify(trail.path)
    assert report.ok, report.problems


def test_the_next_record_after_a_move_begins_a_new_file(trail, failure):
    """The next record is written immediately, and the moved records are recorded as missing."""
    trail.record(failure(1))
    trail.path.rename(trail.path.with_name("elsewhere"))
    trail.record(failure(2))
    events = [json.loads(line) for line in trail.path.read_text().splitlines()]
    assert [event.get("event", event.get("correlationId")) for event in events] == ["missing", f"{2:016x}"]


def replaced(path):
    copy = path.parents[1] / "copy"
    copy.write_bytes(path.read_bytes())
    copy.replace(path)


@pytest.mark.parametrize("change", [replaced, lambda path: path.chmod(0o640)], ids=["replaced", "permissions"])
def test_the_records_after_a_change_of_the_file_are_in_the_new_one(trail, failure, change):
    """Editors and restored backups replace files like this; a change of permissions alone has no effect."""
    trail.record(failure(1))
    change(trail.path)
    trail.record(failure(2))
    assert verify(trail.path).records == 2
    trail.record(failure(3))
    report = verify(trail.path)
    assert (report.ok, report.records) == (True, 3)


def test_a_changed_head_is_overwritten(trail, failure):
    """The next record overwrites it with the correct state."""
    trail.record(failure(1))
    head = trail.path.with_name("audit.jsonl.head")
    older = head.read_bytes()
    trail.record(failure(2))
    for changed in (older, b"", b"garbage"):
        head.write_bytes(changed)
        trail.record(failure(3))
        report = verify(trail.path)
        assert report.ok, report.problems
        assert report.head is not None
        assert report.head.seq == report.last


@pytest.mark.parametrize("what", ["moved", "deleted"])
def test_a_missing_folder_is_noticed_immediately(trail, failure, tmp_path, what):
    """No record is written to a file without a path."""
    trail.record(failure(1))
    if what == "moved":
        trail.path.parent.rename(tmp_path / "elsewhere")
    else:
        for file in trail.path.parent.iterdir():
            file.unlink()
        trail.path.parent.rmdir()
    trail.record(failure(2))
    assert trail.lost == 1
    trail.path.parent.mkdir()
    trail.record(failure(3))
    assert f"{3:016x}" in trail.path.read_text()


def test_a_changed_link_to_a_folder_is_followed_immediately(tmp_path, failure):
    """Unlike the file itself, a folder on the path may be a link."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    link = tmp_path / "logs"
    link.symlink_to(tmp_path / "one")
    with AuditTrail.open(link / "audit.jsonl", sinks=()) as trail:
        trail.record(failure(1))
        link.unlink()
        link.symlink_to(tmp_path / "two")
        trail.record(failure(2))
    assert f"{1:016x}" in (tmp_path / "one" / "audit.jsonl").read_text()
    assert f"{2:016x}" in (tmp_path / "two" / "audit.jsonl").read_text()


def open_files(folder, body):
    """Count the open files of a new process before and after it ran `body` 20 times."""
    program = (
        "import gc, os, sys\n"
        "from pathlib import Path\n"
        "from mcpcore.audit import AuditTrail\n"
        f"folder = Path({str(folder)!r})\n"
        "kept = []\n"
        "def use(number):\n"
        f"{textwrap.indent(textwrap.dedent(body).strip(), '    ')}\n"
        "use(0)\n"  # files that are loaded or opened only once
        "gc.collect()\n"
        "before = len(os.listdir('/dev/fd'))\n"
        "for number in range(1, 21):\n"
        "    use(number)\n"
        "gc.collect()\n"
        "print(before, len(os.listdir('/dev/fd')))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    before, after = done.stdout.split()
    return int(before), int(after)


@pytest.mark.parametrize(
    "body",
    [
        """
        with AuditTrail.open(folder / f"{number}.jsonl", sinks=()) as trail:
            trail.record({"tool": "f"})
        kept.append(trail)
        assert trail.lost == 0
        """,
        """
        trail = AuditTrail.open(folder / f"{number}.jsonl", sinks=())
        trail.record({"tool": "f"})
        assert trail.lost == 0
        """,
    ],
    ids=["closed", "garbage-collected"],
)
def test_a_trail_releases_its_files(tmp_path, body):
    """A process that opens many trails in a row keeps none open, also of trails that were never closed."""
    before, after = open_files(tmp_path, body)
    assert after == before


def test_an_interpreter_that_exits_with_an_open_trail_prints_nothing(tmp_path):
    """Some of its modules may already be unloaded."""
    program = (
        "import sys\n"
        "from mcpcore.audit import AuditTrail, trail\n"
        f"kept = AuditTrail.open({str(tmp_path / 'audit.jsonl')!r}, sinks=())\n"
        "kept.record({'tool': 'f'})\n"
        "trail.os = trail.contextlib = None\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert verify(tmp_path / "audit.jsonl").records == 1
