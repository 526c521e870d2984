"""Paths that must not be written: links and unrelated files."""

from __future__ import annotations

import json
import os
import sys

import pytest

from mcpcore import Server
from mcpcore.audit import AuditError, AuditTrail, verify
from mcpcore.audit.files import head_path, lock_path
from tests.audit.conftest import written

posix = pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege on Windows")


@pytest.mark.parametrize("policy", ["warn", "refuse"])
@pytest.mark.parametrize(
    "content",
    [
        b"notes\n",
        b"no line feed",
        b"{}\n",
        b'{"seq":1}\n',
        b"\x00" * 4_096,
        b"\n",
        b"a,b\n1,2\n3,4\n",
        b"{",
        b'{"s',
        b'{"seq":',
        b'{"seq":1,"mine":"important, no newline"}',
    ],
)
def test_an_unrelated_file_is_refused_and_unchanged(tmp_path, content, policy):
    """Under any policy this is a configuration mistake, not a disk failure."""
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    before = path.stat()
    with pytest.raises(AuditError, match=rf"{path} is refused: it is not a trail.*give the path of a new file"):
        AuditTrail.open(path, policy=policy, sinks=())
    assert path.read_bytes() == content
    assert (before.st_mtime_ns, before.st_mode) == (path.stat().st_mtime_ns, path.stat().st_mode)
    assert [file.name for file in tmp_path.iterdir()] == ["notes.txt"]


def test_a_server_does_not_start_with_an_unrelated_file(tmp_path, monkeypatch):
    """The path comes from the option or the environment variable."""
    path = tmp_path / "server.py"
    path.write_text("import this\n")
    with pytest.raises(AuditError, match="is refused"):
        Server("s", audit=path)
    monkeypatch.setenv("MCPCORE_AUDIT", str(path))
    with pytest.raises(AuditError, match="is refused"):
        Server("s")
    assert path.read_text() == "import this\n"


@pytest.mark.usefixtures("only_warnings")
def test_an_unrelated_file_that_replaces_a_trail_is_not_written(tmp_path, path, failure, caplog):
    """The server keeps running, the failure counts as not recorded, and the file is unchanged."""
    with AuditTrail.open(path, sinks=()) as trail:
        trail.record(failure(1))
        for file in (path, head_path(path)):
            file.rename(tmp_path / f"kept-{file.name}")
        path.write_text("mine\n")
        trail.record(failure(2))
        assert trail.lost == 1
        assert path.read_text() == "mine\n"
    assert "it is not a trail" in caplog.text


def test_an_empty_file_becomes_a_trail(path):
    """An administrator may create it with the right permissions."""
    path.touch()
    written(path, 1, policy="refuse")
    assert verify(path).ok


@pytest.mark.parametrize("length", [1, 4, 30, 200])
def test_a_trail_whose_first_record_is_unfinished_is_continued(path, length):
    """A writer died during the record, so the fragment is sealed and the file remains a trail."""
    written(path, 1)
    fragment = path.read_bytes()[:length]
    path.write_bytes(fragment)
    for number in (1, 2):
        written(path, number, policy="refuse")
    lines = path.read_bytes().splitlines()
    assert lines[0] == fragment
    assert json.loads(lines[1])["begins"] is False


def test_an_unfinished_first_record_without_a_head_is_refused(path):
    """A writer creates the head before its first record, so nothing shows that the file was a trail."""
    written(path, 1)
    fragment = path.read_bytes()[:30]
    path.write_bytes(fragment)
    head_path(path).unlink()
    with pytest.raises(AuditError, match="it is not a trail"):
        AuditTrail.open(path, sinks=())
    assert path.read_bytes() == fragment


@pytest.mark.parametrize("exists", [True, False])
@pytest.mark.parametrize("content", [b"garbage", b"{}\n", b'{"head":1}\n', b'{"head":{"seq":1}}\n' + b" " * 600])
def test_a_file_that_is_not_a_head_is_not_overwritten(tmp_path, content, exists):
    """This covers a file with the head's name and a hard link, with or without a trail."""
    path, victim = tmp_path / "audit.jsonl", tmp_path / "victim"
    if exists:
        written(path, 1)
        head_path(path).unlink()
    victim.write_bytes(content)
    os.link(victim, head_path(path))
    before = path.read_bytes() if exists else b""
    with pytest.raises(AuditError, match=r"is refused: the file .*\.head is not the head of a trail.*move it away"):
        AuditTrail.open(path, sinks=())
    assert victim.read_bytes() == content
    assert path.read_bytes() == before


@pytest.mark.parametrize("damage", [b"", b"\0" * 512, b'{"head":{"seq":1,"ha'])
def test_a_damaged_head_is_written_again(path, damage):
    """An empty file, a lost block and a truncated head are accepted as the previous head."""
    for number in (1, 2):
        written(path, number, policy="refuse")
        assert verify(path).ok
        if number == 1:
            head_path(path).write_bytes(damage)
    assert verify(path).head.seq == verify(path).last


def test_a_trail_with_a_changed_first_line_continues(path):
    """An attacker must not be able to stop the recording, and verification reports the change."""
    written(path, 1)
    path.write_bytes(b"damaged\n")
    written(path, 2, policy="refuse")
    assert not verify(path).ok


@posix
@pytest.mark.parametrize("policy", ["warn", "refuse"])
@pytest.mark.parametrize("target", ["there", "missing", "itself"])
def test_a_link_is_refused(tmp_path, policy, target):
    """The target does not matter, and nothing is written there."""
    path, other = tmp_path / "audit.jsonl", tmp_path / "other.jsonl"
    if target == "there":
        other.touch()
    path.symlink_to(path if target == "itself" else other)
    with pytest.raises(AuditError, match=r"is refused: it is a link, which is not followed; give the path of the file"):
        AuditTrail.open(path, policy=policy, sinks=())
    assert other.exists() is (target == "there")
    assert target != "there" or other.read_bytes() == b""


@posix
@pytest.mark.parametrize("beside", [head_path, lock_path])
def test_a_link_instead_of_the_head_or_the_lock_is_refused(tmp_path, beside):
    """Otherwise it could be used to overwrite another file."""
    path, victim = tmp_path / "audit.jsonl", tmp_path / "victim"
    victim.write_text("mine\n")
    beside(path).symlink_to(victim)
    with pytest.raises(AuditError, match=r"is refused: its (head|lock).* is a link"):
        AuditTrail.open(path, sinks=())
    assert victim.read_text() == "mine\n"


@posix
def test_a_folder_that_is_a_link_is_allowed(tmp_path):
    """For example, /var/log may be a link to another disk."""
    (tmp_path / "disk").mkdir()
    (tmp_path / "log").symlink_to(tmp_path / "disk")
    written(tmp_path / "log" / "audit.jsonl", 1, policy="refuse")
    assert os.path.exists(tmp_path / "disk" / "audit.jsonl")


def test_a_file_with_an_invalid_head_is_refused(path):
    """Only a head shows that a file without a record is a trail."""
    path.write_text("mine\n")
    head_path(path).write_text("mine too\n")
    with pytest.raises(AuditError, match="is refused"):
        AuditTrail.open(path, sinks=())
    assert head_path(path).read_text() == "mine too\n"
