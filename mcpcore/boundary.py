"""The one place that catches: whatever leaves a handler becomes a result or an envelope, and leaves a record.

What the client may see and what the log may see part on the first line: a `Verdict` holds the envelope, which goes out,
and the exception, which never does.
"""

from __future__ import annotations

import asyncio
import functools
import logging
import math
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

import anyio

from mcpcore.audit import AuditError
from mcpcore.breaches import (
    Breach,
    BrokenContractError,
    BrokenItem,
    described_breaches,
    kinds_of,
    record_lost,
)
from mcpcore.codes import BASELINE, Code, ErrorCode
from mcpcore.contract import RESERVED_DATA_KEYS, Contract, ContractError, UndeclaredReasonError
from mcpcore.effects import declared_effects, settled, weakest
from mcpcore.envelope import CANONICAL, Envelope, Facts, envelope, facts_of
from mcpcore.errors import CodedError, FrameworkError
from mcpcore.fallbacks import with_fallback
from mcpcore.foreign import quietly
from mcpcore.jsonable import JSON, named, safe_str
from mcpcore.limits import DEFAULT_LIMITS, Limits
from mcpcore.strictness import Strictness
from mcpcore.upstream import UpstreamError, failure_carried_by

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import FrameType, ModuleType

    from mcp_types import CallToolResult

    from mcpcore.audit import AuditTrail
    from mcpcore.codes import Effects
    from mcpcore.contract import FailureMode
    from mcpcore.effects import CallState
    from mcpcore.lost import LostFailure
    from mcpcore.retry import Retry

_LOGGER: Final = logging.getLogger("mcpcore")

_MAX_LEAVES: Final = 1_000
"""Members of a group that are looked at."""


# Not frozen, as nothing outside gets hold of it: that is most of what importing this module would cost.
@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Verdict:
    """What became of an exception."""

    envelope: Envelope
    """For the client."""

    exception: BaseException
    """For the log alone."""

    expected: bool
    """Whether somebody meant it: a coded error, bad arguments, the SDK's own errors; a crash is not."""

    breaches: Sequence[Breach] = ()
    """How the failure violates its contract."""

    others: int = 0
    """Failures of the same group that are not told."""

    relayed: bool = False
    """Whether another server failed, and this one passes its failure on."""


@dataclass(slots=True, eq=False, repr=False)
class _Case:
    """What a verdict is about."""

    exception: BaseException
    contract: Contract[Any]
    name: str | None
    context: Mapping[str, Any] | None
    code: Code | None
    surface: str
    call: CallState | None
    others: Effects | None = "none"
    """The effects of the other failures of the same group."""


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Judge:
    """Turns exceptions into envelopes, by the rules of one server."""

    limits: Limits = DEFAULT_LIMITS
    expose: bool = False

    def verdict(
        self,
        exc: BaseException,
        *,
        contract: Contract[Any],
        name: str | None,
        context: Mapping[str, Any] | None = None,
        code: Code | None = None,
        surface: str = "tool",
        call: CallState | None = None,
    ) -> Verdict:
        """What `exc`, raised under `contract`, is to the client and to the log; never raises.

        With `code`, that is the code of every exception that is not a `CodedError`; with `call`, the envelope has the
        effects that follow from the annotations of the tool.
        """
        exc = returned_failure(exc)
        case = _Case(exc, contract, name, context, code, surface, call)
        try:
            chosen, others = _chosen(exc, contract)
            if others:
                case.others = _effects_of_others(exc, chosen, case)
            verdict = self._judged(chosen, case)
        except KeyboardInterrupt:
            raise
        except BaseException as failed:  # noqa: BLE001 - a hostile exception is reported as a crash, and ends no server
            code = ErrorCode.INTERNAL_ERROR
            effects, retry = settled(call, code, code.retry, crashed=True)
            told = envelope(
                code,
                code.sentence,
                retry=retry,
                effects=effects,
                tool=name,
                masked=True,
                context=context,
                limits=self.limits,
            )
            broken = Breach("other", f"the failure could not be told: {safe_str(failed)}")
            return Verdict(envelope=told, exception=exc, expected=False, breaches=(broken,))
        return replace(verdict, others=others) if others else verdict

    def _judged(self, chosen: BaseException, case: _Case) -> Verdict:
        if is_protocol_error(chosen):
            chosen = failure_carried_by(chosen) or chosen
        if is_a(chosen, CodedError):
            return self._coded(cast("CodedError", chosen), case)
        spoken = _spoken(chosen) if case.code is None else None
        if spoken is not None:
            code, message, data = spoken
            told = self._envelope(case, code, message, retry=code.retry, data=data)
            return Verdict(envelope=told, exception=case.exception, expected=True)
        code, retry = _classified(chosen) if case.code is None else (case.code, case.code.retry)
        if code is ErrorCode.NOT_FOUND and case.surface != "tool":
            # There, the sentence of that code would say that the resource or the prompt itself does not exist.
            code, retry = ErrorCode.INTERNAL_ERROR, ErrorCode.INTERNAL_ERROR.retry
        message = code.sentence
        if self.expose:
            # Redacted as its traceback is, by names too: nobody wrote this text for a client.
            message = _traces().message_of(chosen) or named(chosen)
        told = self._envelope(case, code, message, retry=retry, crashed=True, masked=not self.expose)
        breaches: Sequence[Breach] = ()
        if type(chosen) is BrokenContractError:
            breaches = chosen.breaches
        elif is_a(chosen, ContractError):
            # The log and the record name the tool already.
            text = safe_str(chosen).removeprefix(f"tool {case.name!r}: ")
            breaches = (Breach("undeclared_reason" if is_a(chosen, UndeclaredReasonError) else "other", text),)
        return Verdict(envelope=told, exception=case.exception, expected=False, breaches=breaches)

    def _coded(self, error: CodedError, case: _Case) -> Verdict:
        problems: list[Breach] = []
        misused: list[str] = []
        by_framework = isinstance(error, FrameworkError)
        entry = None if by_framework else case.contract.get(error.reason)
        if entry is not None and error.entry is not entry:
            error.declare(entry)
        facts = None if error.data is None else facts_of(error.data, self.limits)
        if not by_framework:
            if entry is not None:
                if error.code != entry.code or entry.data is not None:
                    problems += _violations(error, entry, facts)
            elif error.sent_reason is not None and len(case.contract):
                problems.append(Breach("undeclared_reason", f"the reason {error.reason!r} is not declared"))
            if facts is not None and (misused := error.misused_keys(facts.json)):
                problems.append(Breach("data", _misuse(misused)))
            if error.unusable_advice is not None:
                problems.append(Breach("other", error.unusable_advice))
        told = self._envelope(
            case,
            error.code,
            error.message,
            retry=error.advice,
            error=error,
            data=facts,
            dropped=misused,
            reason=error.sent_reason,
            recovery=error.recovery,
            entry=error.entry,
        )
        relayed = is_a(error, UpstreamError)
        if relayed:
            told = cast("UpstreamError", error).identified(told)
        return Verdict(envelope=told, exception=case.exception, expected=True, breaches=problems, relayed=relayed)

    def _envelope(
        self,
        case: _Case,
        code: Code,
        message: str,
        *,
        retry: Retry,
        data: object = None,
        error: CodedError | None = None,
        crashed: bool = False,
        **rest: Any,
    ) -> Envelope:
        effects, retry = settled(case.call, code, retry, error=error, crashed=crashed, others=case.others)
        if self.expose:
            facts = data if type(data) is Facts else facts_of({} if data is None else data, self.limits)
            data = {**facts.json, "exception": described(case.exception)}
        return envelope(
            code,
            message,
            retry=retry,
            effects=effects,
            tool=case.name,
            data=data,
            context=case.context,
            limits=self.limits,
            **rest,
        )


def _effects_of_others(exc: BaseException, chosen: BaseException, case: _Case) -> Effects | None:
    """The effects of the failures in the group `exc` without the chosen one."""
    return weakest(_effects_of(leaf, case) for leaf in map(unwrapped, leaves_of(unwrapped(exc))) if leaf is not chosen)


def _effects_of(exc: BaseException, case: _Case) -> Effects | None:
    code: Code | None = None
    if is_a(exc, CodedError):
        error = cast("CodedError", exc)
        entry = case.contract.get(error.reason)
        effects = declared_effects(error)
        if effects is None and entry is not None and not error.omits_effects:
            effects = entry.effects
        if effects is not None:
            return effects
        code = error.code
    elif (spoken := _spoken(exc)) is not None:
        code = spoken[0]
    if case.call is None:
        return None
    return case.call.effects_of(code or ErrorCode.INTERNAL_ERROR, crashed=code is None)


def _violations(error: CodedError, entry: FailureMode[Any], facts: Facts | None) -> Iterator[Breach]:
    """How a failure violates the entry that declares its reason."""
    if error.code != entry.code:
        text = f"{error.reason!r} is declared as {entry.code.name} and was raised as {error.code.name}"
        yield Breach("wrong_code", text)
        return
    sent = None if facts is None else facts.json
    misfit = quietly(lambda: entry.check_data(error.data, sent=sent, dumped=error.is_dumped), "it cannot be read")
    if misfit is not None:
        yield Breach("data", f"the data of {error.reason!r} breaks its model: {misfit}")


def _misuse(keys: list[str]) -> str:
    listed = ", ".join(map(repr, keys))
    return (
        f"data has {listed}, which only the contract may fill: the values were dropped; use the reason, recovery and "
        "retry options, call ctx.recovery_for(...), or choose another name"
    )


class Boundary:
    """The boundary of one server: judges what leaves a handler, records it, and only then answers."""

    def __init__(
        self,
        *,
        server: str,
        expose: bool = False,
        limits: Limits = DEFAULT_LIMITS,
        dialect: str = CANONICAL,
        audit: AuditTrail | str | os.PathLike[str] | None = None,
        strictness: Strictness | None = None,
        rename: Callable[[BaseException, str], str] | None = None,
    ) -> None:
        """Prepare to judge and to record.

        `rename` takes a failure and the name of its fallback tool, and returns the client's name of that tool.

        Raises:
            ValueError: If there is no such dialect.
            AuditError: If the trail cannot be used and its policy is to refuse.
        """
        from mcpcore.audit import AuditTrail
        from mcpcore.audit.record import JsonRecord
        from mcpcore.dialects import dialect_named

        self.judge = Judge(limits=limits, expose=expose)
        self.trail = AuditTrail.from_options(audit)
        self.dialect = dialect_named(dialect)
        self.strictness = strictness or Strictness()
        self._rename = rename
        self._server = server
        self._json_record = JsonRecord

    def answer(
        self,
        exc: BaseException,
        *,
        contract: Contract[Any],
        name: str,
        context: Mapping[str, Any] | None = None,
        lost: Sequence[LostFailure | BrokenItem] = (),
        call: CallState | None = None,
    ) -> CallToolResult:
        """The result that tells a client of `exc`, recorded first; never raises."""
        verdict = self.judged(exc, contract=contract, name=name, context=context, lost=lost, call=call)
        return self.result(verdict.envelope)

    def judged(
        self,
        exc: BaseException,
        *,
        contract: Contract[Any],
        name: str,
        context: Mapping[str, Any] | None = None,
        surface: str = "tool",
        code: Code | None = None,
        lost: Sequence[LostFailure | BrokenItem] = (),
        strictness: Strictness | None = None,
        call: CallState | None = None,
    ) -> Verdict:
        """The verdict on `exc`, recorded; where it cannot be and the policy is to refuse, a verdict that says so.

        With `lost`, the failures that the call lost are reported first. `strictness` replaces the server's own.
        """
        judged = functools.partial(
            self.judge.verdict, contract=contract, name=name, context=context, surface=surface, call=call
        )
        verdict = judged(exc, code=code)
        if surface != "server":  # raised on, for whoever runs the server to print
            if (verdict.breaches or lost) and (strictness or self.strictness).on:
                # The record has the traceback of the failure itself, and of its causes only the texts.
                ended = verdict.exception
                trace = quietly(lambda: _traceback.__get__(unwrapped(ended)), None)
                broken = BrokenContractError.of(verdict, lost).with_traceback(trace)
                others = verdict.others
                verdict = judged(broken)
                verdict.others = others
            elif lost:
                refused = record_lost(self, lost, contract=contract, name=name, context=context, surface=surface)
                if refused is not None:
                    return refused
            if not verdict.expected or verdict.breaches or verdict.others:
                _log(verdict, name)
        if self._rename is not None:
            verdict.envelope = with_fallback(verdict.envelope, functools.partial(self._rename, verdict.exception))
        if not self.recorded(verdict, surface):
            effects = verdict.envelope.effects
            return self.unrecorded(contract=contract, name=name, context=context, effects=effects)
        if surface != "server":
            _forget_tracebacks(exc)
            if type(verdict.exception) is BrokenContractError:
                _traceback.__set__(verdict.exception, None)
        return verdict

    def report_lost(
        self,
        lost: Sequence[LostFailure | BrokenItem],
        *,
        contract: Contract[Any],
        name: str,
        context: Mapping[str, Any] | None = None,
        surface: str = "tool",
        strictness: Strictness | None = None,
        call: CallState | None = None,
    ) -> Verdict | None:
        """Log and record the failures that a call lost which ended without a failure.

        Returns:
            The verdict to answer the call with; None if it may end as it did. It may not on a strict server, or where a
            record cannot be written and the policy is to refuse.
        """
        if not (strictness or self.strictness).on:
            return record_lost(self, lost, contract=contract, name=name, context=context, surface=surface)
        first = lost[0]
        if isinstance(first, BrokenItem):  # so are the others, which come after lost failures
            return first.verdict
        return self.judged(
            first.error,
            contract=contract,
            name=name,
            context=context,
            surface=surface,
            lost=lost,
            strictness=strictness,
            call=call,
        )

    def recorded(self, verdict: Verdict, surface: str, **facts: object) -> bool:
        """Record `verdict` with `facts`; False where it cannot be and the policy is to refuse."""
        try:
            if self.trail.listens(verdict.envelope.name):
                record = self._record(verdict, surface)
                record.update(facts)
                self.trail.record(record)
        except AuditError as failed:
            _LOGGER.critical("the failure %s could not be recorded: %s", verdict.envelope.correlation_id, failed)
            return False
        except KeyboardInterrupt:
            raise
        except BaseException as failed:  # noqa: BLE001 - a filter or a sink of the application's must not cost the answer
            # It was raised while the handler's own failure was handled, and has that with all its secrets behind it.
            _log_crash(failed, "recording the failure %s went wrong", verdict.envelope.correlation_id)
        return True

    def unrecorded(
        self,
        *,
        contract: Contract[Any],
        name: str,
        context: Mapping[str, Any] | None = None,
        effects: Effects | None = None,
    ) -> Verdict:
        """The verdict where the policy is to refuse and a failure, which has these effects, cannot be recorded."""
        return self.judge.verdict(_unrecorded(effects), contract=contract, name=name, context=context)

    def result(self, envelope: Envelope) -> CallToolResult:
        """The envelope as the result of a call, in the server's dialect."""
        from mcp_types import CallToolResult, TextContent

        structured, text = self.dialect.write(envelope, limits=self.judge.limits)
        return CallToolResult(
            content=[TextContent(type="text", text=text)],
            structured_content=structured,
            is_error=self.dialect.is_error,
        )

    def _record(self, verdict: Verdict, surface: str) -> dict[str, Any]:
        told, exc = verdict.envelope, verdict.exception
        record: dict[str, Any] = self._json_record(
            timestamp=told.timestamp,
            surface=surface,
            code=told.code,
            name=told.name,
            retry=told.retry.to_json(),
            correlationId=told.correlation_id,
            server=self._server,
        )
        if told.effects is not None:
            record["effects"] = told.effects
        record[surface] = told.tool
        record["reason"] = told.reason
        record["message"] = told.message
        if told.context:
            record["context"] = told.context
        if told.data:
            details = dict(told.data)
            for key in RESERVED_DATA_KEYS:
                details.pop(key, None)
            if details:
                record["data"] = details
        told_by_framework = is_a(exc, FrameworkError)
        if not verdict.expected or (_cause(exc) is not None and not told_by_framework) or verdict.others:
            exposed = described(exc)
            trace = exposed.pop("traceback")
            record["exception"] = exposed
            if not verdict.expected:
                record["traceback"] = trace
        if verdict.breaches:
            record["broken_contract"] = described_breaches(verdict.breaches)
            record["broken_contract_kinds"] = kinds_of(verdict.breaches)
        if verdict.others:
            record["others"] = verdict.others
        if verdict.relayed:
            record["relayed"] = True
        return record


def _log(verdict: Verdict, name: str) -> None:
    identity = verdict.envelope.correlation_id
    try:
        if verdict.breaches:
            broken = _clean(described_breaches(verdict.breaches))
            if type(verdict.exception) is BrokenContractError:
                cause = _cause(verdict.exception) or verdict.exception
                _log_crash(unwrapped(cause), "%r broke its contract: %s (id %s)", name, broken, identity)
                return
            _LOGGER.warning("%r broke its contract: %s (id %s)", name, broken, identity)
        if verdict.others:
            _LOGGER.warning("%r failed in %d more ways at once (id %s)", name, verdict.others, identity)
        if not verdict.expected:
            _log_crash(unwrapped(verdict.exception), "%r failed unexpectedly (id %s)", name, identity)
    except KeyboardInterrupt:
        raise
    except BaseException as failed:  # noqa: BLE001 - a handler's formatting calls the exception's own code
        _LOGGER.error("%r failed unexpectedly (id %s); its traceback raised %s", name, identity, type(failed).__name__)  # noqa: TRY400


def _clean(text: str) -> str:
    from mcpcore.escaping import one_line
    from mcpcore.redaction import redact_cut

    return one_line(redact_cut(text, 2_000))


def log_recording(failed: Exception) -> None:
    """Log that a record which had to wait for the trail could not be written, or that writing it went wrong."""
    if isinstance(failed, AuditError):
        _LOGGER.critical("a failure could not be recorded: %s", failed)
    else:
        _log_crash(failed, "recording a failure went wrong")


def _log_crash(exc: BaseException, message: str, *args: object) -> None:
    if _LOGGER.isEnabledFor(logging.ERROR):
        _traces().log_crash(_LOGGER, logging.ERROR, exc, traced(exc), message, *args)


def _unrecorded(effects: Effects | None) -> FrameworkError:
    return FrameworkError(
        ErrorCode.INTERNAL_ERROR,
        "The tool failed, and the failure could not be recorded.",
        reason="audit_failed",
        recovery="Tell whoever runs the server that its audit trail cannot be written.",
        effects=effects,
    )


# Read past the class: an exception may define attributes of these names that raise or lie.
_cause: Final[Callable[[BaseException], BaseException | None]] = cast(
    "Any", BaseException.__dict__["__cause__"]
).__get__
cause_of: Final = _cause
_context_of: Final = cast("Any", BaseException.__dict__["__context__"]).__get__
_suppresses: Final = cast("Any", BaseException.__dict__["__suppress_context__"]).__get__
_traceback: Final = cast("Any", BaseException.__dict__["__traceback__"])
_members_of: Final = cast("Any", BaseExceptionGroup.__dict__["exceptions"]).__get__


def is_a(exc: BaseException, kind: type[BaseException] | tuple[type[BaseException], ...]) -> bool:
    """`isinstance`, by the type alone: an exception may say that its `__class__` is another, or raise when asked."""
    return issubclass(type(exc), kind)


def _behind(exc: BaseException) -> BaseException | None:
    """The cause of `exc`, or what was being handled when it was raised."""
    return _cause(exc) or (None if _suppresses(exc) else _context_of(exc))


def _forget_tracebacks(exc: BaseException) -> None:
    """Take the tracebacks off an answered exception, its causes and its members.

    Python adds the frames of each raise to those that the object already has. Without this, an exception that is made
    once and raised in many calls would keep the frames of all of them alive, with everything that they hold.
    """
    stack, seen = [exc], {id(exc)}
    running: set[int] | None = None
    while stack and len(seen) < _MAX_LEAVES:
        current = stack.pop()
        trace = _traceback.__get__(current)
        if trace is not None:
            if current is not exc and running is None:
                running = _running_frames()
            # The code that called the server may be handling another exception, which is then a context here.
            if current is exc or running is None or id(trace.tb_frame) not in running:
                _traceback.__set__(current, None)
        members = _members_of(current) if is_a(current, BaseExceptionGroup) else ()
        for behind in (_cause(current), _context_of(current), *members):
            if behind is not None and id(behind) not in seen:
                seen.add(id(behind))
                stack.append(behind)


def _running_frames() -> set[int]:
    frames: set[int] = set()
    frame: FrameType | None = sys._getframe()  # noqa: SLF001 - a public function by a private name
    while frame is not None:
        frames.add(id(frame))
        frame = frame.f_back
    return frames


_EXITS: Final = (KeyboardInterrupt, GeneratorExit)


def passes_through(exc: BaseException) -> bool:
    """Whether `exc` is no failure: the cancellation of this very call, or an exit that must not be caught."""
    if is_a(exc, Exception):
        return False
    leaves = list(leaves_of(exc))
    if any(is_a(leaf, _EXITS) for leaf in leaves):
        return True
    cancelled = anyio.get_cancelled_exc_class()
    return bool(leaves) and all(is_a(leaf, cancelled) for leaf in leaves) and _being_cancelled(cancelled)


def described(exc: BaseException) -> dict[str, JSON]:
    """An exception for those who may see everything but secrets: its type, text, causes and traceback."""
    traces = _traces()
    name, message = traces.type_name(exc), traces.message_of(exc)
    causes: list[JSON] = []
    if _behind(exc) is not None:
        causes += ({"type": traces.type_name(cause), "message": traces.message_of(cause)} for cause in _causes(exc))
    told: dict[str, JSON] = traces.Searched(
        type=name, message=message, causes=causes, traceback=traces.traceback_of(exc, name, message)
    )
    traces.forget()
    return told


@functools.cache
def _traces() -> ModuleType:
    # Once: an import within a function takes longer than most of what is done here, and above it every start would.
    from mcpcore.audit import traces

    return traces


def _causes(exc: BaseException) -> Iterator[BaseException]:
    """What is behind `exc`, one after the other."""
    seen = {id(exc)}
    cause = _behind(exc)
    while cause is not None and id(cause) not in seen and len(seen) <= _MAX_CAUSES:
        seen.add(id(cause))
        yield cause
        cause = _behind(cause)


_BECAUSE: Final = "\nThe above exception was the direct cause of the following exception:\n\n"
_DURING: Final = "\nDuring handling of the above exception, another exception occurred:\n\n"


def traced(exc: BaseException, *, depth: int = 3) -> str:
    """The tracebacks of `exc`, of what is behind it and of its members, in Python's order and without secrets."""
    traceback_of = _traces().traceback_of
    parts: list[str] = []
    chain = [exc, *_causes(exc)]
    for one in reversed(chain):
        parts.append(traceback_of(one))
        if is_a(one, BaseExceptionGroup) and depth:
            members = _members_of(one)
            for number, member in enumerate(members[:_MAX_SHOWN], 1):
                text = traced(member, depth=depth - 1)
                parts.append(f"  --- {number} of {len(members)} ---\n" + "".join(f"  {t}\n" for t in text.splitlines()))
        if one is not exc:
            after = chain[chain.index(one) - 1]
            parts.append(_BECAUSE if _cause(after) is one else _DURING)
    return "".join(parts)[-_MAX_LOGGED:].rstrip("\n")


_MAX_SHOWN: Final = 15
_MAX_LOGGED: Final = 64_000
_MAX_CAUSES: Final = 10


def _being_cancelled(cancelled: type[BaseException]) -> bool:
    """Whether the task that runs now is being cancelled, by a scope of anyio's or by asyncio itself.

    A `CancelledError` in a task that nobody cancels comes from something that the handler waited for; it is a
    failure like any other. Trio raises its own in nothing but a cancelled task.
    """
    if cancelled is not asyncio.CancelledError or anyio.current_effective_deadline() == -math.inf:
        return True
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def leaves_of(exc: BaseException) -> Iterator[BaseException]:
    """The exceptions in a group, in order, whatever it nests; `exc` itself where it is none."""
    stack, seen, found = [exc], set(), 0
    while stack and found < _MAX_LEAVES:
        one = stack.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if is_a(one, BaseExceptionGroup):
            stack.extend(reversed(_members_of(one)))
        else:
            found += 1
            yield one


def chosen_of(exc: BaseException, contract: Contract[Any]) -> BaseException:
    """The exception that speaks for `exc` under `contract`: of a group, the most specific declared one."""
    return _chosen(exc, contract)[0]


def _chosen(exc: BaseException, contract: Contract[Any]) -> tuple[BaseException, int]:
    """The exception that speaks for `exc`, and how many of the same group do not."""
    exc = unwrapped(exc)
    if not is_a(exc, BaseExceptionGroup):
        return exc, 0
    leaves = [unwrapped(leaf) for leaf in leaves_of(exc)]
    best = min(leaves, key=lambda leaf: _rank(leaf, contract))
    if _rank(best, contract)[0] >= _UNDECLARED:
        return (best, 0) if len(leaves) == 1 else (exc, len(leaves) - 1)
    return best, len(leaves) - 1


_UNDECLARED: Final = 5


def _rank(exc: BaseException, contract: Contract[Any]) -> tuple[int, bool]:
    """How much an exception of a group has to say: least first."""
    if is_a(exc, CodedError):
        error = cast("CodedError", exc)
        entry = contract.get(error.reason)
        general = error.code in BASELINE
        if entry is not None:
            return (0 if entry.code == error.code else 1), general
        return (2 if error.reason is not None else 3), general
    return (4, False) if _spoken(exc) is not None else (_UNDECLARED, False)


class ErrorReader(Protocol):
    """Reads the errors of a framework; an integration adds its own to `ERROR_READERS`."""

    def wrapped_by(self, exc: BaseException) -> BaseException | None:
        """The exception that `exc`, an error of the framework, was made of and merely repeats; None for any other."""

    def spoken_by(self, exc: BaseException) -> tuple[Code, str, Any] | None:
        """The code, text and data of an error of the framework that is meant to be read; None for any other."""


ERROR_READERS: Final[list[ErrorReader]] = []
"""The readers of frameworks other than the SDK that this program uses."""


def unwrapped(exc: BaseException) -> BaseException:
    """The exception that a framework wrapped: whatever left a tool or a resource that was called in turn."""
    exc = returned_failure(exc)
    for _ in range(_MAX_WRAPPERS):
        inner = _wrapped(exc)
        if inner is None:
            break
        exc = returned_failure(inner)
    return exc


def _wrapped(exc: BaseException) -> BaseException | None:
    for reader in ERROR_READERS:
        inner = reader.wrapped_by(exc)
        if inner is not None:
            return inner
    exceptions = sys.modules.get("mcp.server.mcpserver.exceptions")
    if exceptions is None:
        return None
    cause = _cause(exc)
    crashes = (exceptions.UnexpectedToolError, exceptions.UnexpectedResourceError)
    if cause is None or not (is_a(exc, crashes) or _relays(exc, cause, exceptions.ToolError)):
        return None
    # Arguments that did not fit a tool which the handler called are the handler's own doing, not its caller's.
    return _cause(cause) or cause if is_a(cause, FrameworkError) else cause


_MAX_WRAPPERS: Final = 20


class Relayed(Exception):  # noqa: N818 - a mark, not raised as such
    """An error of the SDK's kind that tells of another, its cause, and says nothing of its own."""


class ReturnedError(Exception):
    """A failure that a handler returned instead of raising it, on its way to the boundary."""

    def __init__(self, failure: BaseException) -> None:
        """Carry `failure`: an exception, or a group of all that were within a result."""
        super().__init__("a failure was returned, not raised")  # its own text may be asked for before it is judged
        self.failure = failure


def returned_failure(exc: BaseException) -> BaseException:
    """The failure that a `ReturnedError` carries; any other exception as it is."""
    return exc.failure if type(exc) is ReturnedError else exc


class BrokenResultError(Exception):
    """What a handler returned breaks the tool's own output model; the cause says how."""


def _relays(exc: BaseException, cause: BaseException, tool_error: type[BaseException]) -> bool:
    """Whether `exc` merely repeats its cause: the SDK puts "Error executing tool NAME: " before it, authors do not."""
    if type(exc) is not tool_error:
        return is_a(exc, Relayed)
    text = safe_str(exc)
    return text.startswith("Error executing tool ") and text.endswith(f": {safe_str(cause)}")


def _spoken(exc: BaseException) -> tuple[Code, str, Any] | None:
    """The code, text and data of an error of the SDK's own, whose author meant it to be read; None for any other."""
    for reader in ERROR_READERS:
        spoken = reader.spoken_by(exc)
        if spoken is not None:
            return spoken
    exceptions = sys.modules.get("mcp.server.mcpserver.exceptions")
    if exceptions is not None:
        if is_a(exc, exceptions.ResourceNotFoundError):
            return ErrorCode.NOT_FOUND, safe_str(exc), None
        if is_a(exc, (exceptions.ToolError, exceptions.ResourceError)):
            return ErrorCode.INTERNAL_ERROR, safe_str(exc), None
    if is_protocol_error(exc):
        raised: Any = exc
        code = PROTOCOL_CODES.get(raised.code, ErrorCode.INTERNAL_ERROR)
        return code, safe_str(raised.message), raised.data
    return None


def is_protocol_error(exc: BaseException) -> bool:
    """Whether `exc` is an `MCPError` of the SDK."""
    shared = sys.modules.get("mcp.shared.exceptions")
    return shared is not None and is_a(exc, shared.MCPError)


PROTOCOL_CODES: Final[Mapping[int, ErrorCode]] = {
    -32700: ErrorCode.PARSE_ERROR,
    -32600: ErrorCode.INVALID_REQUEST,
    -32601: ErrorCode.METHOD_NOT_FOUND,
    -32602: ErrorCode.INVALID_PARAMS,
    -32603: ErrorCode.INTERNAL_ERROR,
    -32000: ErrorCode.SERVICE_UNAVAILABLE,  # the SDK's CONNECTION_CLOSED
    -32001: ErrorCode.TIMEOUT,  # the SDK's REQUEST_TIMEOUT
    -32002: ErrorCode.NOT_FOUND,  # "resource not found" before 2026-07-28
}
"""The nearest code of a tool for each code that the protocol or its SDK has; the numbers overlap, but no meanings."""


def _classified(exc: BaseException) -> tuple[Code, Retry]:
    # A handler cannot end the server, so that an exit is a crash; a cancellation here is not the call's own.
    crash = not is_a(exc, (Exception, BaseExceptionGroup, asyncio.CancelledError))
    if crash or is_a(exc, (ContractError, BrokenContractError, BrokenResultError)):
        return ErrorCode.INTERNAL_ERROR, ErrorCode.INTERNAL_ERROR.retry
    from mcpcore.classification import explain

    explained = explain(exc)
    return explained.code, explained.retry
