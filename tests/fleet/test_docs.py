"""What docs/how-to/fleet.md, its reference and examples/fleet say holds on the engine, as far as it can be run without a cluster."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
import yaml

from mcpcore.fleet.store import COLUMNS
from tests.files import ROOT
from tests.fleet.conftest import HERE, write_trail

EXAMPLE = ROOT / "examples" / "fleet"
PAGE = (ROOT / "docs" / "how-to" / "fleet.md").read_text()
TABLE = (ROOT / "docs" / "reference" / "fleet-table.md").read_text()

# The table of the collector's clickhouse exporter (its README and its file logs_table.sql).
OTEL_LOGS = """CREATE TABLE otel_logs (
    Timestamp DateTime64(9), TraceId String, SpanId String, TraceFlags UInt8, SeverityText LowCardinality(String),
    SeverityNumber UInt8, ServiceName LowCardinality(String), Body String, ResourceSchemaUrl LowCardinality(String),
    ResourceAttributes Map(LowCardinality(String), String), ScopeSchemaUrl LowCardinality(String), ScopeName String,
    ScopeVersion LowCardinality(String), ScopeAttributes Map(LowCardinality(String), String),
    LogAttributes Map(LowCardinality(String), String), EventName String
) ENGINE = MergeTree ORDER BY Timestamp"""


def test_the_page_lists_every_column():
    """With its type and its meaning."""
    for name, kind, text in COLUMNS:
        assert f"| `{name}` | `{kind}` | {text} |" in TABLE


def test_the_queries_of_the_page_run(run, trail, tmp_path):
    """On a store with records; and they find some."""
    store = tmp_path / "store"
    run("load", trail, "--store", store, "--attribute", "service.version=1.4.2")
    queries = re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)
    answers = [run("sql", store, query).out for query in sorted(queries, key=lambda query: query.startswith("ALTER"))]
    assert 6 == len(answers)
    by_version, since_version, _last_day, breaches, forged, _retention = answers
    assert all((by_version, since_version, breaches))
    assert not forged


def test_the_files_of_the_example_are_well_formed():
    """The parts of the YAML files that refer to each other fit."""
    collector = yaml.safe_load((EXAMPLE / "collector.yaml").read_text())
    assert set(collector["service"]["pipelines"]["logs"]["exporters"]) == set(collector["exporters"])
    assert collector["exporters"]["file"]["format"] == "json"
    services = yaml.safe_load((EXAMPLE / "compose.yaml").read_text())["services"]
    assert {"articles", "balancer", "collector", "clickhouse"} == set(services)
    assert services["articles"]["environment"]["OTEL_LOGS_EXPORTER"] == "otlp"
    assert "COPY server.py" in services["articles"]["build"]["dockerfile_inline"]


@pytest.fixture(scope="module")
def bodies(tmp_path_factory):
    """Lines of trails, and of a real export of the example's server."""
    folder = tmp_path_factory.mktemp("bodies")
    subprocess.run([sys.executable, str(HERE / "emitting.py"), str(folder), "1.4.2", "one"], check=True)
    lines = (folder / "one.jsonl").read_text().splitlines()
    path = write_trail(folder / "audit.jsonl", 40, seed=7)
    text = path.read_text().replace("\\ud800", "").replace("10" + "0" * 29, "41")
    return [*lines, *(line for line in text.splitlines() if '"never"' not in line)]


def test_the_view_makes_the_rows_that_a_load_makes(run, bodies, tmp_path):
    """A record that comes through the collector's table counts once with the one that is loaded from a file."""
    store, file = tmp_path / "store", tmp_path / "audit.jsonl"
    (tmp_path / "empty.jsonl").touch()
    run("load", tmp_path / "empty.jsonl", "--store", store)
    run("sql", store, OTEL_LOGS)
    run("sql", store, (EXAMPLE / "from_collector.sql").read_text())
    rows = "\n".join(
        json.dumps({"ScopeName": "mcpcore", "Body": body, "ResourceAttributes": {"service.version": "1.4.2"}})
        for body in [*bodies, "not a record"]
    )
    run("sql", store, f"INSERT INTO otel_logs FORMAT JSONEachRow {rows}")
    columns = "hex(id), time, at, kind, subject, surfaces, reason, name, code, ident, server, count, missing, broken, "
    select = f"SELECT {columns} if(empty(broken), 0, broken_count), proof, line FROM mcpcore_failures FINAL ORDER BY id"
    viewed = run("sql", store, select).out
    file.write_text("\n".join(bodies) + "\n")
    run("load", file, "--store", tmp_path / "loaded", status=1)
    for expected, row in zip(run("sql", tmp_path / "loaded", select).out, viewed, strict=True):
        assert expected == row
    assert len(bodies) == len(viewed)
    run("load", file, "--store", store, status=1)
    assert viewed == run("sql", store, select).out
