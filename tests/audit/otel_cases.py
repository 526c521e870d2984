"""The spans, counters and log records that OpenTelemetry gets for a failure."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from typing import Literal
from unittest import mock

import pytest
from opentelemetry import _logs, metrics, trace
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from mcpcore import Context, ErrorCode, FailureMode, Server, tool
from mcpcore.audit import AuditTrail, verify
from mcpcore.integrations.otel import OtelSink, error_type


class Telemetry:
    """In-memory exporters for the three signals, set up once because OpenTelemetry allows only one setup."""

    def __init__(self) -> None:
        self.spans = InMemorySpanExporter()
        tracer = TracerProvider()
        tracer.add_span_processor(SimpleSpanProcessor(self.spans))
        trace.set_tracer_provider(tracer)
        self.logs = InMemoryLogRecordExporter()
        logger = LoggerProvider()
        logger.add_log_record_processor(SimpleLogRecordProcessor(self.logs))
        _logs.set_logger_provider(logger)
        self.metrics = InMemoryMetricReader()
        metrics.set_meter_provider(MeterProvider([self.metrics]))

    def counts(self) -> dict[tuple[tuple[str, str], ...], int]:
        data = self.metrics.get_metrics_data()
        points = [
            point
            for resource in (data.resource_metrics if data else [])
            for scope in resource.scope_metrics
            for metric in scope.metrics
            if metric.name == "mcpcore.failures"
            for point in metric.data.data_points
        ]
        return {tuple(sorted(point.attributes.items())): point.value for point in points}


@pytest.fixture(scope="module")
def providers():
    return Telemetry()


@pytest.fixture
def telemetry(providers):
    providers.spans.clear()
    providers.logs.clear()
    return providers


@tool(
    errors=[
        FailureMode("no_match", ErrorCode.NOT_FOUND, when="Nothing matched.", recovery="Search first.", effects="none")
    ],
)
async def fetch(ctx: Context[Literal["no_match"]], mode: str) -> str:
    """Fetch."""
    if mode == "declared":
        raise ctx.fail("no_match", data={"token": "t0ps3cret"})
    if mode == "crash":
        raise RuntimeError("password=t0ps3cret")
    if mode == "lost":
        ctx.fail("no_match")
    return "fine"


def call(server: Server, *modes: str) -> None:
    from mcp import Client

    async def run() -> None:
        async with Client(server) as client:
            for mode in modes:
                await client.call_tool("fetch", {"mode": mode})

    asyncio.run(run())


@pytest.mark.usefixtures("door")
def test_the_span_of_a_failed_call_has_the_reason(telemetry):
    """`error.type` follows the conventions for MCP, with code, reason and id; a success has none of them."""
    call(Server("articles", tools=[fetch]), "ok", "declared", "crash")
    fine, declared, crash = (span for span in telemetry.spans.get_finished_spans() if span.name == "tools/call fetch")
    assert "error.type" not in fine.attributes
    assert not any(name.startswith("mcpcore.") for name in fine.attributes)
    assert fine.status.status_code is StatusCode.UNSET
    expected = {
        "error.type": "tool_error",
        "mcpcore.reason": "no_match",
        "mcpcore.code": "NOT_FOUND",
        "mcpcore.retry": "not_retryable",
        "mcpcore.effects": "none",
    }
    assert expected == {name: declared.attributes[name] for name in expected}
    assert crash.attributes["mcpcore.effects"] == "unknown"
    assert len(declared.attributes["mcpcore.correlation_id"]) == 16
    assert declared.status.status_code is StatusCode.ERROR
    assert crash.attributes["mcpcore.code"] == "INTERNAL_ERROR"
    assert "mcpcore.reason" not in crash.attributes
    assert "t0ps3cret" not in repr([span.to_json() for span in telemetry.spans.get_finished_spans()])


@pytest.mark.usefixtures("door")
def test_failures_are_counted_by_tool_code_and_reason(telemetry):
    """Each combination is one series, and a success adds none."""
    before = telemetry.counts()
    call(Server("articles", tools=[fetch]), "ok", "declared", "declared", "crash")
    after = {key: count - before.get(key, 0) for key, count in telemetry.counts().items()}
    declared = (("gen_ai.tool.name", "fetch"), ("mcpcore.code", "NOT_FOUND"), ("mcpcore.reason", "no_match"))
    crash = (("gen_ai.tool.name", "fetch"), ("mcpcore.code", "INTERNAL_ERROR"))
    assert after == {declared: 2, crash: 1}


@pytest.mark.usefixtures("door")
def test_a_lost_failure_is_only_logged(telemetry):
    """Its call succeeded: the span has no error, and no failure is counted."""
    before = telemetry.counts()
    call(Server("articles", tools=[fetch]), "lost")
    (span,) = (span for span in telemetry.spans.get_finished_spans() if span.name == "tools/call fetch")
    assert span.status.status_code is StatusCode.UNSET
    assert not any(name.startswith("mcpcore.") for name in span.attributes)
    assert before == telemetry.counts()
    (log,) = (log.log_record for log in telemetry.logs.get_finished_logs())
    assert "lost" == log.attributes["mcpcore.boundary.outcome"]
    assert "lost" == json.loads(log.body)["outcome"]


@pytest.mark.usefixtures("door")
def test_an_unknown_tool_name_creates_no_series(telemetry):
    """The caller chooses it, so one series for each name would be expensive for the collector."""
    from mcp import Client

    before = sum(telemetry.counts().values())
    server = Server("articles", tools=[fetch], unknown_tool="result")

    async def run() -> None:
        async with Client(server) as client:
            for number in range(5):
                await client.call_tool(f"made_up_{number}", {})

    asyncio.run(run())
    series = {dict(attributes).get("gen_ai.tool.name"): count for attributes, count in telemetry.counts().items()}
    assert "_OTHER" in series
    assert not any(str(name).startswith("made_up") for name in series)
    assert sum(telemetry.counts().values()) == before + 5


@pytest.mark.usefixtures("only_warnings")
@pytest.mark.parametrize("broken", ["_mark_span", "_count", "_log"])
def test_a_failing_signal_does_not_affect_the_others(telemetry, failure, monkeypatch, broken, tmp_path, caplog):
    """The other two and the trail have the failure, and the log reports the error."""

    sink = OtelSink()
    monkeypatch.setattr(
        OtelSink,
        broken,
        mock.create_autospec(getattr(OtelSink, broken), side_effect=RuntimeError("the exporter is down")),
    )
    before = sum(telemetry.counts().values()), len(telemetry.logs.get_finished_logs())
    with AuditTrail.open(tmp_path / "audit.jsonl", sinks=[sink]) as trail:
        trail.record(failure(1))
    after = sum(telemetry.counts().values()), len(telemetry.logs.get_finished_logs())
    assert after[0] - before[0] == (broken != "_count")
    assert after[1] - before[1] == (broken != "_log")
    assert "audit sink OtelSink failed: RuntimeError" in caplog.text
    assert verify(tmp_path / "audit.jsonl").records == 1


@pytest.mark.usefixtures("door")
def test_stored_log_records_contain_the_trail(telemetry, tmp_path):
    """The bodies, written back to a file, equal the signed trail byte for byte; attributes are for searching."""
    path = tmp_path / "audit.jsonl"
    call(Server("articles", tools=[fetch], audit=AuditTrail.open(path, key="k" * 32)), "declared", "crash")
    taken = [item.log_record for item in telemetry.logs.get_finished_logs()]
    assert [record.event_name for record in taken] == ["mcpcore.failure"] * 2
    copy = tmp_path / "copy.jsonl"
    copy.write_text("".join(f"{record.body}\n" for record in taken))
    assert copy.read_bytes() == path.read_bytes()
    assert verify(copy, key="k" * 32, no_head=True).ok
    declared, crash = taken
    assert declared.severity_text == "WARN"
    assert declared.attributes["mcpcore.reason"] == "no_match"
    assert declared.attributes["mcpcore.server"] == "articles"
    assert crash.severity_text == "ERROR"
    assert crash.attributes["exception.type"] == "RuntimeError"
    assert "RuntimeError" in crash.attributes["exception.stacktrace"]
    assert "t0ps3cret" not in repr([(record.body, record.attributes) for record in taken])
    spans = [span for span in telemetry.spans.get_finished_spans() if span.name == "tools/call fetch"]
    assert [record.span_id for record in taken] == [span.context.span_id for span in spans]
    assert declared.timestamp // 1_000_000 % 1000 == int(json.loads(declared.body)["timestamp"][-4:-1])


def test_a_sink_without_a_trail_sends_the_record_as_structure(telemetry, failure):
    """There is no line without a trail, so the record is sent unchanged."""
    OtelSink().failure(failure(1, context={"session_id": "s1"}, timestamp="not a time"))
    (item,) = telemetry.logs.get_finished_logs()
    assert item.log_record.body["correlationId"] == f"{1:016x}"
    assert item.log_record.attributes["mcpcore.context.session_id"] == "s1"


@pytest.mark.parametrize(
    ("record", "kind"),
    [
        ({"tool": "t", "surface": "tool", "name": "TIMEOUT"}, "tool_error"),
        ({"resource": "r", "surface": "resource", "name": "NOT_FOUND"}, "-32602"),
        ({"prompt": "p", "surface": "prompt", "name": "TIMEOUT"}, "-32603"),
        ({}, "-32603"),
    ],
)
def test_error_type_follows_the_conventions(record, kind):
    """It is `tool_error` for a result, and the number of the JSON-RPC error for a protocol error."""
    assert error_type(record) == kind


def test_without_an_sdk_nothing_is_set_up_or_loaded():
    """A server without telemetry records its failures and never loads an SDK."""
    script = (
        "import sys\n"
        "from mcpcore.audit import AuditTrail\n"
        "AuditTrail().record({'tool': 'x', 'name': 'TIMEOUT'})\n"
        "assert 'opentelemetry.sdk' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)


def test_without_the_api_failures_are_still_recorded(tmp_path):
    """The integration is optional."""
    script = (
        "import sys\n"
        "sys.modules['opentelemetry'] = None\n"
        "from mcpcore.audit import AuditTrail\n"
        "AuditTrail.open(sys.argv[1], policy='refuse').record({'tool': 'x', 'name': 'TIMEOUT'})\n"
    )
    path = tmp_path / "audit.jsonl"
    subprocess.run([sys.executable, "-c", script, str(path)], check=True, capture_output=True)
    assert verify(path).records == 1
