"""OpenTelemetry: what a failure adds to the span of its call, to the counters, and to the logs.

Only the API is needed (`mcpcore[otel]`; the MCP SDK brings it along), and only what an application set up is used:

- The span of the call, which the SDK's own middleware opens, gets `error.type` and status ERROR as the semantic
  conventions for MCP ask (`tool_error` for a tool, the JSON-RPC code for what the protocol carries), and also
  `mcpcore.code`, `mcpcore.reason`, `mcpcore.correlation_id`, `mcpcore.retry` and, where they are known,
  `mcpcore.effects`.
- The counter `mcpcore.failures` counts by tool (or resource, or prompt), code and reason: all of low cardinality.
- The record becomes a log record, event `mcpcore.failure`; its body is the line of the audit trail to the byte, so
  that a store of a whole fleet's records can be written back to a file and verified. A failure that was made and lost
  is only logged, with `mcpcore.boundary.outcome` "lost", since its call may have succeeded.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from mcpcore.audit.kinds import LOST, is_lost
from mcpcore.audit.listeners import SERVER_FAULTS
from mcpcore.contract.codes import PROTOCOL_INVALID_PARAMS
from mcpcore.values.untrusted import object_in

if TYPE_CHECKING:
    from opentelemetry._logs import Logger
    from opentelemetry.metrics import Counter

SCOPE: Final = "mcpcore"
EVENT: Final = "mcpcore.failure"
COUNTER: Final = "mcpcore.failures"

TOOL_ERROR: Final = "tool_error"
"""`error.type` of a tool call whose result is an error (semantic conventions for MCP, note on `error.type`)."""

# Attribute, and where the record has it.
_ATTRIBUTES: Final = (
    ("gen_ai.tool.name", "tool"),
    ("gen_ai.prompt.name", "prompt"),
    ("mcp.resource.uri", "resource"),
    ("mcpcore.code", "name"),
    ("mcpcore.reason", "reason"),
)
_OF_SPAN: Final = (("mcpcore.correlation_id", "correlationId"), ("mcpcore.effects", "effects"))
_OF_RETRY: Final = (("mcpcore.retry", "kind"),)
_OF_LOG: Final = (
    ("mcpcore.correlation_id", "correlationId"),
    ("mcpcore.server", "server"),
    ("exception.stacktrace", "traceback"),
)
_OF_EXCEPTION: Final = (("exception.type", "type"), ("exception.message", "message"))
# A resource's URI may be one of very many, and so stays out of the counters.
_NAMED: Final = ("gen_ai.tool.name", "gen_ai.prompt.name")
_COUNTED: Final = (*_NAMED, "mcpcore.code", "mcpcore.reason")

# The caller chooses the name of a tool that does not exist, and may choose another each time.
_UNKNOWN: Final = frozenset({"unknown_tool", "unknown_prompt"})
OTHER: Final = "_OTHER"
"""The name that the counter has for a tool that the server does not know, as in other conventions."""


_CONTEXT_PREFIX: Final = "mcpcore.context."
_INVALID_PARAMS_NAMES: Final = frozenset(code.name for code in PROTOCOL_INVALID_PARAMS)


def error_type(record: Mapping[str, Any]) -> str:
    """`error.type` of a failure: `tool_error`, or the number that the JSON-RPC error carries."""
    if record.get("tool") is not None or record.get("surface") == "tool":
        return TOOL_ERROR
    return "-32602" if record.get("name") in _INVALID_PARAMS_NAMES else "-32603"


class OtelSink:
    """Takes failures to OpenTelemetry; one of the sinks of an `AuditTrail`, and usable without one.

    Costs nothing to speak of where no SDK was set up: the providers of the API then do nothing.

    ```python
    from mcpcore.audit import AuditTrail

    trail = AuditTrail.open(path, sinks=[OtelSink()])
    ```
    """

    def __init__(self) -> None:
        """Take the tracer, the meter and the logger from whatever is set up when the first failure comes.

        Raises:
            ImportError: If opentelemetry-api is not installed.
        """
        from opentelemetry import trace
        from opentelemetry._logs import SeverityNumber

        self._failed = trace.StatusCode.ERROR
        self._warning, self._highest = SeverityNumber.WARN, SeverityNumber.ERROR
        self._current_span = trace.get_current_span

    def listens(self) -> bool:
        """Whether the call has a span that records, or the application set up metrics or logs."""
        if self._current_span().is_recording():
            return True
        # Until metrics are set up, the API gives stand-ins, which pass on to nobody; all else is taken to count.
        counter = self._counter
        if getattr(counter, "_real_instrument", counter) is not None:
            return True
        enabled = getattr(self._logger, "enabled", None)
        return enabled is None or bool(enabled(severity_number=self._highest, event_name=EVENT))

    def failure(self, record: Mapping[str, Any], line: str | None = None) -> None:
        """Report one failure, from within its call.

        Args:
            record: The record as the audit trail has it: redacted.
            line: Its line of the trail; without one, the body of the log record is structured.
        """
        kind = error_type(record)
        attributes: dict[str, str | int] = {"error.type": kind}
        attributes |= _texts(record, _ATTRIBUTES)
        if is_lost(record):
            # No client received it, and its call may have succeeded.
            self._log(record, {**attributes, "mcpcore.boundary.outcome": LOST}, line)
            return
        # An exporter that fails takes its own signal with it, and no other.
        try:
            self._mark_span(record, attributes)
        finally:
            try:
                self._count(attributes)
            finally:
                self._log(record, attributes, line)

    def _mark_span(self, record: Mapping[str, Any], attributes: dict[str, str | int]) -> None:
        span = self._current_span()
        if not span.is_recording():
            return
        span.set_attributes({**attributes, **_texts(record, _OF_SPAN), **_texts(record.get("retry"), _OF_RETRY)})
        # Without a description: the text of a failure may be anything, and the conventions want that of the protocol's
        # own error, which the SDK sets.
        span.set_status(self._failed)

    def _count(self, attributes: dict[str, str | int]) -> None:
        counted: dict[str, str | int] = {name: attributes[name] for name in _COUNTED if name in attributes}
        if counted.get("mcpcore.reason") in _UNKNOWN:
            for name in _NAMED:
                if name in counted:
                    counted[name] = OTHER
        self._counter.add(1, counted)

    @cached_property
    def _counter(self) -> Counter:
        from opentelemetry.metrics import get_meter

        return get_meter(SCOPE).create_counter(
            COUNTER, unit="{failure}", description="Failures answered, by tool, code and reason."
        )

    @cached_property
    def _logger(self) -> Logger:
        from opentelemetry._logs import get_logger

        return get_logger(SCOPE)

    def _log(self, record: Mapping[str, Any], attributes: dict[str, str | int], line: str | None) -> None:
        fault = record.get("name") in SERVER_FAULTS
        severity = self._highest if fault else self._warning
        # Asked first, since making the record costs more than the question; APIs before 1.40 do not have it.
        enabled = getattr(self._logger, "enabled", None)
        if enabled is not None and not enabled(severity_number=severity, event_name=EVENT):
            return
        details: dict[str, str | int] = dict(attributes)
        details |= _texts(record, _OF_LOG) | _texts(record.get("exception"), _OF_EXCEPTION)
        context = object_in(record, "context")
        details |= {_CONTEXT_PREFIX + key: value for key, value in context.items() if isinstance(value, str)}
        self._logger.emit(
            timestamp=_nanoseconds(record.get("timestamp")),
            severity_number=severity,
            severity_text="ERROR" if fault else "WARN",
            body=dict(record) if line is None else line,
            attributes=details,
            event_name=EVENT,
        )


def _texts(source: object, names: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """The attributes in `names` of which `source`, a mapping, has a text."""
    if not isinstance(source, Mapping):
        return {}
    return {name: source[key] for name, key in names if isinstance(source.get(key), str)}


def _nanoseconds(timestamp: object) -> int | None:
    from datetime import datetime

    if not isinstance(timestamp, str):
        return None
    try:
        return int(datetime.fromisoformat(timestamp).timestamp() * 1_000) * 1_000_000
    except (ValueError, OverflowError, OSError):
        return None


def otel_sinks() -> tuple[OtelSink]:
    """The sinks that every trail has; importing this module fails where OpenTelemetry is not installed."""
    return (OtelSink(),)
