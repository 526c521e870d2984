"""What becomes of the answers of a server: failures get envelopes and a record, everything else stays as it is."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from mcp_types import InputRequiredResult
from mcp_types.methods import MONOLITH_RESULTS
from pydantic import TypeAdapter

from mcpcore.boundary.crash_log import log_traced
from mcpcore.boundary.fallbacks import misfit_of
from mcpcore.boundary.faults import injected_failure
from mcpcore.boundary.outcome import FailedCall
from mcpcore.boundary.upstream import UpstreamError
from mcpcore.classification.status import in_words
from mcpcore.client.failures import ListedTool, inferred_envelope, listed_tool, with_default_effects
from mcpcore.client.schemas import sample_data
from mcpcore.contract.codes import ErrorCode, Retry
from mcpcore.contract.effects import CallState
from mcpcore.contract.errors import CodedError, FrameworkError
from mcpcore.proxy.disguises import (
    MAX_SEARCHED,
    cleaned,
    disguised_failure,
    envelope_in,
    is_crash,
    is_of_caller,
    object_of,
    suspected_failure,
    traces_in,
)
from mcpcore.proxy.learning import Learner, Statistics
from mcpcore.proxy.listings import Listing, annotated, with_contracts
from mcpcore.proxy.messages import SURFACES, Json, params_of, server_name, texts_of
from mcpcore.proxy.overlay import ANY, HINTS, Facts, Overlay, Section
from mcpcore.sdk.errors import PROTOCOL_NEEDS, protocol_error
from mcpcore.values.logs import LOGGER
from mcpcore.values.untrusted import list_in, object_in, quietly
from mcpcore.wire.dialects.repeating import forbids_retry
from mcpcore.wire.dialects.result_forms import is_true
from mcpcore.wire.envelope import CANONICAL, UNKNOWN_DIALECT, Envelope
from mcpcore.wire.tool_failure import TOOL_FAILURE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcpcore.boundary.call_log import CallLog
    from mcpcore.boundary.script import Boundary
    from mcpcore.contract.failure_modes import FailureMode
    from mcpcore.proxy.conversation import Asked
    from mcpcore.proxy.faults import OverlayFaults

_STEPS: Final = PROTOCOL_NEEDS | {-32020, -32022, -32700, -32600, -32601}
"""Errors that the protocol itself needs, in answer to a call; the client must see them as they are."""

_INVALID_PARAMS: Final = -32602

_KINDS: Final = {"resource": "resources", "prompt": "prompts"}
"""The sections of an overlay for errors of the protocol; it says nothing of unknown tools and of lists of tools."""

_OF_A_QUESTION: Final = frozenset({"requestState", "inputResponses"})
"""Parameters of a call that answers questions of the server."""


class ServerCrash(Exception):  # noqa: N818 - it names what happened
    """A failure that a server did not expect; its text is for the log alone."""


_AFTER_END: Final = {True: "Call again.", False: "Check whether the call took effect before you call again."}
"""Recoveries after the end of the server, by whether another call can do no harm."""


@dataclass(slots=True)
class ResponseRewriter:
    """Decides about the answers of one server."""

    boundary: Boundary
    overlay: Overlay = field(default_factory=Overlay)
    statistics: Statistics = field(default_factory=Statistics)
    learner: Learner | None = None
    faults: OverlayFaults | None = None
    """Failures on demand, for tests of agents."""

    call_log: CallLog | None = None
    _reported: set[str] = field(default_factory=set)

    # --- before a call --------------------------------------------------------------------------------------------

    def refuse(self, asked: Asked, listing: Listing) -> Json | None:
        """The answer to a call whose arguments cannot fit the tool; None for a call that the server answers."""
        self.statistics.calls += 1
        tool = listing.get(asked.name)
        failure = listing.misfit(asked.name, asked.arguments)
        if failure is not None:
            state = CallState(None if tool is None else tool.effects, began=False)
            return self._logged(asked, self._failed(asked, failure, FailedCall(name=asked.name, state=state)))
        taken = None if self.faults is None else self.faults.take(asked.name)
        if taken is None:
            return None
        fault, entry = taken
        if fault.after:
            asked.fault = entry
            return None
        return self._logged(asked, self._on_demand(asked, entry, listing))

    def _on_demand(self, asked: Asked, entry: FailureMode[Any], listing: Listing) -> Json:
        """The answer to a call that fails on demand with the failure of `entry`."""
        tool = listing.get(asked.name) or self._unlisted(asked.name)
        contract = self.overlay.tools.contract_of(asked.name)
        call = FailedCall(name=asked.name, contract=contract, arguments=asked.arguments, state=CallState(tool.effects))
        return self._failed(asked, injected_failure(entry, sample_data(asked.name, entry, asked.arguments)), call)

    def _logged(self, asked: Asked, response: Json) -> Json:
        if self.call_log is not None and asked.method == "tools/call":
            self.call_log.write(params_of(asked.request), asked.session, response)
        return response

    # --- after a call ---------------------------------------------------------------------------------------------

    def answer(self, asked: Asked, response: Json, listing: Listing) -> Json | None:
        """What to send in place of `response`, an answer that clients read; None if it is sent as it is."""
        # An unforeseen answer must still arrive; for a failure, see `_converted`.
        replaced = quietly(lambda: self._answer(asked, response, listing), None)
        self._logged(asked, response if replaced is None else replaced)
        return replaced

    def _answer(self, asked: Asked, response: Json, listing: Listing) -> Json | None:
        error, result = response.get("error"), response.get("result")
        if asked.method == "tools/call":
            if asked.fault is not None and isinstance(result, dict) and not is_true(result.get("isError")):
                return self._on_demand(asked, asked.fault, listing)
            if isinstance(error, dict):
                return self._of_error(asked, response, error, listing)
            return self._of_result(asked, response, result, listing) if isinstance(result, dict) else None
        if isinstance(error, dict):
            return self._of_other(asked, response, error, listing)
        if not isinstance(result, dict):
            return None
        if asked.method == "tools/list":
            listing.learn(result, self.overlay)
            if listing.complete:
                self._check_names(listing)
        if asked.method.endswith("/list"):
            page = quietly(lambda: with_contracts(result, self.overlay), None)
            return None if page is None else {**response, "result": page}
        return self._of_text(asked, response, result, listing)

    def meet(self, response: Json) -> None:
        """Name a draft after the server: by its handshake, or since 2026-07-28 by any of its results."""
        if self.learner is not None and self.learner.name is None:
            self.learner.name = quietly(lambda: server_name(response.get("result")), None)

    def _check_names(self, listing: Listing) -> None:
        """Warn once of tools in the overlay that the server does not have."""
        known = {*listing.tools, ANY, None}
        named = {**self.overlay.tools.contracts, **self.overlay.tools.hints}
        problems = [f"the server has no tool {name!r}" for name in named if name not in known]
        problems += [
            f"tools.{name}: {hint} contradicts the server, whose own hint counts"
            for name, tool in listing.tools.items()
            for hint, wire_name in HINTS.items()
            if self.overlay.tools.hints_of(name).get(wire_name, getattr(tool, hint)) != getattr(tool, hint)
        ]
        problems += [
            f"{kind}.{name}: {entry.reason!r} names the fallback tool {entry.fallback_tool!r}, which is unknown"
            for kind, section in self.overlay.sections.items()
            for name, contract in section.contracts.items()
            for entry in contract
            if entry.fallback_tool not in known
        ]
        problems += [
            f"tools.{name}: the fallback_arguments of {entry.reason!r} do not fit {entry.fallback_tool!r}: {misfit}"
            for name, tool in listing.tools.items()
            for entry in self.overlay.tools.contract_of(name)
            if (fallback := listing.tools.get(entry.fallback_tool or "")) is not None
            and (misfit := misfit_of(entry, fallback, tool)) is not None
        ]
        for problem in problems:
            if problem not in self._reported:
                self._reported.add(problem)
                LOGGER.warning("%s: %s", self.overlay.source, problem)

    def crashed(self, asked: Asked, sentence: str, listing: Listing, *, started: bool = True) -> Json:
        """The answer to a request that the server left open when it ended, or for which it could not be started."""
        tool = listing.get(asked.name) or self._unlisted(asked.name)
        unchanged = not started or asked.method != "tools/call" or tool.read_only
        harmless = unchanged or tool.repeatable
        failure = FrameworkError(
            ErrorCode.SERVICE_UNAVAILABLE,
            f"The server did not answer: {sentence}",
            reason="server_ended",
            recovery=_AFTER_END[harmless] if started else "Tell the operator. Calling again does not help.",
            retry=Retry.now() if harmless and started else Retry.never(),
            effects="none" if unchanged else "unknown",
        )
        call = FailedCall(name=asked.name, surface=SURFACES.get(asked.method, "server"))
        return self._logged(asked, self._failed(asked, failure, call))

    def _unlisted(self, name: str) -> ListedTool:
        """A tool of which only the overlay may know something; without that, its calls may change something."""
        tool = listed_tool(annotated({"name": name}, self.overlay.tools))
        assert tool is not None  # it has a name
        return tool

    def _relayed(self, sent: Envelope, call: FailedCall) -> Envelope | None:
        """Record a failure that already has an envelope; None unless it must be withheld for want of a record."""
        is_recorded = self.boundary.record_relayed(sent, call)
        self._count(call.name, sent)
        return None if is_recorded else self.boundary.unrecorded(call).envelope

    # --- tools ----------------------------------------------------------------------------------------------------

    def _of_result(self, asked: Asked, response: Json, result: Json, listing: Listing) -> Json | None:
        kind = _kind_of(asked, result)
        # Python's SDK may have written a result without its aliases.
        if is_true(result.get("isError")) or is_true(result.get("is_error")):
            if kind == "input_required" and _asks_for_input(result):
                return None
            return self._converted(asked, listing, lambda: self._of_failed(asked, response, result, listing))
        facts = self._disguised(asked, result, listing) if kind == "complete" else None
        if facts is None:
            if kind == "complete":
                self._succeeded(asked, result, listing)
            return None

        def convert() -> Json:
            # Its JSON may be an envelope of another dialect, which knows more than its words.
            sent = envelope_in(facts.json) or _envelope_of([{"type": "text", "text": facts.text}], facts.json)
            return self._replaced(asked, response, _without_hearsay(sent, result), facts, listing)

        return self._converted(asked, listing, convert)

    def _succeeded(self, asked: Asked, result: Json, listing: Listing) -> None:
        suspicion = quietly(lambda: suspected_failure(result), None)
        if suspicion is not None:
            self._watch("the statistics", lambda: self.statistics.suspect(asked.name))
            if (learner := self.learner) is not None and listing.may_have(asked.name):
                self._watch("the draft", lambda: learner.suspect(asked.name, *suspicion, asked.arguments))
        repeats, session = self.boundary.repeats, asked.session
        if session is not None and repeats.has_failures:
            tool = listing.get(asked.name) or self._unlisted(asked.name)
            repeats.succeeded(session, asked.identity, changes=not tool.read_only)

    def _of_failed(self, asked: Asked, response: Json, result: Json, listing: Listing) -> Json | None:
        """A result that says that it is a failure."""
        sent = _envelope_of(result.get("content"), result.get("structuredContent"), result.get("_meta"))
        if sent.dialect == CANONICAL and _is_whole(sent, result) and not _traces_beside(sent, response):
            # The id in the server's own log is worth more than one of the proxy.
            refused = self._relayed(sent, FailedCall(name=asked.name))
            if refused is not None:
                return self._response(asked, self._result(asked, refused, {}))
            described = self._described(result, sent)
            return None if described is result else {**response, "result": described}
        return self._replaced(asked, response, _without_hearsay(sent, result), _facts_in(result), listing)

    def _converted(self, asked: Asked, listing: Listing, convert: Callable[[], Json | None]) -> Json | None:
        """What `convert` makes of a failure; if that goes wrong, a failure that says nothing of it, recorded."""
        try:
            return convert()
        except KeyboardInterrupt:
            raise
        except BaseException as exc:  # noqa: BLE001 - else the client would get the raw failure
            self._log_once("a failure could not be converted, and was answered as an internal error", exc)
        tool = listing.get(asked.name)
        failure = FrameworkError(
            ErrorCode.INTERNAL_ERROR,
            "The request failed, and the failure of the server could not be read.",
            reason="unreadable_failure",
            recovery="Tell the operator. The log of the proxy says more.",
            effects="none" if asked.method != "tools/call" or (tool is not None and tool.read_only) else "unknown",
        )
        call = FailedCall(name=asked.name, surface=SURFACES[asked.method])
        bare = {"isError": True, "content": [{"type": "text", "text": "Error: The request failed."}]}
        part = {"result": bare} if asked.method == "tools/call" else {"error": {"code": -32603, "message": "Failed."}}
        return quietly(
            lambda: self._failed(asked, failure, call), {"jsonrpc": "2.0", "id": asked.request["id"], **part}
        )

    def _failed(self, asked: Asked, failure: CodedError, call: FailedCall) -> Json:
        """The answer to a request that fails with a failure of the proxy."""
        envelope = self.boundary.record_failure(failure, call).envelope
        self._count(asked.name, envelope)
        if asked.method == "tools/call":
            return self._response(asked, self._result(asked, envelope, {}))
        return {"jsonrpc": "2.0", "id": asked.request["id"], "error": _protocol_error(envelope)}

    def _count(self, name: str | None, envelope: Envelope) -> None:
        self._watch("the statistics", lambda: self.statistics.count(name or "", envelope))

    def _watch(self, what: str, observe: Callable[[], None]) -> None:
        """Let something watch a failure that was recorded; if it fails itself, neither the answer nor others suffer."""
        try:
            observe()
        except KeyboardInterrupt:
            raise
        except BaseException as exc:  # noqa: BLE001 - as described
            self._log_once(f"{what} could not take a failure in", exc)

    def _log_once(self, sentence: str, exc: BaseException) -> None:
        if sentence not in self._reported:
            self._reported.add(sentence)
            log_traced(exc, "%s; this is logged once", sentence)

    def _disguised(self, asked: Asked, result: Json, listing: Listing) -> Facts | None:
        """The facts of a result that is a failure, although it is sent as a success; None for any other result."""
        tools, declared = self.overlay.tools, listing.fields.get(asked.name, ())
        is_failure = tools.reads_successes and tools.mode_of(asked.name, _facts_in(result), success=True) is not None
        if not is_failure:
            failure = quietly(lambda: disguised_failure(result, asked.arguments, declared=declared), None)
            is_failure = failure is not None
        return _facts_in(result) if is_failure else None

    def _of_error(self, asked: Asked, response: Json, error: Json, listing: Listing) -> Json | None:
        """A call that was answered with an error of the protocol, which most hosts do not show the model."""
        code = _facts_of(error).code
        is_unknown = listing.get(asked.name) is None and listing.complete
        is_answer = not _OF_A_QUESTION.isdisjoint(params_of(asked.request))
        if code in _STEPS or (code == _INVALID_PARAMS and (is_unknown or is_answer)):
            # The client has to know that there is no such tool, or that its answer to a question was refused.
            return self._of_other(asked, response, error, listing)

        def convert() -> Json:
            envelope, _ = self._judged(asked, response, _envelope_of_error(error), _facts_of(error), listing, "tools")
            return self._response(asked, self._result(asked, envelope, {}))

        return self._converted(asked, listing, convert)

    def _judged(
        self, asked: Asked, answer: Json, sent: Envelope, facts: Facts, listing: Listing | None, kind: str | None
    ) -> tuple[Envelope, bool]:
        """The envelope of a failed request, recorded, and whether nothing else of `answer` may be sent.

        `kind` is the section of the overlay about the request, and `listing` the tools where it is a call of one.
        """
        name, surface = asked.name, SURFACES[asked.method]
        section = Section() if kind is None else self.overlay.sections[kind]
        tool = None if listing is None else listing.get(name) or self._unlisted(name)
        inferred = sent.dialect == UNKNOWN_DIALECT
        if inferred:
            sent = inferred_envelope(sent, tool)
        elif sent.effects is None:
            sent = with_default_effects(sent, tool)
        forbidden = any(map(forbids_retry, (facts.text, sent.message, sent.hint or "")))
        if forbidden:
            sent = replace(sent, retry=Retry.never())
        mode = section.mode_of(name, facts)
        # A program that the tool ran may have crashed; then its traceback is the answer, unless the call itself broke.
        ran = tool is not None and facts.code is None and is_of_caller(facts.text, asked.arguments or {})
        traces = [] if ran else _traces_beside(sent, answer)
        crashed = bool(traces) or (not ran and is_crash(facts.text))
        call = FailedCall(
            name=name,
            surface=surface,
            contract=section.contract_of(name),
            arguments=asked.arguments,
            state=None if tool is None else CallState(tool.effects),
        )
        exc: BaseException
        if mode is not None:
            exc = _declared(mode, sent, facts, crashed=crashed)
            if forbidden:
                exc.retry = sent.retry
            elif mode.retry is None and mode.settled(call.state)[1].retryable and (wait := in_words(facts.text)):
                exc.retry = Retry.after(seconds=wait)  # the server knows better than the table of codes
        elif traces or (crashed and inferred):
            texts = dict.fromkeys((facts.text, *traces))
            exc = ServerCrash("\n".join(text[:MAX_SEARCHED] for text in texts if text)[: 2 * MAX_SEARCHED])
            call = replace(call, code=ErrorCode.INTERNAL_ERROR)
        else:
            exc = UpstreamError(replace(sent, message=cleaned(sent.message), data=_data_of(sent, facts)))
        outcome = self.boundary.record_failure(exc, call)
        self._count(name, outcome.envelope)
        is_new = kind is not None and mode is None and inferred and (listing is None or listing.may_have(name))
        if (learner := self.learner) is not None and kind is not None and is_new:
            # A draft with an entry for every URI would be of no use, and a list has no name.
            shown = ANY if kind == "resources" or name == asked.method else name
            self._watch("the draft", lambda: learner.saw(kind, shown, sent, facts, asked.arguments))
        return outcome.envelope, crashed

    # --- resources, prompts and unknown tools -----------------------------------------------------------------------

    def _of_other(self, asked: Asked, response: Json, error: Json, listing: Listing) -> Json | None:
        """An error of the protocol that stays one: its number and its message stay, and the envelope is added."""
        if _facts_of(error).code in _STEPS and not any(traces_in(response)):
            return None
        return self._converted(asked, listing, lambda: self._with_envelope(asked, response, error))

    def _with_envelope(self, asked: Asked, response: Json, error: Json) -> Json | None:
        facts, sent = _facts_of(error), _envelope_of_error(error)
        if sent.dialect == CANONICAL and sent.correlation_id and not _traces_beside(sent, response):
            refused = self._relayed(sent, FailedCall(name=asked.name, surface=SURFACES[asked.method]))
            return None if refused is None else {**response, "error": _protocol_error(refused)}
        envelope, masked = self._judged(asked, response, sent, facts, None, _KINDS.get(SURFACES[asked.method]))
        own, data = {"error": envelope.to_json()}, error.get("data")
        kept = data if isinstance(data, dict) else {} if data is None else {"details": data}
        if masked:
            # The client has to act on an error that the protocol needs, such as by opening a page that its data names.
            needed = kept if facts.code in _STEPS and not any(traces_in(data)) else {}
            bare = {"code": -32603 if facts.code is None else facts.code, "message": envelope.message}
            return {"jsonrpc": "2.0", "id": asked.request["id"], "error": {**bare, "data": {**needed, **own}}}
        return {**response, "error": {**error, "data": {**kept, **own}}}

    def _of_text(self, asked: Asked, response: Json, result: Json, listing: Listing) -> Json | None:
        """A resource or a prompt that is a failure, although it is sent as a success; only an entry can know."""
        kind = _KINDS[SURFACES[asked.method]]
        section = self.overlay.sections[kind]
        if not section.reads_successes or _kind_of(asked, result) != "complete":
            return None
        blocks = _blocks_of(result)
        facts = _facts_in({"content": blocks})
        if section.mode_of(asked.name, facts, success=True) is None:
            return None

        def convert() -> Json:
            envelope, _ = self._judged(asked, response, _envelope_of(blocks), facts, None, kind)
            return {"jsonrpc": "2.0", "id": response["id"], "error": _protocol_error(envelope)}

        return self._converted(asked, listing, convert)

    # --- the form of an answer --------------------------------------------------------------------------------------

    def _replaced(self, asked: Asked, response: Json, sent: Envelope, facts: Facts, listing: Listing) -> Json:
        """`response` with the envelope of its failure as its result; of a crash, it keeps only a draft `ToolFailure`.

        SEP-3313, "Client behavior": whoever relays a result must preserve that.
        """
        envelope, crashed = self._judged(asked, response, sent, facts, listing, "tools")
        if crashed:
            draft = object_in(response["result"], "_meta").get(TOOL_FAILURE)
            kept = {} if draft is None or any(traces_in(draft)) else {"_meta": {TOOL_FAILURE: draft}}
            return self._response(asked, self._result(asked, envelope, kept))
        return {**response, "result": self._result(asked, envelope, response["result"])}

    def _result(self, asked: Asked, envelope: Envelope, result: Json) -> Json:
        """`envelope` as the result of a call; what else `result` had, such as images and `_meta`, stays."""
        repeats, session = self.boundary.repeats, asked.session
        if session is not None and repeats.is_on:
            sent = envelope
            # Whatever the arguments are, counting them must not cost the answer.
            envelope = quietly(lambda: repeats.failed(session, asked.identity, sent), sent)
        structured, text = self.boundary.dialect.write(envelope, limits=self.boundary.mapper.limits)
        blocks = list_in(result, "content")
        others = [block for block in blocks if isinstance(block, dict) and block.get("type") != "text"]
        failed = {
            **result,
            "content": [{"type": "text", "text": text}, *others],
            "structuredContent": structured,
            "isError": True,
        }
        if asked.modern:
            failed.setdefault("resultType", "complete")
        return self._described(failed, envelope)

    def _described(self, result: Json, envelope: Envelope) -> Json:
        """`result` with the draft `ToolFailure` for `envelope`, if it has none and clients shall get one."""
        own, meta = self.boundary.meta_of(envelope), object_in(result, "_meta")
        return result if own is None or TOOL_FAILURE in meta else {**result, "_meta": {**own, **meta}}

    @staticmethod
    def _response(asked: Asked, result: Json) -> Json:
        return {"jsonrpc": "2.0", "id": asked.request["id"], "result": result}


def _traces_beside(sent: Envelope, answer: Json) -> list[str]:
    """The tracebacks in an answer; without those of an envelope, which a server with contracts means to send."""
    meant = {sent.text(), *traces_in(sent.to_json())} if sent.dialect == CANONICAL else frozenset()
    return [text for text in traces_in(answer) if text not in meant]


def _is_whole(sent: Envelope, result: Json) -> bool:
    """Whether both forms of a canonical failure are there and say the same."""
    structured = result.get("structuredContent")
    return isinstance(structured, dict) and "error" in structured and texts_of(result) == sent.text()


def _envelope_of(content: object, structured: object = None, meta: object = None) -> Envelope:
    """The envelope of a failed result; its other keys, such as one named `jsonrpc`, do not count."""
    failed = {"isError": True, "content": content, "structuredContent": structured, "_meta": meta}
    envelope = Envelope.from_result(failed)
    assert envelope is not None
    return envelope


def _without_hearsay(sent: Envelope, result: Json) -> Envelope:
    """`sent` without the word that nothing was changed, if it is in a text alone, which may be that of an upstream."""
    is_hearsay = sent.effects == "none" and _envelope_of([], result.get("structuredContent")).dialect == UNKNOWN_DIALECT
    return replace(sent, effects=None) if is_hearsay else sent


def _envelope_of_error(error: Json) -> Envelope:
    envelope = Envelope.from_result({"jsonrpc": "2.0", "id": 0, "error": error})
    assert envelope is not None
    return envelope


def _kind_of(asked: Asked, result: Json) -> object:
    """The type of a result, which the protocol has had since 2026-07-28; before, clients read none."""
    return result.get("resultType", "complete") if asked.modern else "complete"


def _asks_for_input(result: Json) -> bool:
    """Whether an SDK reads a result of the protocol since 2026-07-28 as a question, whatever else it holds."""
    model: Any = MONOLITH_RESULTS["tools/call"]
    read = quietly(lambda: TypeAdapter(model).validate_python(result, by_name=False), None)
    return isinstance(read, InputRequiredResult)


def _blocks_of(result: Json) -> list[Json]:
    """The texts of a resource or a prompt, as the blocks of a tool's result."""
    parts = [*list_in(result, "contents"), *list_in(result, "messages")]
    contents = [part.get("content", part) for part in parts if isinstance(part, dict)]
    return [{"type": "text", "text": c["text"]} for c in contents if isinstance(c, dict) and "text" in c]


def _facts_in(result: Json) -> Facts:
    return Facts(text=texts_of(result), json=object_of(result) or {})


def _facts_of(error: Json) -> Facts:
    data, message, code = error.get("data"), error.get("message"), error.get("code")
    number = quietly(lambda: TypeAdapter(int).validate_python(code), None)  # as the SDK reads it
    return Facts(
        text=message if isinstance(message, str) else "", json=data if isinstance(data, dict) else {}, code=number
    )


def _protocol_error(envelope: Envelope) -> Json:
    return protocol_error(envelope).error.model_dump(mode="json", by_alias=True, exclude_none=True)


def _declared(mode: FailureMode[Any], sent: Envelope, facts: Facts, *, crashed: bool) -> CodedError:
    """The failure that an entry declares, in the server's words; in the entry's if nobody wrote those for a client."""
    message = None if crashed or not facts.text.strip() else cleaned(sent.message)
    data = None if crashed else _data_of(sent, facts)
    return CodedError(mode.code, message, data, reason=mode.reason)


def _data_of(sent: Envelope, facts: Facts) -> Mapping[str, Any] | None:
    """The facts of a failure: what the server sent besides the message, and a text that the message cuts."""
    if sent.dialect != UNKNOWN_DIALECT:
        return sent.data
    data = dict(facts.json)
    if not data and len(facts.text) > len(sent.message):
        data = {"text": facts.text}
    return {key: value for key, value in {**data, **(sent.data or {})}.items() if value is not None} or None
