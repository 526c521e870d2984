"""`FailureMapper`: turns an exception into an outcome, and chooses the exception of a group that is answered."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from mcpcore.boundary.outcome import Breach, BrokenContractError, FailedCall, Outcome
from mcpcore.boundary.upstream import UpstreamError
from mcpcore.contract.codes import BASELINE, Code, Effects, ErrorCode, Retry, sentence_for
from mcpcore.contract.effects import CallState, declared_effects, settled, weakest
from mcpcore.contract.errors import PLAIN_ERRORS, CodedError, FrameworkError
from mcpcore.contract.failure_modes import (
    RESERVED_DATA_KEYS,
    Contract,
    ContractError,
    FailureMode,
    UndeclaredReasonError,
)
from mcpcore.contract.limits import DEFAULT_LIMITS, Limits
from mcpcore.contract.recovery import filled_arguments
from mcpcore.values.jsonable import JSON, WIDEST, named, safe_str
from mcpcore.values.untrusted import quietly
from mcpcore.values.unwrapping import (
    BrokenResultError,
    framework_error,
    is_a,
    leaves_of,
    relayed_failure,
    returned_failure,
    unwrapped,
)
from mcpcore.wire.envelope import Envelope
from mcpcore.wire.envelope_builder import Facts, build_envelope, facts_of, stands
from mcpcore.wire.envelope_text import advice_and_facts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import ModuleType

    from mcpcore.classification import Explanation


_FRAMEWORK_DEPTH: Final = 3
"""Levels of the data of a `FrameworkError`."""


# Internal, so not frozen: freezing slows the import.
@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class FailureMapper:
    """Turns exceptions into outcomes, by the options of one server."""

    limits: Limits = DEFAULT_LIMITS
    expose: bool | Literal["message"] = False

    def outcome(self, exc: BaseException, call: FailedCall) -> Outcome:
        """The outcome of `exc`, with which `call` failed; never raises.

        If the state of the call is known, the envelope has the effects that follow from the tool's annotations.
        """
        # Nearly all failures are of these classes, and need none of the searches for what they wrap.
        is_plain = type(exc) in PLAIN_ERRORS
        if not is_plain:
            exc = returned_failure(exc)
            is_plain = type(exc) in PLAIN_ERRORS
        try:
            inner, selected, others = (exc, exc, 0) if is_plain else _select(exc, call.contract)
            if call.find_context is not None:
                failures = (exc,) if selected is exc else (exc, inner, selected)
                call.context, call.find_context = call.find_context(failures), None
            if is_plain:
                return self._coded(exc, exc, call, "none")  # type: ignore[arg-type] # `is_plain` says so
            outcome = self._outcome(selected, exc, call, _effects_of_others(exc, selected, call) if others else "none")
        except KeyboardInterrupt:
            raise
        except BaseException as failed:  # noqa: BLE001 - a hostile exception is reported as a crash
            code = ErrorCode.INTERNAL_ERROR
            effects, retry = settled(call.state, code, code.retry, crashed=True)
            if call.find_context is not None:
                call.context, call.find_context = call.find_context((exc,)), None
            envelope = build_envelope(
                code,
                sentence_for(code, call.surface),
                retry=retry,
                effects=effects,
                repeatable=call.repeatable,
                tool=call.name,
                masked=True,
                context=call.context,
                limits=self.limits,
            )
            breach = Breach("other", f"the exception could not be read: {safe_str(failed)}")
            return Outcome(envelope=envelope, exception=exc, expected=False, breaches=(breach,))
        if others:
            outcome.others = others
        return outcome

    def _outcome(self, exc: BaseException, whole: BaseException, call: FailedCall, others: Effects | None) -> Outcome:
        """The outcome of `exc`, the exception in `whole` that is answered; `others` has the effects of the rest."""
        error = exc if is_a(exc, CodedError) else relayed_failure(exc)
        if error is not None:
            return self._coded(cast("CodedError", error), whole, call, others)
        authored = framework_error(exc) if call.code is None else None
        if authored is not None:
            code, message, data = authored
            effects, retry = settled(call.state, code, code.retry, others=others)
            envelope = build_envelope(
                code,
                self._sentence(code, message, call),
                retry=retry,
                effects=effects,
                repeatable=call.repeatable,
                tool=call.name,
                data=data if self.expose is not True else self._exposed(whole, data),
                context=call.context,
                limits=self.limits,
            )
            return Outcome(envelope=envelope, exception=whole, expected=True)
        code, retry = _classified(exc) if call.code is None else (call.code, call.code.retry)
        if code is ErrorCode.NOT_FOUND and call.surface != "tool":
            # The sentence of that code would say that the resource or the prompt itself does not exist.
            code, retry = ErrorCode.INTERNAL_ERROR, ErrorCode.INTERNAL_ERROR.retry
        message = code.sentence
        if self.expose:
            # Redacted like the traceback, by names too: nobody wrote this text for a client.
            message = _crash_log().message_of(exc) or named(exc)
        effects, retry = settled(call.state, code, retry, crashed=True, others=others)
        envelope = build_envelope(
            code,
            self._sentence(code, message, call),
            retry=retry,
            effects=effects,
            repeatable=call.repeatable,
            tool=call.name,
            data=None if self.expose is not True else self._exposed(whole, None),
            masked=not self.expose,
            context=call.context,
            limits=self.limits,
        )
        breaches: Sequence[Breach] = ()
        if type(exc) is BrokenContractError:
            breaches = exc.breaches
        elif is_a(exc, ContractError):
            # The log and the record name the tool already.
            text = safe_str(exc).removeprefix(f"tool {call.name!r}: ")
            breaches = (Breach("undeclared_reason" if is_a(exc, UndeclaredReasonError) else "other", text),)
        return Outcome(envelope=envelope, exception=whole, expected=False, breaches=breaches)

    def _coded(self, error: CodedError, whole: BaseException, call: FailedCall, others: Effects | None) -> Outcome:
        breaches: list[Breach] = []
        misused: list[str] = []
        in_common: dict[CallState | None, Any] | None = None
        if isinstance(error, FrameworkError):
            if error.retry is None and error.effects == "none":  # else a handler gave it other advice
                in_common = error.kept
            reason, text = error.sent_reason, error.data_text
            if text is not None and WIDEST * len(text) <= self.limits.data and self.limits.depth >= _FRAMEWORK_DEPTH:
                facts: Facts | None = Facts(cast("dict[str, JSON]", error.data), text)
            else:
                facts = None if error.data is None else facts_of(error.data, self.limits)
        else:
            entry = call.contract.get(error.reason)
            if entry is not None and error.entry is not entry:
                error.declare(entry)
            facts = None if error.data is None else facts_of(error.data, self.limits)
            reason = error.reason if entry is not None else error.sent_reason
            if entry is not None:
                if error.code is not entry.code or entry.data is not None:
                    breaches += _violations(error, entry, facts)
            elif reason is not None and len(call.contract):
                breaches.append(Breach("undeclared_reason", f"the reason {error.reason!r} is not declared"))
            if facts is not None and not RESERVED_DATA_KEYS.isdisjoint(facts.json):
                misused = error.misused_keys(facts.json)
                if misused:
                    listed = ", ".join(map(repr, misused))
                    detail = (
                        f"data has {listed}, which only the contract may fill: the values were dropped; use the "
                        "reason, recovery and retry options, call ctx.recovery_for(...), or choose another name"
                    )
                    breaches.append(Breach("data", detail))
            if error.unusable_advice is not None:
                breaches.append(Breach("other", error.unusable_advice))
        entry, kept, lines = error.entry, None, None
        if in_common is None and entry is not None and error.is_as_declared:
            in_common = entry.kept
        if in_common is not None and others == "none":
            kept = in_common.get(call.state)
            # Servers with other limits may share the entry.
            if kept is None or kept[0] is not self.limits:
                kept = self._keep(in_common, error, call)
        if kept is not None:
            _, recovery, effects, retry, lines = kept
        else:
            recovery = error.recovery
            effects, retry = error.settled(call.state, others=others)
        if (
            entry is not None
            and entry.fallback_arguments is not None
            and recovery is not None
            and recovery.get("fallbackTool") == entry.fallback_tool
            and "fallbackArguments" not in recovery
        ):
            arguments = filled_arguments(entry, call.arguments, error.data, dumped=error.is_dumped)
            if arguments is not None:
                # They are still to be searched and cut.
                recovery, lines = {**recovery, "fallbackArguments": arguments}, None
        envelope = build_envelope(
            error.code,
            error.message if call.surface == "tool" else self._sentence(error.code, error.message, call),
            retry=retry,
            effects=effects,
            repeatable=call.repeatable,
            tool=call.name,
            data=facts if self.expose is not True else self._exposed(whole, facts),
            dropped=misused,
            reason=reason,
            recovery=recovery,
            context=call.context,
            limits=self.limits,
            entry=entry,
            lines=lines,
            is_clean=error.clean_for is not None and error.clean_for == call.name and self.expose is not True,
        )
        if error.injected:
            # Not `replace`, which would lose the parts that the text is written from.
            envelope = Envelope.of({**vars(envelope), "injected": True}, vars(envelope).get("_parts"))
        relayed = type(error) is not CodedError and is_a(error, UpstreamError)
        if relayed:
            envelope = cast("UpstreamError", error).identified(envelope)
        return Outcome(envelope=envelope, exception=whole, expected=True, breaches=breaches, relayed=relayed)

    def _keep(
        self, in_common: dict[CallState | None, Any], error: CodedError, call: FailedCall
    ) -> tuple[Any, ...] | None:
        """What failures such as `error` in such a call have in common; None if its recovery is converted for each.

        The limits that it holds for, the recovery, the effects and the advice, and the lines of `advice_and_facts`.
        """
        recovery = error.recovery
        if recovery is not None and not stands(recovery, self.limits):
            return None
        effects, retry = error.settled(call.state)
        lines = advice_and_facts(
            error.reason,
            error.code.name,
            retry,
            effects,
            recovery,
            repeatable=call.repeatable,
        )
        kept = in_common[call.state] = self.limits, recovery, effects, retry, lines
        return kept

    def _sentence(self, code: Code, message: str, call: FailedCall) -> str:
        return sentence_for(code, call.surface) if message == code.sentence else message

    def _exposed(self, whole: BaseException, data: object) -> dict[str, Any]:
        """The data with the exception, for servers that show it to their clients."""
        facts = data if type(data) is Facts else facts_of({} if data is None else data, self.limits)
        return {**facts.json, "exception": _crash_log().described(whole)}


@cache
def _crash_log() -> ModuleType:
    # Once: an import within a function takes longer than most of this module's work, and at the top every start pays.
    from mcpcore.boundary import crash_log

    return crash_log


def _effects_of_others(exc: BaseException, selected: BaseException, call: FailedCall) -> Effects | None:
    """The effects of the failures in the group `exc` without the selected one."""
    return weakest(
        _effects_of(leaf, call) for leaf in map(unwrapped, leaves_of(unwrapped(exc))) if leaf is not selected
    )


def _effects_of(exc: BaseException, call: FailedCall) -> Effects | None:
    code: Code | None = None
    if is_a(exc, CodedError):
        error = cast("CodedError", exc)
        effects = declared_effects(error, call.contract)
        if effects is not None:
            return effects
        code = error.code
    elif (authored := framework_error(exc)) is not None:
        code = authored[0]
    if call.state is None:
        return None
    return call.state.effects_of(code or ErrorCode.INTERNAL_ERROR, is_open=code is None)


def _violations(error: CodedError, entry: FailureMode[Any], facts: Facts | None) -> Iterator[Breach]:
    """How the failure violates the entry that declares its reason."""
    if error.code != entry.code:
        text = f"{error.reason!r} is declared as {entry.code.name} and was raised as {error.code.name}"
        yield Breach("wrong_code", text)
        return
    sent = None if facts is None else facts.json
    misfit = quietly(lambda: entry.check_data(error.data, sent=sent, dumped=error.is_dumped), "it cannot be read")
    if misfit is not None:
        yield Breach("data", f"the data of {error.reason!r} breaks its model: {misfit}")


def _classified(exc: BaseException) -> tuple[Code, Retry]:
    failures, explain = _classification()
    # The last three are mistakes of the server's author, whatever their texts and causes look like.
    if not is_a(exc, failures) or is_a(exc, (ContractError, BrokenContractError, BrokenResultError)):
        return ErrorCode.INTERNAL_ERROR, ErrorCode.INTERNAL_ERROR.retry
    explained = explain(exc)
    return explained.code, explained.retry


@cache
def _classification() -> tuple[tuple[type[BaseException], ...], Callable[[BaseException], Explanation]]:
    """The exceptions that are classified, and what classifies them; imported once, with the first crash."""
    import asyncio

    from mcpcore.classification import explain

    # A handler cannot end the server, so an exit is a crash. A cancellation that reaches this is not the call's own.
    return (Exception, BaseExceptionGroup, asyncio.CancelledError), explain


# --- the exception of a group that is answered ------------------------------------------------------------------------


def select_failure(exc: BaseException, contract: Contract[Any]) -> BaseException:
    """The exception that answers for `exc` under `contract`: of a group, the most specific declared one."""
    return _select(exc, contract)[1]


def _select(exc: BaseException, contract: Contract[Any]) -> tuple[BaseException, BaseException, int]:
    """The exception in the wrappers of `exc`, the one in it that answers, and the number of others in the group."""
    exc = unwrapped(exc)
    if not is_a(exc, BaseExceptionGroup):
        return exc, exc, 0
    leaves = [unwrapped(leaf) for leaf in leaves_of(exc)]
    best = min(leaves, key=lambda leaf: _rank(leaf, contract))
    # None of them says more than the others, so the group is classified as a whole.
    if _rank(best, contract)[0] >= _UNDECLARED:
        return (exc, best, 0) if len(leaves) == 1 else (exc, exc, len(leaves) - 1)
    return exc, best, len(leaves) - 1


_UNDECLARED: Final = 5


def _rank(exc: BaseException, contract: Contract[Any]) -> tuple[int, bool]:
    """The order of exceptions in a group, the most specific first."""
    if is_a(exc, CodedError):
        error = cast("CodedError", exc)
        entry = contract.get(error.reason)
        general = error.code in BASELINE
        if entry is not None:
            return (0 if entry.code == error.code else 1), general
        return (2 if error.reason is not None else 3), general
    return (4, False) if framework_error(exc) is not None else (_UNDECLARED, False)
