"""A store gives the same answers as the files that were loaded into it."""

from __future__ import annotations

import pytest

from mcpcore.audit.chain import Signer
from tests.fleet.conftest import HOSTILE, write_trail

FILTERS = (
    (),
    ("--tool", "fetch"),
    ("--tool", "fetch", "--tool", "file:///11"),
    ("--tool", HOSTILE.encode("utf-8", "surrogatepass").decode("utf-8", "surrogatepass").replace("\x00", "")),
    ("--tool", "' OR 1=1 --"),
    ("--tool", "POST /mcp"),
    ("--tool", "None"),
    ("--reason", "no_match"),
    ("--reason", "it's"),
    ("--reason", "5"),
    ("--reason", "None"),
    ("--reason", "no_match", "--reason", "queue_full", "--code", "timeout"),
    ("--code", "-32001"),
    ("--since", "2026-11-21"),
    ("--until", "2026-11-22T10:00:00.007Z"),
    ("--since", "2026-11-20T12:00", "--until", "2026-11-21"),
    ("--until", "1970-01-01"),
    ("--since", "2200-01-01"),
    ("--id", "010000000000001"),
    ("--id", ""),
    ("--id", "\\%_'"),
    (
        "--tool",
        "save",
        "--reason",
        "queue_full",
        "--code",
        "NOT_FOUND",
        "--since",
        "2026-11-20",
        "--until",
        "2026-12-01",
    ),
)
COMMANDS = (("stats",), ("stats", "--json"), ("show",), ("show", "--json"), ("tail", "-n", "5"))


@pytest.fixture(scope="module")
def store(run, trail, tmp_path_factory):
    """An embedded store into which the trail was loaded twice, so that all of its records are there twice."""
    folder = tmp_path_factory.mktemp("store") / "fleet"
    for _ in range(2):
        run("load", trail, "--store", folder)
    return folder


@pytest.fixture(scope="module")
def server(run, trail, front):
    """The same on a server."""
    for _ in range(2):
        run("load", trail, "--store", front.url("same"))
    return front.url("same")


def test_every_filter_gives_the_same_answer(run, trail, store, server):
    """Files, an embedded store and a server find the same records and counts, before the engine merges any rows."""
    files, embedded, remote = (run("answers", str(place), FILTERS).out for place in (trail, store, server))
    for filters, expected, folder, url in zip(FILTERS, files, embedded, remote, strict=True):
        assert expected == folder, filters
        assert expected == url, filters
    sizes = [len(records) for records, _, _ in files]
    assert sizes[0] == 120
    assert sum(0 < size < 120 for size in sizes) > len(sizes) / 2


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_the_output_is_the_same_to_the_byte(run, trail, store, server, command):
    """So is everything that a command prints."""
    for options in ((), ("--reason", "no_match", "--since", "2026-11-21")):
        files = run(*command, *options, trail)
        for place in (store, server) if options else (store,):
            answer = run(*command, *options, "--store", place)
            assert (files.out, files.err) == (answer.out, answer.err)


def test_the_page_is_the_same(run, trail, store, tmp_path):
    """Only the title names the store, and the page says when it was counted."""
    pages = []
    for number, place in enumerate(((trail,), ("--store", store))):
        run("stats", "--html", tmp_path / f"{number}.html", *place)
        pages.append((tmp_path / f"{number}.html").read_text().partition("<h2>")[2])
    assert pages[0] == pages[1]
    assert "<h1>Failures in fleet</h1>" in (tmp_path / "1.html").read_text()


def test_a_store_that_matches_nothing_says_so(run, store):
    """As a trail does."""
    assert "No record matches" in run("show", "--reason", "nothing", "--store", store).err


def test_more_groups_than_are_shown_are_counted_together(run, tmp_path):
    """The ten thousand tools and broken contracts that come first are counted separately, as in files."""
    signer, prev = Signer(None), "0" * 64
    path = tmp_path / "audit.jsonl"
    with path.open("wb") as file:
        for seq in range(1, 10_051):
            stamp = f"2026-11-20T08:{seq // 60 % 60:02d}:{seq % 60:02d}.000Z"
            payload = (
                f'{{"timestamp":"{stamp}","resource":"r{seq:05d}","name":"NOT_FOUND","broken_contract":"x",'
                f'"broken_contract_kinds":["data"],"correlationId":"{seq:016x}"}}'
            )
            line, prev = signer.seal(seq, prev, payload, begins=True if seq == 1 else None)
            file.write(line)
        for records in ("7", "-1", "true", "1e3", "1" + "0" * 30):
            event = f'{{"event":"lost","timestamp":"2026-11-20T09:00:00.000Z","records":{records}}}'
            line, prev = signer.seal(seq := seq + 1, prev, event)
            file.write(line)
    run("load", path, "--store", tmp_path / "store")
    files, store = run("stats", "--json", path), run("stats", "--json", "--store", tmp_path / "store")
    assert files.out == store.out
    assert '"(all others)"' in files.out
    assert '"lost": 7,' in files.out
    recent = [run("tail", "--json", *place).out for place in ((path,), ("--store", tmp_path / "store"))]
    assert recent[0] == recent[1]


def test_chains_are_merged_by_time(run, tmp_path):
    """Records of several trails come by time, and each after the earlier records of its trail."""
    paths = [write_trail(tmp_path / f"{seed}.jsonl", 30, seed=seed) for seed in (2, 3)]
    run("load", *paths, "--store", tmp_path / "store")
    import json

    merged = [json.loads(line) for line in run("show", "--json", "--store", tmp_path / "store").out.splitlines()]
    for seed in (2, 3):
        numbers = [record["seq"] for record in merged if record["correlationId"].startswith(f"{seed:02x}")]
        assert list(range(1, 31)) == numbers
    tail = run("tail", "-n", "9", "--json", "--store", tmp_path / "store").out.splitlines()
    assert merged[-9:] == [json.loads(line) for line in tail]
    latest = ["" if "never" in record["timestamp"] else record["timestamp"] for record in merged]
    assert latest.index(max(latest)) > 30
