"""The one place that handles failures: an exception that leaves a handler becomes an outcome, and leaves a record.

It knows no framework. What belongs to the SDK or to FastMCP, such as their error classes and their results, is in
`mcpcore.sdk` and `mcpcore.integrations`, which register how their errors are read; see `mcpcore.values.unwrapping`. An
answer waits for the records of its call, while the event loop goes on.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from types import MethodType
from typing import Any, Final, Literal, Protocol, TypeVar, cast

from mcpcore.audit import AuditError, AuditTrail
from mcpcore.audit.kinds import LOST
from mcpcore.audit.record import encode_failure
from mcpcore.audit.trail import Call, current_call, settle
from mcpcore.boundary import coverage_hook
from mcpcore.boundary.crash_log import described, log_outcome, log_traced
from mcpcore.boundary.fallbacks import with_tool_names
from mcpcore.boundary.mapper import FailureMapper
from mcpcore.boundary.outcome import (
    BrokenContractError,
    BrokenItem,
    FailedCall,
    Outcome,
    breaches_of,
    described_breaches,
    observe,
)
from mcpcore.boundary.repeats import Repeats
from mcpcore.boundary.strictness import Strictness
from mcpcore.boundary.upstream import UpstreamError
from mcpcore.contract.codes import Effects, ErrorCode
from mcpcore.contract.errors import FrameworkError
from mcpcore.contract.failure_modes import RESERVED_DATA_KEYS
from mcpcore.contract.limits import DEFAULT_LIMITS, Limits
from mcpcore.contract.unraised import UnraisedFailure, log_unraised
from mcpcore.values.jsonable import WIDEST
from mcpcore.values.logs import LOGGER
from mcpcore.values.untrusted import quietly
from mcpcore.values.unwrapping import cause_of, forget_tracebacks, is_a, traceback_slot, unwrapped
from mcpcore.wire.dialects import dialect_named
from mcpcore.wire.envelope import CANONICAL, Envelope
from mcpcore.wire.tool_failure import TOOL_FAILURE, tool_failure

HandleT = TypeVar("HandleT", bound="Callable[..., Coroutine[Any, Any, Any]]")


class AnswersCalls(Protocol):
    """What answers calls: a server, or its middleware. The methods get the positional arguments of the call."""

    @property
    def may_defer(self) -> bool:
        """Whether answers may have to wait for the records of their calls."""
        ...

    def unrecorded(self, *call: Any) -> tuple[Exception, Any]:
        """The error and the answer for a call whose failure could not be recorded, if the trail's policy is to refuse.

        The answer is None where only the error can be sent.
        """
        ...


def recorded_first(handle: HandleT) -> HandleT:
    """Have the answer of `handle`, a method of an `AnswersCalls`, wait until the records of its call are written.

    Where one cannot be written and the policy of the trail is to refuse, the call fails for that reason instead. An
    owner whose answers never wait gets the method itself, since one more coroutine would cost every call.
    """

    @functools.wraps(handle)
    async def recorded(owner: AnswersCalls, *args: Any, **options: Any) -> Any:
        call = Call()
        token = current_call.set(call)
        try:
            try:
                result = await handle(owner, *args, **options)
            except BaseException as exc:
                # Nothing replaces a cancellation or an exit, which are no answers.
                if call and await _is_refused(call) and isinstance(exc, Exception):
                    raise owner.unrecorded(*args)[0] from None
                raise
            finally:
                current_call.reset(token)
            if call and await _is_refused(call):
                error, result = owner.unrecorded(*args)
                if result is None:
                    raise error
            return result
        finally:
            # Tasks that the handler started still have the call in their context.
            call.answered = True

    return cast("HandleT", _Method(handle, recorded))


class _Method:
    """A method that its owner gets in one of two forms."""

    def __init__(self, plain: Callable[..., Any], deferred: Callable[..., Any]) -> None:
        self._plain, self._deferred = plain, deferred

    def __get__(self, owner: AnswersCalls | None, kind: type[Any] | None = None) -> Any:
        if owner is None:
            return self._deferred
        return MethodType(self._deferred if owner.may_defer else self._plain, owner)


async def _is_refused(call: Call) -> bool:
    """Whether the policy withholds the answer of `call`, once its records are written or their time is up."""
    refused = False

    def on_error(exc: Exception) -> None:
        nonlocal refused
        refused = refused or isinstance(exc, AuditError)
        if isinstance(exc, AuditError):
            LOGGER.critical("a failure could not be recorded: %s", exc)
        else:
            log_traced(exc, "recording a failure went wrong")

    await settle(call, on_error)
    return refused


class Boundary:
    """The boundary of one server: maps what leaves a handler to an outcome, and records it before it is answered."""

    def __init__(
        self,
        *,
        server: str,
        expose: bool | Literal["message"] = False,
        limits: Limits = DEFAULT_LIMITS,
        dialect: str = CANONICAL,
        audit: AuditTrail | str | os.PathLike[str] | None = None,
        strictness: Strictness | None = None,
        renaming: Callable[[BaseException], Callable[[str], str] | None] | None = None,
        tool_failure_meta: bool = False,
        repeat_notice: bool = True,
    ) -> None:
        """Prepare to map and to record failures.

        `renaming` takes a failure and returns what turns the name of a tool in its recovery into the client's name, or
        None if the names stay.

        Raises:
            ValueError: If there is no such dialect.
            AuditError: If the trail cannot be used and its policy is to refuse.
        """
        self.mapper = FailureMapper(limits=limits, expose=expose)
        self.trail = AuditTrail.from_options(audit)
        self.dialect = dialect_named(dialect)
        self.strictness = strictness or Strictness()
        # The other dialects have no place for it.
        self.repeats = Repeats(is_on=repeat_notice and dialect == CANONICAL)
        self._renaming = renaming
        self._server = server
        self._room = limits.data // (2 * WIDEST)
        self.writes_tool_failure = tool_failure_meta and self.dialect.is_error

    def record_failure(self, exc: BaseException, call: FailedCall) -> Outcome:
        """The outcome of `exc`, with which `call` failed, recorded.

        If it cannot be recorded and the trail's policy is to refuse, the outcome says so instead.
        """
        outcome = self.mapper.outcome(exc, call)
        is_of_call = call.surface != "server"  # whoever runs the server prints the exception that it ends with
        if is_of_call:
            if coverage_hook.observer is not None:
                # Before a strict server replaces the outcome, since the handler did raise this reason.
                observe(outcome, call)
            if (outcome.breaches or call.lost) and (call.strictness or self.strictness).on:
                # The record has the traceback of the failure itself, and of its causes only the texts.
                ended = outcome.exception
                trace = quietly(lambda: traceback_slot.__get__(unwrapped(ended)), None)
                broken = BrokenContractError.of(outcome, call.lost).with_traceback(trace)
                # The new error is no group, so that its own outcome has no others.
                others = outcome.others
                outcome = self.mapper.outcome(broken, call)
                outcome.others = others
            elif call.lost:
                refused = self._record_lost(call)
                if refused is not None:
                    return refused
            if not outcome.expected or outcome.breaches or outcome.others:
                log_outcome(outcome, call.name)
        if self._renaming is not None or call.inner is not None:
            outcome.envelope = self._named(outcome, call)
        if not self._record(outcome, call.surface):
            return self.unrecorded(call, effects=outcome.envelope.effects)
        if is_of_call:
            forget_tracebacks(exc)
            if type(outcome.exception) is BrokenContractError:
                traceback_slot.__set__(outcome.exception, None)
        return outcome

    def envelope_of(self, exc: BaseException, call: FailedCall) -> Envelope:
        """The envelope of `exc`, with which `call` failed, before anything is recorded."""
        return self._named(self.mapper.outcome(exc, call), call)

    def _named(self, outcome: Outcome, call: FailedCall) -> Envelope:
        """The envelope of `outcome`, with the names by which the client knows tools."""
        envelope, inner = outcome.envelope, call.inner
        if inner is not None:
            envelope = replace(envelope, correlation_id=inner.correlation_id)
            if envelope.recovery is not None and inner.recovery is not None and envelope.reason not in call.contract:
                return replace(envelope, data={**(envelope.data or {}), "recovery": dict(inner.recovery)})
        rename = None if self._renaming is None else self._renaming(outcome.exception)
        return envelope if rename is None else with_tool_names(envelope, rename)

    def meta_of(self, envelope: Envelope) -> dict[str, Any] | None:
        """The `_meta` of a failed result: the draft `ToolFailure`, if clients shall get it; None without any."""
        return {TOOL_FAILURE: tool_failure(envelope)} if self.writes_tool_failure else None

    def record_relayed(self, envelope: Envelope, call: FailedCall) -> bool:
        """Record the failure of another server that is passed on unchanged, with its id.

        Returns:
            False if it cannot be recorded and the trail's policy is to refuse.
        """
        named = replace(envelope, tool=call.name)
        outcome = Outcome(envelope=named, exception=UpstreamError(envelope), expected=True, relayed=True)
        return self._record(outcome, call.surface)

    def report_lost(self, call: FailedCall) -> Outcome | None:
        """Log and record the failures that `call` lost, which ended without a failure.

        Returns:
            The outcome to answer the call with; None if it may end as it did. It may not on a strict server, or if a
            record cannot be written and the trail's policy is to refuse.
        """
        if not (call.strictness or self.strictness).on:
            return self._record_lost(call)
        first = call.lost[0]
        # Broken items come after lost failures, so that all others are broken items too.
        return first.outcome if isinstance(first, BrokenItem) else self.record_failure(first.error, call)

    def unrecorded(self, call: FailedCall, *, effects: Effects | None = None) -> Outcome:
        """The outcome of a failure that has these effects and cannot be recorded, if the policy is to refuse."""
        failure = FrameworkError(
            ErrorCode.INTERNAL_ERROR,
            f"The {call.surface} failed, and the failure could not be recorded.",
            reason="audit_failed",
            recovery="Tell whoever runs the server that its audit trail cannot be written.",
            effects=effects,
        )
        return self.mapper.outcome(failure, replace(call, state=None, code=None))

    def _record_lost(self, call: FailedCall) -> Outcome | None:
        """Log and record the lost failures of `call`; the outcome to answer it with if they cannot be recorded."""
        lost = [failure for failure in call.lost if isinstance(failure, UnraisedFailure)]
        log_unraised(lost, str(call.name))
        unknown_state = replace(call, state=None)
        for failure, count in _counted(lost):
            if not self.trail.listens(failure.identity[0]):
                continue
            outcome = self.mapper.outcome(failure.error, unknown_state)
            outcome.breaches = [*outcome.breaches, *breaches_of([failure])]
            if not self._record(outcome, call.surface, outcome_kind=LOST, count=count):
                return self.unrecorded(call)
        return None

    def _record(self, outcome: Outcome, surface: str, *, outcome_kind: str | None = None, count: int = 0) -> bool:
        """Record `outcome`; False if it cannot be recorded and the policy is to refuse."""
        correlation_id = outcome.envelope.correlation_id
        try:
            if self.trail.listens(outcome.envelope.name):
                record, text = self._record_of(outcome, surface)
                if outcome_kind is not None:
                    record |= {"outcome": outcome_kind, "count": count}
                # An application may look at the records that its own trail gets, or change them.
                is_own = getattr(self.trail.record, "__func__", None) is _RECORD
                self.trail.record(record, text) if is_own else self.trail.record(record)
        except AuditError as failed:
            LOGGER.critical("the failure %s could not be recorded: %s", correlation_id, failed)
            return False
        except KeyboardInterrupt:
            raise
        except BaseException as failed:  # noqa: BLE001 - an application's filter or sink must not cost the answer
            # It was raised while the handler's own failure was handled, and has that with all its secrets behind it.
            log_traced(failed, "recording the failure %s went wrong", correlation_id)
        return True

    def _record_of(self, outcome: Outcome, surface: str) -> tuple[dict[str, Any], str | None]:
        """The record of `outcome`, and its JSON if that can be made of the parts of its envelope."""
        envelope, exc = outcome.envelope, outcome.exception
        record: dict[str, Any] = {
            "timestamp": envelope.timestamp,
            "surface": surface,
            "code": envelope.code,
            "name": envelope.name,
            "retry": envelope.retry.to_json(),
            "correlationId": envelope.correlation_id,
            "server": self._server,
        }
        if envelope.effects is not None:
            record["effects"] = envelope.effects
        record[surface] = envelope.tool
        record["reason"] = envelope.reason
        record["message"] = envelope.message
        if envelope.context:
            record["context"] = envelope.context
        if envelope.data:
            details = {key: value for key, value in envelope.data.items() if key not in RESERVED_DATA_KEYS}
            if details:
                record["data"] = details
        # Whatever follows is not among the parts that an envelope keeps of its text.
        parts = len(record)
        is_chained = cause_of(exc) is not None and not is_a(exc, FrameworkError)
        if not outcome.expected or is_chained or outcome.others:
            exposed = described(exc)
            trace = exposed.pop("traceback")
            record["exception"] = exposed
            if not outcome.expected:
                record["traceback"] = trace
        if outcome.breaches:
            record["broken_contract"] = described_breaches(outcome.breaches)
            record["broken_contract_kinds"] = [*dict.fromkeys(breach.kind for breach in outcome.breaches)]
        if outcome.others:
            record["others"] = outcome.others
        if outcome.relayed:
            record["relayed"] = True
        if envelope.injected:
            record["injected"] = True
        # The builder of the envelope may have written the data already.
        known = vars(envelope).get("_parts") if len(record) == parts else None
        written = None if known is None else known[1]
        # A longer one may have been cut, and records lack this key.
        is_known = written is not None and len(written) <= self._room and "fallbackTool" not in written
        return record, encode_failure(record, written or "") if is_known else None


_RECORD: Final = AuditTrail.record


def _counted(lost: Sequence[UnraisedFailure]) -> list[tuple[UnraisedFailure, int]]:
    """The first of the lost failures that the same code made with the same reason, and how many of them there are."""
    groups: dict[tuple[object, ...], list[UnraisedFailure]] = {}
    for failure in lost:
        groups.setdefault((failure.code, failure.offset, *failure.identity), []).append(failure)
    return [(group[0], len(group)) for group in groups.values()]
