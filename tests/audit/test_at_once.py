"""The short way of a record: searched as one text of JSON, and appended where nothing happened to the files."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import textwrap
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpcore.audit import AuditTrail, verify
from mcpcore.audit import watch as watch_module
from mcpcore.audit import writer as writer_module
from mcpcore.audit.record import JsonRecord, encode
from mcpcore.audit.watch import watch
from mcpcore.redaction import REDACTED, SECRET_NAMES, Clean, Searched, may_hold_secret, redact

pytestmark = pytest.mark.skipif(os.name != "posix", reason="files that are open cannot be moved on Windows")

KEYS = st.one_of(
    st.sampled_from([*SECRET_NAMES, *(name.upper() for name in SECRET_NAMES), "name", "value", "header", "shopping"]),
    st.builds(
        "{}{}".format,
        st.sampled_from(["pin", "x-otp", "Auth", "cvv", "a"]),
        st.sampled_from(["", "\n", '"', "é", " ", "!"]),
    ),
    st.text(max_size=6),
)
TEXTS = st.one_of(
    st.sampled_from(
        [
            "password=hunter2",
            "postgres://app:hunter2@db/main",
            "Bearer abcdef123456",
            "pin",
            "Authorization",
            "ASIAABCDEFGHIJKLMNOP",
            "pa\u017f\u017fword=hunter2",
            "to\u212aen=abc",
            "a task-list of shopping",
        ]
    ),
    st.text(max_size=12),
)
VALUES = st.recursive(
    TEXTS | st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)


def record_of(data, message="m"):
    return {
        "timestamp": "t",
        "surface": "tool",
        "code": 1,
        "server": "s",
        "tool": "f",
        "message": message,
        "data": data,
    }


@settings(max_examples=400, deadline=None)
@given(data=st.dictionaries(KEYS, VALUES, max_size=4), message=TEXTS)
def test_what_is_searched_as_json_is_what_is_searched_piece_by_piece(data, message):
    """A record that the search passes holds nothing that the careful way would hide."""
    record = record_of(data, message)
    assert encode(JsonRecord(record)) == encode(record)
    with contextlib.suppress(UnicodeEncodeError):
        line = json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode()
        assert may_hold_secret(line) or redact(record) == record


@pytest.mark.parametrize("name", SECRET_NAMES)
@pytest.mark.parametrize("dress", ["{}", "{}\n", " {}", "-{}-", "{}é", '"{}"', "{}\\"])
def test_every_secret_name_is_seen_in_json(name, dress):
    """As the key of a value, whatever stands around it."""
    key = dress.format(name.upper())
    assert may_hold_secret(json.dumps({key: "x"}, separators=(",", ":"), ensure_ascii=False).encode())
    clean, _ = encode(JsonRecord(record_of({key: "hunter2"})))
    assert clean["data"] == {key: REDACTED}


def test_a_long_key_is_seen_in_json():
    """A key too long to be read is taken for a secret's."""
    clean, line = encode(JsonRecord(record_of({"k" * 300: "hunter2", "pad": "p" * 500})))
    assert "hunter2" not in line
    assert clean["data"]["k" * 300] == REDACTED


def test_half_of_a_surrogate_pair_goes_the_careful_way():
    """JSON in UTF-8 has no word for it."""
    _, line = encode(JsonRecord(record_of({}, "\ud800")))
    assert json.loads(line)["message"] == "\ud800"


@pytest.fixture(params=["told by the system", "looked at"])
def trail(request, tmp_path, monkeypatch):
    """A trail with a record in it, on a system that tells of moved files and on one that does not."""
    if request.param == "looked at":
        monkeypatch.setattr(writer_module, "watch", lambda path: None)
    elif watch(os.fsencode(tmp_path)) is None:
        pytest.skip("the system does not tell of moved files")
    folder = tmp_path / "logs"
    folder.mkdir()
    with AuditTrail.open(folder / "audit.jsonl", sinks=()) as made:
        yield made


def test_the_next_record_after_a_move_begins_a_new_file(trail, failure):
    """At once: what was moved away is missing to the trail, and told of."""
    trail.record(failure(1))
    trail.path.rename(trail.path.with_name("elsewhere"))
    trail.record(failure(2))
    events = [json.loads(line) for line in trail.path.read_text().splitlines()]
    assert [event.get("event", event.get("correlationId")) for event in events] == ["missing", f"{2:016x}"]


def test_the_next_record_after_a_deletion_begins_a_new_file(trail, failure):
    """At once, too."""
    trail.record(failure(1))
    trail.path.unlink()
    trail.record(failure(2))
    assert f"{2:016x}" in trail.path.read_text()


def test_the_next_record_after_another_file_took_the_name_is_in_that(trail, failure, tmp_path):
    """As an editor saves, or a copy is put back."""
    trail.record(failure(1))
    copy = tmp_path / "copy"
    copy.write_bytes(trail.path.read_bytes())
    copy.replace(trail.path)
    trail.record(failure(2))
    report = verify(trail.path)
    assert (report.ok, report.records) == (True, 2)


def test_a_deleted_head_is_back_with_the_next_record(trail, failure):
    """And the records say from where on it vouches again."""
    trail.record(failure(1))
    head = trail.path.with_name("audit.jsonl.head")
    head.unlink()
    trail.record(failure(2))
    assert head.exists()
    report = verify(trail.path)
    assert report.ok
    assert report.head is not None
    assert report.head.seq == report.last


def test_a_moved_head_is_put_back(trail, failure):
    """One that lies elsewhere is not written on."""
    trail.record(failure(1))
    head = trail.path.with_name("audit.jsonl.head")
    trail._writer._look_at = 0.0
    kept = head.rename(head.with_name("kept"))
    before = kept.read_bytes()
    trail.record(failure(2))
    assert head.exists()
    assert kept.read_bytes() == before
    assert verify(trail.path).ok


def test_a_head_that_was_changed_in_its_place_is_overwritten(trail, failure):
    """By the next record, which knows better."""
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
def test_a_folder_that_goes_is_noticed_at_once(trail, failure, tmp_path, what):
    """No record is written to a file that nobody finds."""
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


def test_a_link_to_a_folder_that_leads_elsewhere_is_followed_at_once(tmp_path, failure):
    """A folder on the way may be a link, unlike the file itself."""
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


def test_a_change_of_permissions_alone_changes_nothing(trail, failure):
    """The system tells of that as well."""
    trail.record(failure(1))
    trail.path.chmod(0o640)
    trail.record(failure(2))
    trail.record(failure(3))
    report = verify(trail.path)
    assert (report.ok, report.records) == (True, 3)


def test_a_system_without_watches_costs_no_record(tmp_path, failure, monkeypatch):
    """Where it has none left, or refuses, the file is looked at instead."""

    class Refusing:
        def inotify_init1(self, flags):
            return -1

    monkeypatch.setattr(watch_module, "_libc", Refusing)
    with AuditTrail.open(tmp_path / "audit.jsonl", sinks=()) as trail:
        assert trail._writer._watch is None
        trail.record(failure(1))
    assert verify(tmp_path / "audit.jsonl").ok


def test_a_file_that_cannot_be_watched_leaves_nothing_open(tmp_path, monkeypatch):
    """As where the limit of watches is reached."""
    opened = []

    class Full:
        def inotify_init1(self, flags):
            opened.append(os.open(tmp_path, os.O_RDONLY))
            return opened[-1]

        def inotify_add_watch(self, *_):
            return -1

    monkeypatch.setattr(watch_module, "_libc", Full)
    assert watch(os.fsencode(tmp_path)) is None
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(opened[0])


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
        "use(0)\n"  # what is loaded or opened once
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


def test_a_trail_that_is_closed_lets_go_of_its_watch(tmp_path):
    """A process that opens many trails, one after the other, keeps none open."""
    before, after = open_files(
        tmp_path,
        """
        with AuditTrail.open(folder / f"{number}.jsonl", sinks=()) as trail:
            trail.record({"tool": "f"})
        kept.append(trail)
        assert trail.lost == 0
        """,
    )
    assert after == before


def test_a_trail_that_nobody_has_any_more_lets_go_of_its_files(tmp_path):
    """Also where it was never closed."""
    before, after = open_files(
        tmp_path,
        """
        trail = AuditTrail.open(folder / f"{number}.jsonl", sinks=())
        trail.record({"tool": "f"})
        assert trail.lost == 0
        """,
    )
    assert after == before


def test_limits_that_are_none_are_refused(tmp_path):
    """Before anything is opened."""
    with pytest.raises(ValueError, match="max_bytes"):
        AuditTrail(tmp_path / "a", max_bytes=0)


def test_an_interpreter_that_ends_with_a_trail_says_nothing(tmp_path):
    """Whatever of its modules is gone by then."""
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


def test_every_so_often_the_files_are_looked_at_though_nothing_was_told(tmp_path, failure):
    """Some file systems tell of nothing."""

    class Deaf:
        def happened(self, timeout):
            return []

        def forget(self):
            pass

        def close(self):
            pass

    path = tmp_path / "audit.jsonl"
    with AuditTrail.open(path, sinks=()) as trail:
        trail.record(failure(1))
        if trail._writer._watch is not None:
            trail._writer._watch.close()
        trail._writer._watch = Deaf()
        path.rename(tmp_path / "elsewhere")
        time.sleep(0.25)
        trail.record(failure(2))
    assert f"{2:016x}" in path.read_text()


def test_a_head_that_cannot_be_watched_has_both_looked_at(tmp_path, failure, monkeypatch):
    """To hear of one of the two alone would be no help."""
    if watch(os.fsencode(tmp_path)) is None:
        pytest.skip("the system does not tell of moved files")
    real = watch_module.Watch.add
    monkeypatch.setattr(watch_module.Watch, "add", lambda self, path: not path.endswith(b".head") and real(self, path))
    with AuditTrail.open(tmp_path / "audit.jsonl", sinks=(), max_bytes=1_000) as trail:
        assert trail._writer._watch is None
        for number in range(6):
            trail.record(failure(number))
        assert trail._writer._watch is None
    assert verify(tmp_path / "audit.jsonl").records == 6


@pytest.mark.parametrize("broken", ["platform", "library"])
def test_where_nothing_is_told_nothing_is_watched(tmp_path, monkeypatch, broken):
    """On another system, or without its library."""

    def missing():
        raise OSError("no such library")

    if broken == "platform":
        monkeypatch.setattr(watch_module.sys, "platform", "darwin")
    else:
        monkeypatch.setattr(watch_module, "_libc", missing)
    assert watch(os.fsencode(tmp_path)) is None


def test_what_was_searched_already_is_written_like_any_other_text():
    """Also where something else in the record holds a secret."""
    crash = {"exception": Searched(type="E", message="password=[redacted]", causes=[]), "traceback": Clean("E: told")}
    record = {**record_of({}, "password=hunter2"), **crash}
    clean, line = encode(JsonRecord(record))
    assert json.loads(line) == clean == {**record_of({}, f"password={REDACTED}"), **crash}
    assert type(clean["exception"]) is dict
    assert type(clean["traceback"]) is str
