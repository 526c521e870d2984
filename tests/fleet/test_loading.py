"""`mcpcore audit load`: each record counts once, nothing is lost, and what was changed is found."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from contextlib import nullcontext

import pytest

from mcpcore.audit.reading import Query
from mcpcore.fleet import load, load as loading, queries
from mcpcore.fleet.address import parse
from mcpcore.fleet.store import open_store
from tests.fleet.conftest import HERE, write_trail


def total(run, store: object) -> int:
    """The failures in a store, counted by the command."""
    return json.loads(run("stats", "--json", "--store", store).out)["total"]


@pytest.fixture
def store(tmp_path):
    return tmp_path / "store"


class TestOnce:
    def test_overlapping_files_and_repeated_loads_count_each_record_once(self, run, trail, store):
        """A pattern of the shell names the rotated files, the head and the lock, too; a copy has the same records."""
        everything = sorted(trail.parent.iterdir())
        assert len(everything) > 4
        report = json.loads(run("load", *everything, "--store", store, "--json").out)
        assert (120, 120, True, []) == tuple(report[key] for key in ("records", "new", "ok", "problems"))
        copy = store.parent / "copy"
        copy.mkdir()
        for file in everything:
            (copy / file.name).write_bytes(file.read_bytes())
        run("load", copy / "audit.jsonl", "--store", store)
        more = write_trail(store.parent / "more.jsonl", 10, seed=2)
        again = f"130 records loaded into {store}, as written; 10 new, 120 stored before\n"
        assert again == run("load", trail, trail, more, "--store", store).out
        assert total(run, store) == sum(json.loads(run("stats", "--json", path).out)["total"] for path in (trail, more))

    def test_loads_at_the_same_time_count_each_record_once(self, run, tmp_path, trail, store):
        """Two processes take turns at an embedded store that does not exist yet."""
        command = [sys.executable, "-m", "mcpcore", "audit", "load", str(trail), "--store", str(store)]
        loads = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
        answers = [load.communicate() for load in loads]
        done = f"120 records loaded into {store}, as written"
        assert sorted(out for out, _ in answers) == [f"{done}\n", f"{done}; 0 new, 120 stored before\n"], answers
        assert [0, 0] == [load.returncode for load in loads]
        assert json.loads(run("stats", "--json", trail).out)["total"] == total(run, store)

    def test_a_killed_load_is_completed_by_the_next(self, run, trail, store):
        """A process that dies by SIGKILL leaves whole batches; loading again adds the rest and doubles none."""
        command = [sys.executable, str(HERE / "killed.py"), "3", str(trail), str(store)]
        assert -signal.SIGKILL == subprocess.run(command, check=False).returncode
        assert 60 == len(run("show", "--json", "--store", store).out.splitlines())
        run("load", trail, "--store", store)
        assert run("show", "--json", trail).out == run("show", "--json", "--store", store).out

    def test_merging_changes_no_answer(self, run, trail, store):
        """After the engine has merged equal rows, the answers are the same, and one row of each record is left."""
        for _ in range(2):
            run("load", trail, "--store", store)
        before = run("stats", "--json", "--store", store).out
        assert [["240"]] == run("sql", store, "SELECT toString(count()) FROM mcpcore_failures").out
        run("sql", store, "OPTIMIZE TABLE mcpcore_failures FINAL")
        assert [["120"]] == run("sql", store, "SELECT toString(count()) FROM mcpcore_failures").out
        assert before == run("stats", "--json", "--store", store).out


class TestVerified:
    def test_a_broken_chain_is_reported_with_file_and_line_and_loaded_whole(self, run, tmp_path, store):
        """The command exits 1; every line is stored, and those that are no records are kept out of the answers."""
        path = write_trail(tmp_path / "audit.jsonl", 12)
        lines = path.read_text().splitlines(keepends=True)
        lines[2] = lines[2].replace("articles1", "articles2")
        del lines[4]
        path.write_text("".join([*lines, "not a record\n", "[1]\n"]))
        out = run("load", path, "--store", store, status=1).out
        for text in (
            f"{path}:3: changed record",
            f"{path}:4: removed record",
            f"{path}:{len(lines) + 1}: inserted",
            "11 records and 2 damaged lines loaded into",
        ):
            assert text in out
        assert run("show", "--json", path).out == run("show", "--json", "--store", store).out
        rows = run(
            "sql", store, "SELECT proof, kind = 'damaged', count() FROM mcpcore_failures GROUP BY 1, 2 ORDER BY 1"
        ).out
        assert [("broken", 0, 1), ("hashed", 0, 10), ("unchecked", 1, 2)] == [(p, d, int(n)) for p, d, n in rows]

    def test_a_changed_record_does_not_replace_the_genuine_one(self, run, tmp_path, trail, store):
        """Rows are identified by the whole line, not by the hash that a line claims."""
        run("load", trail, "--store", store)
        forged = tmp_path / "audit.jsonl"
        forged.write_text(trail.read_text().replace("articles1", "forged"))
        run("load", forged, "--store", store, status=1)
        records = run("show", "--json", "--store", store).out.splitlines()
        assert set(run("show", "--json", trail).out.splitlines()) < set(records)

    def test_a_signed_trail_needs_its_key(self, run, tmp_path, store):
        """Without it nothing is loaded, unless the check is waived; with it, what was not checked becomes signed."""
        path, key = tmp_path / "audit.jsonl", tmp_path / "key"
        write_trail(path, 12, key="k" * 32)
        key.write_text("k" * 32 + "\n")
        assert "set MCPCORE_AUDIT_KEY" in run("load", path, "--store", store, status=2).err
        proofs = "SELECT proof, toString(count()) FROM mcpcore_failures FINAL GROUP BY proof"
        run("load", path, "--store", store, "--no-verify")
        assert [["unchecked", "12"]] == run("sql", store, proofs).out
        run("load", path, "--store", store, "--key-file", key)
        run("load", path, "--store", store, "--no-verify")
        assert [["signed", "12"]] == run("sql", store, proofs).out
        (tmp_path / "audit.jsonl.head").unlink()
        assert "has no head" in run("load", path, "--store", store, "--key-file", key, status=1).out
        run("load", path, "--store", store, "--no-head", env={"MCPCORE_AUDIT_KEY": "k" * 32})

    def test_a_rotated_file_is_checked_against_the_store(self, run, tmp_path, trail, store):
        """Shipped one by one, each file continues the one before; a missing one is reported."""
        full = [file for file in sorted(trail.parent.iterdir()) if file.name[-4:].isdigit()]
        shipped = []
        for file in full[:3]:
            copy = tmp_path / file.name
            copy.write_bytes(file.read_bytes())
            shipped.append(copy)
        run("load", shipped[0], "--store", store)
        out = run("load", shipped[2], "--store", store, status=1).out
        assert f"{shipped[2]}:1: removed record" in out
        assert "missing before this line, and not in the store" in out
        run("load", shipped[1], "--store", store)
        run("load", shipped[2], "--store", store)
        assert len(run("show", "--json", "--store", store).out.splitlines()) == sum(
            len(file.read_bytes().splitlines()) for file in shipped
        )

    def test_single_files_are_judged_line_by_line(self, run, tmp_path, trail, store):
        """Changed lines, garbage, other keys and records without a chain are reported in a file without the rest of its trail."""
        source = next(file for file in sorted(trail.parent.iterdir()) if file.name[-4:].isdigit())
        lines = source.read_bytes().splitlines()
        lines[1] = lines[1].replace(b"articles1", b"articles2")
        lines[3] = b'{"seq":4,"hash":"0","tool":"x"}'
        extra = [b"garbage", b'{"seq":9,"tool":"y"}', b"x" * (1 << 20) + b"yy"]
        file = tmp_path / source.name
        file.write_bytes(b"\n".join([*lines, *extra, b"unfinished"]))
        out = run("load", file, "--store", store, status=1).out
        for text in (
            f"{file}:2: changed record 2",
            f"{file}:4: changed",
            f"{file}:{len(lines) + 1}: inserted: the line is not a record",
            f"{file}:{len(lines) + 3}: inserted: the line is longer than any record",
            f"{len(lines) + 1} records and 2 damaged lines",
        ):
            assert text in out
        file.write_bytes(b"\n".join([*lines, *extra]) + b"\n")
        out = run("load", file, "--store", store, status=1, env={"MCPCORE_AUDIT_KEY": "k" * 32}).out
        assert "unsigned record 1" in out
        assert "forged: the record is not signed" in out

    def test_a_rotated_file_with_another_key_is_reported(self, run, tmp_path, store):
        """With no key, the check cannot be made; with the wrong one, every record is reported."""
        path = write_trail(tmp_path / "audit.jsonl", 40, key="k" * 32)
        first = min(file for file in path.parent.iterdir() if file.name[-4:].isdigit())
        alone = tmp_path / "alone" / first.name
        alone.parent.mkdir()
        alone.write_bytes(first.read_bytes())
        assert "or load them without a check (--no-verify)" in run("load", alone, "--store", store, status=2).err
        out = run("load", alone, "--store", store, status=1, env={"MCPCORE_AUDIT_KEY": "j" * 32}).out
        assert f"{alone}:1: forged record 1" in out

    def test_more_problems_than_are_listed_are_counted(self, run, tmp_path, store):
        """The report stays short, and the exit code is the same."""
        file = tmp_path / "audit.jsonl.000000000001"
        file.write_text('{"seq":1,"tool":"x"}\n' + "".join(f"garbage {number}\n" for number in range(1_010)))
        out = run("load", file, "--store", store, status=1).out
        assert "... and 10 more\n" in out
        assert "1 record and 1010 damaged lines loaded into" in out


class TestFiles:
    def test_a_file_that_is_no_trail_is_refused(self, run, tmp_path, store):
        """Before anything is written."""
        other = tmp_path / "other.txt"
        other.write_text("a\nb\n")
        assert (
            "neither a trail nor logs that a collector exported" in run("load", other, "--store", store, status=2).err
        )
        assert "missing.jsonl" in run("load", tmp_path / "missing.jsonl", "--store", store, status=2).err

    def test_a_trail_that_has_only_rotated_files_is_loaded(self, run, tmp_path, trail, store):
        """As between the rotation and the next record."""
        for file in trail.parent.iterdir():
            if file.name[-4:].isdigit():
                (tmp_path / file.name).write_bytes(file.read_bytes())
        run("load", tmp_path / "audit.jsonl", "--store", store)
        assert total(run, store) > 0

    def test_an_empty_trail_is_loaded(self, run, tmp_path, store):
        """A server that has not failed yet is no problem."""
        empty = tmp_path / "audit.jsonl"
        empty.touch()
        assert "0 records loaded into" in run("load", empty, "--store", store).out

    def test_attributes_tell_versions_apart(self, run, tmp_path, store):
        """--attribute says of a trail what a collector says of its logs."""
        for version in ("1.4", "1.5"):
            path = write_trail(tmp_path / f"{version}.jsonl", 9, seed=int(version[-1]))
            run("load", path, "--store", store, "--attribute", f"service.version={version}")
        sql = "SELECT resource['service.version'], toString(count()) FROM mcpcore_failures FINAL GROUP BY 1 ORDER BY 1"
        assert [["1.4", "9"], ["1.5", "9"]] == run("sql", store, sql).out
        assert "takes KEY=VALUE" in run("load", path, "--store", store, "--attribute", "x", status=2).err


@pytest.mark.slow
def test_tail_follows_what_is_loaded(run, tmp_path, trail, store):
    """`tail -f` prints records that are loaded later, each once, although they are loaded twice."""
    first = write_trail(tmp_path / "first.jsonl", 10, seed=4)
    second = write_trail(tmp_path / "second.jsonl", 10, seed=5)
    run("load", first, "--store", store)
    command = [sys.executable, "-m", "mcpcore", "audit", "tail", "-f", "-n", "2", "--json", "--store", str(store)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as tail:
        lines = [tail.stdout.readline() for _ in range(2)]
        run("load", first, second, "--store", store)
        run("load", second, "--store", store)
        lines += [tail.stdout.readline() for _ in range(10)]
        third = write_trail(tmp_path / "third.jsonl", 1, seed=6)
        run("load", third, "--store", store)
        lines.append(tail.stdout.readline())
        tail.send_signal(signal.SIGINT)
        rest = tail.stdout.read()
    assert 130 == tail.returncode
    assert "" == rest
    expected = [
        *run("tail", "-n", "2", "--json", first).out.splitlines(),
        *run("show", "--json", second).out.splitlines(),
    ]
    assert [*expected, *run("show", "--json", third).out.splitlines()] == [line.rstrip("\n") for line in lines]


class TestBounds:
    """With small bounds, in this process: the server has the engine."""

    def test_batches_are_bounded_by_rows_and_bytes(self, run, trail, front, monkeypatch):
        """So the memory of a load does not depend on the length of the trail."""
        sizes = []
        with open_store(parse(front.url("bounded")), create=True) as store:
            monkeypatch.setattr(store, "insert", sizes.append)
            monkeypatch.setattr(loading, "BATCH_ROWS", 50)
            loading.load(store, [trail])
            assert 3 == len(sizes)
            monkeypatch.setattr(loading, "BATCH_BYTES", 10_000)
            loading.load(store, [trail])
        assert max(map(len, sizes[3:])) < 12_000

    def test_lines_of_too_many_chains_are_loaded_without_the_search_for_gaps(self, trail, front, monkeypatch):
        """Forged lines can make a chain each; the search says that it gave up."""
        monkeypatch.setattr(load, "MOST", 2)
        rotated = [file for file in sorted(trail.parent.iterdir()) if file.name[-4:].isdigit()][1]
        forged = trail.parent / "forged" / rotated.name
        forged.parent.mkdir()
        forged.write_bytes(b"".join(rotated.read_bytes().splitlines(keepends=True)[::2]))
        with open_store(parse(front.url("chains")), create=True) as store:
            report = loading.load(store, [forged])
        assert ["the lines belong to too many chains to look for missing records"] == report.notes
        assert report.records > 3

    def test_following_ends_when_asked(self, trail, front):
        """A program can stop between two looks."""
        with open_store(parse(front.url("followed")), create=True) as store:
            loading.load(store, [trail])
            looks = iter([True, False])
            records = list(queries.follow(lambda: nullcontext(store), Query(), count=3, idle=lambda: next(looks)))
            assert queries.last(store, Query(), 3) == records
