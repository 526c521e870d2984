"""Small trails, changed at each byte that they have, cut at each, and laid together in every other way."""

from __future__ import annotations

import itertools

import pytest

from mcpcore.audit import AuditError, AuditTrail, verify

KEY = "k" * 32


def made(folder, key, *, first=1):
    """A trail of three short records in two files; its files by name."""
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
        # The rest has another signature, or is not a trail.
        return True


@pytest.fixture(params=[None, KEY], ids=["plain", "signed"])
def key(request):
    """Both kinds of a trail."""
    return request.param


def test_every_byte_counts(tmp_path, key):
    """Of the newest file, of a full one and of the head: another value is found, and so is a missing or a doubled
    byte."""
    path = tmp_path / "trail" / "audit.jsonl"
    files = made(path.parent, key)
    assert not is_found(path, key)
    for name, data in files.items():
        file = path.with_name(name)
        # What fills the head's sector says nothing, and its last byte but one may say that a record is under way.
        for at in range(len(data.rstrip())):
            byte = data[at : at + 1]
            other = bytes([byte[0] ^ (1 if at % 2 else 0x20)])
            for instead in (other,) if name.endswith(".head") else (other, b"", byte * 2):
                file.write_bytes(data[:at] + instead + data[at + 1 :])
                assert is_found(path, key), (name, at, instead)
        file.write_bytes(data)
    assert not is_found(path, key)


def test_every_cut_is_found(tmp_path, key):
    """Wherever a file ends that did not end there."""
    path = tmp_path / "trail" / "audit.jsonl"
    for name, data in made(path.parent, key).items():
        if name.endswith(".head"):
            continue
        file = path.with_name(name)
        for at in range(len(data)):
            file.write_bytes(data[:at])
            assert is_found(path, key), (name, at)
        file.write_bytes(data)


def test_no_file_of_one_trail_is_taken_for_one_of_another(tmp_path, key):
    """Nor for another of the same; nor can any of them be left out; of a plain trail the head can, which is noted."""
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


def test_every_older_head_is_found(tmp_path, key):
    """Whoever puts one back says that what came later was added."""
    path = tmp_path / "audit.jsonl"
    head = path.with_name("audit.jsonl.head")
    older = []
    with AuditTrail.open(path, key=key, sinks=()) as trail:
        for number in range(1, 6):
            trail.record({"tool": "f", "n": number})
            older.append(head.read_bytes())
    assert not is_found(path, key)
    for one in older[:-1]:
        head.write_bytes(one)
        assert is_found(path, key)


def test_the_order_of_times_does_not_matter(tmp_path, key):
    """A clock may be set back; the numbers say what came first."""
    path = tmp_path / "audit.jsonl"
    with AuditTrail.open(path, key=key, sinks=()) as trail:
        for stamp in ("2026-11-21T08:15:00.000Z", "1999-01-01T00:00:00.000Z", "2026-11-21T08:14:00.000Z"):
            trail.record({"timestamp": stamp, "tool": "f"})
    assert not is_found(path, key)
