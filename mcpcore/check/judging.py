"""Judges one answer to one probe, also by what it reveals."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from mcpcore.check.model import BAD_ARGUMENTS, Answer, AnswerKind, CheckedTool, Probe, Verdict, broken, met
from mcpcore.check.probe_arguments import forged_line, planted
from mcpcore.client.headers import HIDDEN
from mcpcore.client.schemas import error_path
from mcpcore.contract.effects import CHANGED
from mcpcore.contract.failure_modes import CONTRACT_META_KEY
from mcpcore.proxy.disguises import disguised_failure, is_crash, suspected_failure
from mcpcore.values.bounds import MESSAGE
from mcpcore.values.untrusted import quietly
from mcpcore.wire.arguments import INVALID_ARGUMENTS
from mcpcore.wire.dialects.reading import UNKNOWN_DIALECT
from mcpcore.wire.envelope import CANONICAL, Envelope
from mcpcore.wire.redaction import REDACTED, redact_shapes

_TRACEBACK: Final = re.compile(
    r"Traceback \(most recent call last\)"
    r"|^\s*File \"[^\"\n]{1,300}\", line \d+"
    r"|^\s*at .{1,300}:\d+:\d+\)?\s*$"
    r"|^\s*at [\w.$<>]{1,200}\([\w.$]{1,100}(?::\d{1,6})?\)"
    r"|^goroutine \d+ \["
    r"|thread '.{1,100}' (?:\(\d+\) )?panicked at"
    r"|^#\d{1,3} +/.{1,300}\(\d+\): ",
    re.MULTILINE,
)
"""Frames as Python, JavaScript, Java, Go, Rust and PHP write them."""

_PATH: Final = re.compile(
    r"(?<![\w:/.~*-])/(?:home|Users|root|usr|var|tmp|opt|etc|srv|mnt|private|app|code|work|workspace|nix|Library|proc)"
    r"/[\w.@+-][\w.@+/-]*"
    r"|(?<![\w/])[A-Za-z]:\\{1,2}(?:Users|Windows|Program Files|ProgramData|Temp)\\{1,2}[^\s\"'<>|]{1,200}"
    r"|\bfile:///[\w.@+/-]{3,200}"
    r"|(?:site-packages|dist-packages|node_modules)[/\\][\w.@+/\\-]{1,200}"
)


def traceback_in(text: str) -> str | None:
    """The first line of a traceback in `text`, or None."""
    match = _TRACEBACK.search(text)
    return None if match is None else match[0].strip()


# The text that the SDK and FastMCP send instead of that of an exception.
_MASKED: Final = re.compile(r"^Error (?:executing|calling) tool '?[\w.-]{1,128}'?$", re.MULTILINE)


def paths_in(text: str, known: Iterable[str]) -> Iterator[str]:
    """The paths of the server's machine in `text` that none of the `known` texts holds."""
    said = "\0".join(known)
    for match in _PATH.finditer(text):
        path = match[0].rstrip(".,;:'\")")
        if path not in said:
            yield path


_OWN_REASONS: Final = frozenset(
    {
        INVALID_ARGUMENTS, "audit_failed", "call_timeout", "missing_scope", "no_access_token", "server_ended",
        "server_not_started", "too_many_calls", "unknown_tool",
    }
)  # fmt: skip
"""Reasons of the framework itself, which no contract declares."""

_RETRY_KEYS: Final = re.compile(r"retry|retryable|transient|recoverable", re.IGNORECASE)
_RETRY_WORDS: Final = re.compile(
    r"\b(?:retry|retries|retried|retrying|retryable|try again|transient|temporar(?:y|ily)|again (?:in|after|later)|"
    r"wait \d|do not repeat|don't repeat)\b",
    re.IGNORECASE,
)
_STEP_KEYS: Final = re.compile(
    r"^(?:hint|hints|recovery|suggestion|suggestions|suggested_?action|next_?steps?|remedy|how_?to_?fix|fix|"
    r"fallback_?tool|corrective_?params|expected|allowed|allowed_?values)$",
    re.IGNORECASE,
)
_STEP_WORDS: Final = re.compile(
    r"\b(?:try|use|check|retry|wait|call|provide|must|should|expected?|allowed|instead|see|set|install|ensure|"
    r"make sure|available|did you mean|known are|valid (?:values|options)|supported|one of|needs? to|please|correct|"
    r"add|leave out|list|choose|pass|specify|required)\b",
    re.IGNORECASE,
)
_MAX_ECHO: Final = MESSAGE
"""Characters of one value that a failure may repeat: as many as a message of mcpcore, which is cut there, may hold."""

_SHOWN: Final = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """The facts that the judge needs besides an answer.

    Attributes:
        names: The names of the server's tools.
        marker: The text that is planted in arguments.
        canary: The text that is planted in the environment; "" for a URL.
        said: Texts of the caller, such as the command line, whose paths are no secret.
    """

    names: frozenset[str]
    marker: str
    canary: str = ""
    said: tuple[str, ...] = field(default=())

    def shown(self, answer: Answer) -> str:
        """The text of an answer for a report, which must not hold the environment."""
        if self.canary and self.canary in answer.everything:
            return "(withheld, since it holds the environment)"
        return _cut(answer.texts)


def judge(probe: Probe, answer: Answer, tool: CheckedTool | None, around: Surroundings) -> list[Verdict]:
    """Every criterion that the answer has a part in, met or not.

    Args:
        probe: The call.
        answer: What came back.
        tool: The tool as it is listed; None for a call of a tool that does not exist.
        around: The tools of the server and the texts that the check planted.
    """
    verdicts = [_survival(answer)]
    if answer.kind not in {"result", "error"} or answer.asks:
        return verdicts
    leaked = list(_leaks_anywhere(answer, around))
    is_disguised = not answer.failed and tool is not None and _is_disguised(probe, answer, tool)
    if not answer.failed and not is_disguised:
        return [*verdicts, *leaked, *_accepted(probe)]
    verdicts.append(_marked(answer, tool, around, is_disguised=is_disguised))
    sent = _envelope_of(answer, is_disguised=is_disguised)
    verdicts += _next_step(probe, answer, sent, around)
    verdicts += _retry(probe, answer, sent, tool, around)
    leaked = leaked or list(_leaks_in_failure(probe, answer, around))
    verdicts += leaked or [met("leak")]
    verdicts += _echo(probe, answer, around)
    if tool is not None and tool.contract:
        verdicts += _contract(sent, tool)
    return verdicts


def judge_listing(tool: CheckedTool, names: frozenset[str]) -> Iterator[Verdict]:
    """What the listing of a tool alone shows."""
    if tool.declared is None:
        yield broken("no-contract", f"_meta has no {CONTRACT_META_KEY}")
        return
    listed = len(tool.declared) if isinstance(tool.declared, list) else -1
    if listed != len(tool.contract):
        said = f"{len(tool.contract)} of {listed} entries can be read" if listed >= 0 else "it is not a list"
        yield broken("contract-invalid", said)
    else:
        yield met("contract")
    for entry in tool.contract:
        if entry.fallback_tool is not None:
            missing = entry.fallback_tool not in names
            message = f"{entry.reason} names {entry.fallback_tool!r}"
            yield broken("unknown-fallback-tool", message) if missing else met("next-step")


# --- one criterion each -----------------------------------------------------------------------------------------------


def _survival(answer: Answer) -> Verdict:
    if answer.kind not in _UNANSWERED:
        return met("survival")
    rule, message = _UNANSWERED[answer.kind]
    return broken(rule, message.format(answer.detail) or "the connection was closed")


_UNANSWERED: Final[Mapping[AnswerKind, tuple[str, str]]] = {
    "timeout": ("no-answer", "no answer {}"),
    "closed": ("server-dies", "{}"),
    "malformed": ("malformed-answer", "{}"),
    "unanswered": ("breaks-on-cancel", "no answer to the next request"),
}
"""The rule that each kind of answer breaks, and a sentence for what the connection says of it."""


def _accepted(probe: Probe) -> Iterator[Verdict]:
    """A success of a call that should have failed."""
    if probe.kind == "unknown-tool":
        yield broken("unknown-tool-succeeds", f"a call of {probe.tool!r} succeeded")
    elif probe.kind in BAD_ARGUMENTS and probe.strict:
        yield broken("accepts-bad-arguments", f"{_WRONG[probe.kind]} {probe.argument!r} is accepted")
    elif probe.kind == "unknown":
        yield broken("accepts-unknown-arguments", f"the argument {probe.argument!r} is accepted")


_WRONG: Final = {
    "missing": "a call without the required argument",
    "wrong-type": "a value of the wrong type for",
    "out-of-range": "a value out of range for",
    "unknown": "the excluded argument",
}


def _is_disguised(probe: Probe, answer: Answer, tool: CheckedTool) -> bool:
    """Whether a success is a failure, which words can tell where the arguments cannot fit the tool."""
    sent, name, cannot_fit = answer.value, tool.name, probe.kind in BAD_ARGUMENTS and probe.strict
    if cannot_fit and quietly(lambda: suspected_failure(sent, name), None) is not None:
        return True
    return quietly(lambda: disguised_failure(sent, name, probe.arguments, declared=tool.fields), None) is not None


def _marked(answer: Answer, tool: CheckedTool | None, around: Surroundings, *, is_disguised: bool) -> Verdict:
    if is_disguised:
        return broken("failure-as-success", f"without isError: {around.shown(answer)}")
    # By the specification, a call of an unknown tool is a protocol error.
    if answer.kind == "error" and tool is not None:
        return broken("failure-as-protocol-error", f"{answer.value.get('code')}: {around.shown(answer)}")
    return met("marked")


def _envelope_of(answer: Answer, *, is_disguised: bool) -> Envelope | None:
    value = answer.value
    if answer.kind == "error":
        value = {"jsonrpc": "2.0", "id": 0, "error": {k: v for k, v in answer.value.items() if v is not None}}
    elif is_disguised:
        value = {**answer.value, "isError": True}
    return quietly(lambda: Envelope.from_result(value), None)


def _next_step(probe: Probe, answer: Answer, sent: Envelope | None, around: Surroundings) -> Iterator[Verdict]:
    known = sent is not None and sent.dialect != UNKNOWN_DIALECT
    fallback = sent.fallback_tool if known and sent is not None else None
    if fallback is not None and fallback not in around.names:
        yield broken("unknown-fallback-tool", f"it names {fallback!r}")
        return
    text = answer.everything
    if probe.kind in BAD_ARGUMENTS and probe.strict:
        if re.search(rf"(?<!\w){re.escape(probe.argument)}(?!\w)", text) is None:
            yield broken("argument-not-named", f"{probe.argument!r} is not in: {around.shown(answer)}")
        else:
            yield met("next-step")
        return
    hinted = known and sent is not None and (sent.hint is not None or fallback is not None)
    words = text.replace(around.marker, "")
    if probe.kind == "unknown-tool":
        steps = hinted or any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", words) for name in around.names)
        steps = steps or "tools/list" in words or re.search(r"\bavailable tools\b", words, re.IGNORECASE) is not None
    else:
        steps = hinted or _has_key(answer.facts, _STEP_KEYS) or _STEP_WORDS.search(_own_words(words)) is not None
    yield met("next-step") if steps else broken("no-next-step", around.shown(answer))


def _retry(
    probe: Probe, answer: Answer, sent: Envelope | None, tool: CheckedTool | None, around: Surroundings
) -> Iterator[Verdict]:
    known = sent is not None and sent.dialect == CANONICAL
    words = _own_words(answer.everything)
    if not known and not _has_key(answer.facts, _RETRY_KEYS) and _RETRY_WORDS.search(words) is None:
        yield broken("no-retry-advice", around.shown(answer))
        return
    if sent is None or sent.dialect == UNKNOWN_DIALECT:
        yield met("retry")
        return
    if sent.retry.retryable and probe.kind in BAD_ARGUMENTS and probe.strict:
        yield broken("retry-contradiction", f"{sent.retry.phrase}, for bad arguments")
    elif sent.retry.retryable and sent.effects in CHANGED and tool is not None and not tool.repeatable:
        yield broken("retry-unsafe", f"{sent.retry.phrase}, with effects {sent.effects!r}")
    elif sent.effects in CHANGED and tool is not None and tool.read_only:
        yield broken("effects-contradiction", f"effects {sent.effects!r} of a tool with readOnlyHint")
    else:
        yield met("retry")


def _leaks_anywhere(answer: Answer, around: Surroundings) -> Iterator[Verdict]:
    if around.canary and around.canary in answer.everything:
        yield broken("leaks-environment", "the planted variable of the environment is in the answer")
    if HIDDEN in answer.everything:
        yield broken("leaks-secret", "the value of a header of the request is in the answer")


def _leaks_in_failure(probe: Probe, answer: Answer, around: Surroundings) -> Iterator[Verdict]:
    text = answer.everything
    frame = traceback_in(text)
    if frame is not None:
        yield broken("leaks-traceback", _cut(frame))
    elif is_crash(_MASKED.sub("", text)) and INVALID_ARGUMENTS not in text:
        yield broken("leaks-exception", around.shown(answer))
    if redact_shapes(text).count(REDACTED) > text.count(REDACTED):
        yield broken("leaks-secret", "a part of the text has the form of a secret")
    sent = str(probe.arguments)
    for path in paths_in(text, (sent, *around.said)):
        yield broken("leaks-path", _cut(path))
        break


def _echo(probe: Probe, answer: Answer, around: Surroundings) -> Iterator[Verdict]:
    text = answer.everything
    if probe.kind in {"wrong-type", "out-of-range", "unknown"}:
        echoed = planted(around.marker) in text
        yield broken("echoes-input", around.shown(answer)) if echoed else met("echo")
    elif probe.kind == "hostile":
        if re.search(rf"^{re.escape(forged_line(around.marker))}", answer.texts, re.MULTILINE):
            yield broken("forgeable-text", f"a line of the text begins with a line of {probe.argument!r}")
        elif "x" * _MAX_ECHO in text:
            yield broken("echoes-large-input", f"{probe.argument!r} is repeated")
        else:
            yield met("echo")


def _contract(sent: Envelope | None, tool: CheckedTool) -> Iterator[Verdict]:
    reason = None if sent is None else sent.reason
    if sent is None or sent.dialect != CANONICAL or reason is None or reason in _OWN_REASONS:
        return
    entry = tool.contract.get(reason)
    if entry is None:
        yield broken("undeclared-reason", f"{reason!r} is not one of {', '.join(tool.contract.reasons)}")
    elif sent.name != entry.code.name:
        yield broken("contract-code-mismatch", f"{reason!r} has {sent.name}, and declares {entry.code.name}")
    else:
        path = _misfit(entry.data_schema(), sent.details)
        if path is not None:
            yield broken("contract-data-mismatch", f"the data of {reason!r} do not fit at {path or 'the top'}")
        else:
            yield met("contract")


def _misfit(schema: object, details: Mapping[str, Any]) -> str | None:
    """Where the data break the schema; None if they fit, or the schema cannot be checked."""
    return quietly(lambda: error_path(schema, details), None) if isinstance(schema, Mapping) else None


# --- texts ------------------------------------------------------------------------------------------------------------


def _own_words(text: str) -> str:
    """The text without quoted parts, which may be the caller's."""
    return re.sub(r"'[^'\n]{0,2000}'|\"[^\"\n]{0,2000}\"", " ", text)


def _has_key(facts: Sequence[Any], pattern: re.Pattern[str]) -> bool:
    """Whether an object in the JSON has a key of this kind, with a value that says something."""
    stack, seen = list(facts), 0
    while stack and seen < 10_000:
        part = stack.pop()
        seen += 1
        if isinstance(part, dict):
            if any(pattern.search(str(key)) and value not in (None, "", [], {}) for key, value in part.items()):
                return True
            stack += part.values()
        elif isinstance(part, list):
            stack += part
    return False


def _cut(text: str) -> str:
    """A text as one short line."""
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"
