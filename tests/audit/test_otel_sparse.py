"""Sparse records and configurations: the data that OpenTelemetry receives, in a separate process."""

from __future__ import annotations

import json
import subprocess
import sys

PROGRAM = """
import json
from mcpcore.integrations.otel import OtelSink
told = {}

sink = OtelSink()
told["nobody"] = sink.listens()
sink.failure({"tool": "t", "name": "TIMEOUT"})

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
spans = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(spans))
with provider.get_tracer("x").start_as_current_span("call"):
    told["span"] = sink.listens()
    sink.failure({"retry": {"kind": 3}, "correlationId": 7})
(span,) = spans.get_finished_spans()
told["status"] = span.status.status_code.name
told["attributes"] = dict(span.attributes)

from opentelemetry import _logs
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
logs = InMemoryLogRecordExporter()
loggers = LoggerProvider()
loggers.add_log_record_processor(SimpleLogRecordProcessor(logs))
_logs.set_logger_provider(loggers)
later = OtelSink()
told["logs"] = later.listens()
later.failure({"exception": {"type": "E", "message": None}, "server": 4, "context": ["no", "object"]})
(item,) = logs.get_finished_logs()
told["logged"] = dict(item.log_record.attributes)
told["timestamp"] = item.log_record.timestamp

from opentelemetry import metrics
from opentelemetry.sdk.metrics import MeterProvider
metrics.set_meter_provider(MeterProvider())
told["metrics"] = OtelSink().listens(), sink.listens()
print(json.dumps(told))
"""


def test_a_record_that_says_little_marks_the_span_and_is_logged_with_what_it_says() -> None:
    """Missing and malformed fields produce no attribute, and modules for unused signals are not imported."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False, timeout=60)
    assert (0, "") == (done.returncode, done.stderr)
    assert {
        "nobody": False,
        "span": True,
        "status": "ERROR",
        "attributes": {"error.type": "-32603"},
        "logs": True,
        "logged": {"error.type": "-32603", "exception.type": "E"},
        "timestamp": None,
        "metrics": [True, True],
    } == json.loads(done.stdout)
