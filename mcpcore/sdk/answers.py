"""Answers in the form of the protocol, and the calls that are answered: the same for a `Server` and for FastMCP."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, cast

from mcp.shared.exceptions import MCPError
from mcp_types import CallToolRequestParams, TextContent
from pydantic_core import to_jsonable_python

from mcpcore.boundary.outcome import BrokenContractError, BrokenItem, FailedCall, Outcome
from mcpcore.boundary.request import AnsweredRequest, numbers
from mcpcore.contract.bound_fields import TRACE_FIELD, in_force
from mcpcore.contract.codes import ErrorCode
from mcpcore.contract.effects import CallState
from mcpcore.sdk.errors import chosen_error, protocol_error, protocols_own, trace_id
from mcpcore.sdk.private import session_of
from mcpcore.sdk.refusals import ANSWERED
from mcpcore.values.untrusted import quietly
from mcpcore.values.unwrapping import is_a
from mcpcore.wire.envelope import CANONICAL, Envelope

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mcp.server.mcpserver import Context as SDKContext

    from mcpcore.boundary.script import Boundary
    from mcpcore.contract.unraised import UnraisedFailure
    from mcpcore.values.jsonable import JSON


class ResponseWriter:
    """Writes envelopes for the clients of one server: in its dialect, as results and as errors of the protocol."""

    def __init__(self, boundary: Boundary, fields: Mapping[str, str | None] | None = None) -> None:
        """Answer for `boundary`; `fields` are those that the server binds, and with None no field counts at all."""
        self.boundary = boundary
        self.fields = fields

    def _written(self, envelope: Envelope) -> tuple[dict[str, Any], str]:
        return self.boundary.dialect.write(envelope, limits=self.boundary.mapper.limits)

    def written_result(self, envelope: Envelope) -> dict[str, Any]:
        """The envelope as the result of a tool, in the form of the wire."""
        dialect = self.boundary.dialect
        structured, text = dialect.write(envelope, limits=self.boundary.mapper.limits)
        result: dict[str, Any] = {
            "content": [{"type": "text", "text": text}],
            "structuredContent": structured,
            "isError": dialect.is_error,
            "resultType": "complete",
        }
        if self.boundary.writes_tool_failure:
            result["_meta"] = self.boundary.meta_of(envelope)
        return result

    def result_fields(self, envelope: Envelope) -> dict[str, Any]:
        """The envelope as the fields of a `CallToolResult`."""
        structured, text = self._written(envelope)
        return {
            "content": [TextContent(type="text", text=text)],
            "structured_content": structured,
            "is_error": self.boundary.dialect.is_error,
            "meta": self.boundary.meta_of(envelope),
        }

    def error(self, envelope: Envelope) -> MCPError:
        """The envelope as an error of the protocol."""
        return protocol_error(envelope, self._written(envelope)[0])


class AnsweredCall(AnsweredRequest):
    """A request that is being answered: records its failures, and the failures of its parts."""

    outer: AnsweredCall | None = None
    """The call whose handler made this one."""

    is_over = False
    """Whether the call was answered; a task that its handler started may make further calls."""

    _within: dict[str, Callable[[], Outcome]] | None = None
    """What records the failures of calls that the handler made, by their ids."""

    def __init__(
        self,
        answers: ResponseWriter,
        make: Callable[[], SDKContext[Any, Any]],
        *,
        name: str,
        surface: str = "tool",
        wire: Any,
    ) -> None:
        """Answer the request for `name`, which came over `wire`; `wire` is None for a call by code on the server.

        `make` makes the SDK's context.
        """
        # As the class above does it: calling its `__init__` would cost every request.
        self._make = make
        self.number = next(numbers)
        self.answers = answers
        self.name = name
        self.surface = surface
        self._wire = wire

    def _failed(
        self,
        *,
        state: CallState | None = None,
        lost: Sequence[UnraisedFailure | BrokenItem] = (),
        inner: Envelope | None = None,
    ) -> FailedCall:
        return FailedCall(
            name=self.name,
            contract=self.contract,
            surface=self.surface,
            arguments=self.arguments,
            find_context=None if self.answers.fields is None else self._context,
            state=state,
            lost=lost,
            strictness=self.strictness,
            inner=inner,
        )

    def _context(self, failures: Sequence[BaseException]) -> dict[str, JSON]:
        """The bound fields of the exceptions that answer for a failure, and the trace of the caller."""
        assert self.answers.fields is not None
        context = in_force(self.answers.fields, self.fields or {}, failures)
        wire = self._wire
        http, meta = (None, None) if wire is None else (wire.request, wire.meta)
        if http is not None:
            # The middleware that counts refused requests must not count this one, whose failure is recorded here.
            http.scope[ANSWERED] = True
        if http is not None or (meta and (type(meta) is not dict or "traceparent" in meta)):
            trace = trace_id(meta, getattr(http, "headers", None))
            if trace is not None:
                context[TRACE_FIELD] = trace
        return context

    @property
    def is_strict(self) -> bool:
        """Whether a broken contract fails the call."""
        return (self.strictness or self.answers.boundary.strictness).on

    def failure(
        self, exc: BaseException, lost: Sequence[UnraisedFailure | BrokenItem] = (), *, inner: Envelope | None = None
    ) -> Outcome:
        """The outcome of `exc`, with which the call ended; recorded. `inner` is the failure of a call within it."""
        call = self._failed(state=self.state(), lost=lost, inner=inner)
        if inner is not None:
            self._forget(inner)
        return self.answers.boundary.record_failure(exc, call)

    def ended(
        self, exc: BaseException, lost: Sequence[UnraisedFailure | BrokenItem], *, inner: Envelope | None = None
    ) -> Envelope:
        """The envelope of `exc`, with which the call ended; recorded.

        If the handler of another call made this one, that handler may handle the failure. It is then recorded when the
        other call ends, unless the other call fails with it.
        """
        if self.outer is None or self.outer.is_over:
            return self.failure(exc, lost, inner=inner).envelope
        envelope = self.answers.boundary.envelope_of(exc, self._failed(state=self.state(), inner=inner))
        if inner is not None:
            self._forget(inner)
        waiting = self.outer._within or {}  # noqa: SLF001 - its own
        waiting[envelope.correlation_id] = functools.partial(self.failure, exc, lost, inner=envelope)
        self.outer._within = waiting  # noqa: SLF001 - its own
        return envelope

    def _forget(self, inner: Envelope) -> None:
        if self._within is not None:
            self._within.pop(inner.correlation_id, None)

    def settle(self) -> Outcome | None:
        """Record the failures that the handler handled; the outcome to answer with if one cannot be recorded."""
        refused = None
        while self._within:
            _, record = self._within.popitem()
            outcome = record()
            # The others are recorded all the same.
            if outcome.envelope.reason == "audit_failed":
                refused = outcome
        return refused

    def message_of(self, exc: BaseException) -> str:
        """The text that clients may read of `exc`, a failure that is not recorded yet."""
        return self.answers.boundary.envelope_of(exc, self._failed()).message

    def report_unraised(self, lost: Sequence[UnraisedFailure | BrokenItem]) -> Outcome | None:
        """Report failures that the call lost; the outcome to answer it with, if it may not end as it did."""
        if not lost:
            return None
        return self.answers.boundary.report_lost(self._failed(state=self.state(), lost=lost))

    def unrecorded(self) -> Outcome:
        """The outcome if the call failed, and the trail's policy is to refuse what it cannot record."""
        sent = CallState(self.effects).effects_of(ErrorCode.INTERNAL_ERROR, is_open=True)
        return self.answers.boundary.unrecorded(self._failed(), effects=sent)

    def error(
        self,
        exc: BaseException,
        lost: Sequence[UnraisedFailure | BrokenItem] = (),
        *,
        keep_code: bool = True,
        inner: Envelope | None = None,
    ) -> MCPError:
        """The error of the protocol for `exc`, recorded; an `MCPError` keeps the code that its author chose."""
        step = protocols_own(exc)
        if step is not None:
            refused = self.report_unraised(lost)
            return step if refused is None else self.error_of(refused)
        outcome = self.failure(exc, lost, inner=inner)
        if keep_code and is_a(exc, MCPError) and outcome.exception is exc and not outcome.relayed:
            return chosen_error(cast("MCPError", exc), outcome.envelope.message, self.answers.boundary.mapper.limits)
        return self.error_of(outcome)

    def error_of(self, outcome: Outcome) -> MCPError:
        """The error of the protocol for `outcome`; that of a resource has its URI, as the SDK sends it."""
        error = self.answers.error(outcome.envelope)
        if self.surface == "resource" and self.answers.boundary.dialect.name == CANONICAL:
            error.error.data["uri"] = self.show_value(self.name)
        return error

    def counted(self, envelope: Envelope, params: CallToolRequestParams) -> Envelope:
        """`envelope`, with which the call of a tool ended; from the third identical one on, with their number."""
        repeats = self.answers.boundary.repeats
        session = session_of(self._wire) if repeats.is_on else None
        if session is None:
            return envelope
        # Whatever the arguments or the session are, counting them must not cost the answer.
        return quietly(lambda: repeats.failed(session, _identity(params), envelope), envelope)

    def succeeded(self, params: CallToolRequestParams) -> None:
        """Note that the call of a tool succeeded; only of use once a call has failed."""
        repeats, session = self.answers.boundary.repeats, session_of(self._wire)
        if session is not None:
            changes = self.effects != "none"
            quietly(lambda: repeats.succeeded(session, _identity(params), changes=changes), None)

    def record_item(self, exc: BaseException) -> Envelope:
        """The envelope of a part of the call that failed while the call goes on; recorded like a failed call."""
        outcome = self.answers.boundary.record_failure(exc, self._failed(state=self.state(of_part=True)))
        if type(outcome.exception) is BrokenContractError:
            self.noted().add_item(BrokenItem(outcome))
        return outcome.envelope

    def render_item(self, envelope: Envelope) -> dict[str, Any]:
        """The envelope as a part of an answer."""
        boundary = self.answers.boundary
        structured, _ = boundary.dialect.write(envelope, limits=boundary.mapper.limits)
        return boundary.dialect.render_item(structured, envelope)

    def show_value(self, value: JSON) -> JSON:
        """A value of the caller's as a part of an answer, without unmistakable secrets."""
        limits = self.answers.boundary.mapper.limits
        if not limits.redact_secrets:
            return value
        from mcpcore.wire.redaction import redact_value

        return cast("JSON", redact_value(value, limits.data))


def _identity(params: CallToolRequestParams) -> list[Any]:
    """All that makes a call of a tool the same as another, the answers of the client to questions included."""
    answers = params.input_responses
    return [params.name, params.arguments or {}, answers and to_jsonable_python(answers)]
