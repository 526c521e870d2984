"""Logs that a collector exported as JSON: what mcpcore's own sink emits, and whatever else may be in such a file."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from mcpcore.fleet import rows
from tests.fleet.conftest import HERE


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """Two servers with a trail and one without, all exporting through the OpenTelemetry SDK."""
    folder = tmp_path_factory.mktemp("otlp")
    lines = []
    for version, *names in (("1.0", "one", "two"), ("1.1", "none")):
        subprocess.run([sys.executable, str(HERE / "emitting.py"), str(folder), version, *names], check=True)
        lines += (folder / f"{version}.otlp.json").read_text().splitlines()
    (folder / "all.json").write_text("\n".join(lines) + "\n")
    return folder


def test_an_export_has_the_records_of_the_trails(run, exported, tmp_path):
    """The bodies are the lines of the trails, so records that are in a trail and in an export count once."""
    store = tmp_path / "store"
    out = run("load", exported / "all.json", "--store", store).out
    assert "12 records loaded into" in out
    assert "4 without a hash: their servers write no trail file" in out
    assert "2 records of other programs left out" in out
    report = json.loads(run("load", exported / "one.jsonl", exported / "two.jsonl", "--store", store, "--json").out)
    assert 8 == report["records"]
    assert 12 == json.loads(run("stats", "--json", "--store", store).out)["total"]
    shown = set(run("show", "--json", "--store", store).out.splitlines())
    assert set(run("show", "--json", exported / "one.jsonl").out.splitlines()) < shown
    rows = run(
        "sql", store, "SELECT resource['service.version'], toString(count()) FROM mcpcore_failures FINAL GROUP BY 1"
    )
    assert {"1.0": "8", "1.1": "4"} == dict(rows.out)
    assert "  #-  fetch  NOT_FOUND" in run("show", "--store", store).out


def test_changed_and_missing_records_are_reported_with_their_line(run, exported, tmp_path):
    """The line is that of the export; a server without a trail has nothing to check."""
    lines = (exported / "all.json").read_text().splitlines()
    lines[0] = lines[0].replace("No article 0.", "No article 9.")
    del lines[4]  # the third of server one
    structured = {
        "kvlistValue": {
            "values": [
                {"key": "tool", "value": {"stringValue": "t"}},
                {"key": "n", "value": {"intValue": "7"}},
                {"key": "m", "value": {"intValue": "x"}},
                {"key": "list", "value": {"arrayValue": {"values": [{"boolValue": True}, {"other": 1}]}}},
            ]
        }
    }
    records = [5, {"body": {"stringValue": "text"}}, {"body": structured}]
    attributes = [{"key": "empty"}, *({"key": f"k{n}", "value": {"intValue": str(n)}} for n in range(80))]
    lines += [
        "nonsense",
        json.dumps({"resourceLogs": 5}),
        json.dumps({"resourceLogs": [{"scopeLogs": [{"scope": {"name": "mcpcore"}, "logRecords": records}]}]}),
        "",
        json.dumps({"resourceLogs": [{"resource": {"attributes": attributes}}]}),
        '{"unfinished',
    ]
    changed = tmp_path / "changed.json"
    changed.write_text("\n".join(lines))
    store = tmp_path / "store"
    out = run("load", changed, "--store", store, status=1).out
    for text in (
        f"{changed}:1: changed record 1",
        "removed record 3",
        f"{changed}:{len(lines) - 5}: changed: the line is not JSON",
        f"{changed}:{len(lines) - 3}: inserted: the line is not a record",
        f"{changed}:{len(lines)}: changed: the last line is unfinished",
    ):
        assert text in out
    assert (
        '{"tool":"t","n":7,"m":null,"list":[true,null]}' in run("show", "--json", "--tool", "t", "--store", store).out
    )


def test_order_does_not_matter(run, exported, tmp_path):
    """A collector with several consumers writes batches out of order; the chain is complete all the same."""
    shuffled = tmp_path / "shuffled.json"
    shuffled.write_text("\n".join(reversed((exported / "all.json").read_text().splitlines())) + "\n")
    run("load", shuffled, "--store", tmp_path / "store")
    again = tmp_path / "again.json"
    again.write_text((exported / "all.json").read_text().splitlines()[6] + "\n")
    run("load", again, "--store", tmp_path / "store")
    assert "removed record" in run("load", again, "--store", tmp_path / "other", status=1).out
    assert run("load", shuffled, "--store", tmp_path / "signed", status=1, env={"MCPCORE_AUDIT_KEY": "k" * 32}).out


def test_endless_lines_are_skipped(tmp_path, monkeypatch):
    """A line may be as long as a batch of a collector, and no longer."""
    monkeypatch.setattr(rows, "MAX_BATCH", 1_000)
    path = Path(tmp_path / "long.json")
    path.write_text('{"resourceLogs":[' + " " * 5_000 + "]}\n" + '{"resourceLogs":[]}\n' + "x" * 1_500)
    items = list(rows.read_export(path))
    assert [1, 3] == [item.line for item in items]
    assert all("longer than" in item.detail for item in items)
