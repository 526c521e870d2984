"""Small trails with each byte changed, cut at each byte, and with their files combined in every other way."""

from __future__ import annotations

import itertools

import pytest

from mcpcore.audit import AuditError, AuditTrail, verify

KEY = "k" * 32


def made(folder, key, *, first=1):
    """Return the files of a trail of three short records in two files, by name."""
    folder.mkdir()
    with AuditTrail.open(folder / "audit.jsonl", key=key, sinks=(), max_bytes=550) as trail:
        for number in range(first, first + 3):
            trail.record({"timestamp": "t", "tool": "f", "n": number})
    files = {file.name: file.read_bytes() for file in sorted(folder.iterdir()) if file.suffix != ".lock"}
    assert len(files) == 3
    return files


def is_found(path, key) -> bool:
    try:
        return not verify(path, key=key).ok
    except AuditError:
        # The other files have another signature or are not a trail.
        return True


@pytest.fixture(params=[None, KEY], ids=["plain", "signed"])
def key(request):
    """Run with and without a key."""
    return request.param


def test_every_cut_is_found(tmp_path, key):
    """A file may be cut at any byte."""
    path = tmp_path / "trail" / "audit.jsonl"
    for name, data in made(path.parent, key).items():
        if name.endswith(".head"):
            continue
        file = path.with_name(name)
        for at in range(len(data)):
            file.write_bytes(data[:at])
            assert is_found(path, key), (name, at)
        file.write_bytes(data)


def test_no_file_can_replace_another(tmp_path, key):
    """No file can replace another or be left out, except for the head of a plain trail, which is noted."""
    path = tmp_path / "trail" / "audit.jsonl"
    files = made(path.parent, key)
    others = made(tmp_path / "other", key, first=4)
    for name, (where, data) in itertools.product(files, [*files.items(), *others.items(), ("", b"")]):
        if data == files[name] or (where == "" and name == "audit.jsonl.head"):
            continue
        path.with_name(name).write_bytes(data)
        assert is_found(path, key), (name, where)
        path.with_name(name).write_bytes(files[name])
    for name, data in files.items():
        path.with_name(name).unlink()
        if name.endswith(".head"):
            report = verify(path, key=key, no_head=True)
            assert report.ok
            assert is_found(path, key) is (key is not None)
            assert "has no head file" in report.notes[0]
        else:
            assert is_found(path, key), name
        path.with_name(name).write_bytes(data)


def test_the_order_of_times_does_not_matter(path, key):
    """A clock may be set back, so the record numbers define the order."""
    with AuditTrail.open(path, key=key, sinks=()) as trail:
        for stamp in ("2026-11-21T08:15:00.000Z", "1999-01-01T00:00:00.000Z", "2026-11-21T08:14:00.000Z"):
            trail.record({"timestamp": stamp, "tool": "f"})
    assert not is_found(path, key)
