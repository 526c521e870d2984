"""Judges one answer to one probe, also by what it reveals."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from mcpcore.check.advice import TRANSIENT, says_what_to_do
from mcpcore.check.model import BAD_ARGUMENTS, Answer, AnswerKind, CheckedTool, Probe, Verdict, broken, met
from mcpcore.check.probe_arguments import forged_line, planted
from mcpcore.client.failures import VAGUE, inferred_envelope
from mcpcore.client.headers import HIDDEN
from mcpcore.client.schemas import error_path
from mcpcore.contract.codes import ErrorCode
from mcpcore.contract.effects import CHANGED
from mcpcore.contract.failure_modes import CONTRACT_META_KEY
from mcpcore.proxy.disguises import cleaned, disguised_failure, is_crash, suspected_failure
from mcpcore.values.bounds import MESSAGE
from mcpcore.values.json_schema import properties
from mcpcore.values.untrusted import quietly
from mcpcore.wire.arguments import INVALID_ARGUMENTS
from mcpcore.wire.envelope import CANONICAL, UNKNOWN_DIALECT, Envelope
from mcpcore.wire.redaction import REDACTED, redact_shapes

# Frames as Python, JavaScript, Java, Go, Rust and PHP write them.
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


# The text that the SDK and FastMCP send instead of that of an exception.
_MASKED: Final = re.compile(r"^Error (?:executing|calling) tool '?[\w.-]{1,128}'?$", re.MULTILINE)


# Reasons of the framework itself, which no contract declares.
_OWN_REASONS: Final = frozenset(
    {
        INVALID_ARGUMENTS, "audit_failed", "call_timeout", "missing_scope", "no_access_token", "server_ended",
        "server_not_started", "too_many_calls", "unknown_tool",
    }
)  # fmt: skip

# Characters of one value that a failure may repeat: as many as a message of mcpcore, which is cut there, may hold.
_MAX_ECHO: Final = MESSAGE

_SHOWN: Final = 160


_PATH: Final = re.compile(
    r"(?<![\w:/.~*-])/(?:home|Users|root|usr|var|tmp|opt|etc|srv|mnt|private|app|code|work|workspace|nix|Library|proc)"
    r"/[\w.@+-][\w.@+/-]*"
    r"|(?<![\w/])[A-Za-z]:\\{1,2}(?:Users|Windows|Program Files|ProgramData|Temp)\\{1,2}[^\s\"'<>|]{1,200}"
    r"|\bfile:///[\w.@+/-]{3,200}"
    r"|(?:site-packages|dist-packages|node_modules)[/\\][\w.@+/\\-]{1,200}"
)

_ANY_PATH: Final = re.compile(r"(?<![\w:/.~*-])/[\w.@+-]{2,}[\w.@+/-]*")

# Where the code of the server is installed, which no tool is about.
_OF_PACKAGES: Final = re.compile(r"(?:site-packages|dist-packages|node_modules)[/\\]")

# Names of arguments that take a path.
_LOCATION: Final = re.compile(
    r"(?:^|_)(?:path|file|filename|filepath|dir|directory|folder|root|cwd|repo|repository|workspace|uri)s?(?:$|_)"
)

# Texts of successes that are kept.
_MOST: Final = 1_000


class Paths:
    """The texts of the caller, and those that the server shows by itself.

    A directory that one of them names is no secret, nor is a path in it.
    """

    def __init__(self, known: Iterable[str] = ()) -> None:
        """Keep the texts of the caller, such as the command line, and of the listing."""
        self._known = set(known)

    def show(self, text: str) -> None:
        """Keep the text of a success."""
        if len(self._known) < _MOST and _PATH.search(text) is not None:
            self._known.add(text)

    def leaked(self, text: str, tool: CheckedTool | None, arguments: Mapping[str, Any]) -> str | None:
        """The first path of the server's machine in a failure that the client had no part in; None without one.

        Args:
            text: The text of the failure.
            tool: The tool that failed. If it takes a path, it may speak of the paths of its files.
            arguments: The arguments of the call. A path that ends in one of them is the caller's, made absolute.
        """
        if _PATH.search(text) is None:
            return None
        schema = {} if tool is None else dict(tool.input_schema)
        said = "\0".join([*self._known, str(dict(arguments)), str(schema)])
        directories = {match[0].rstrip("/.") + "/" for match in _ANY_PATH.finditer(said)}
        own = {f"/{value}" for value in arguments.values() if isinstance(value, str) and value}
        names = quietly(lambda: list(properties(schema, schema)), list[str]())
        is_about_paths = any(_LOCATION.search(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()) for name in names)
        for match in _PATH.finditer(text):
            path = match[0].rstrip(".,;:'\")")
            is_of_client = path in said or any(directory in path for directory in directories)
            is_of_files = is_about_paths or any(value in path for value in own)
            if not is_of_client and (_OF_PACKAGES.search(path) is not None or not is_of_files):
                return path
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """The facts that the judge needs besides an answer.

    Attributes:
        names: The names of the server's tools.
        marker: The text that is planted in arguments.
        canary: The text that is planted in the environment; "" for a URL.
        paths: The paths that are no secret of the server.
    """

    names: frozenset[str]
    marker: str
    canary: str = ""
    paths: Paths = field(default_factory=Paths)

    def shown(self, answer: Answer) -> str:
        """The text of an answer for a report, which must not hold the environment."""
        if self.canary and self.canary in answer.everything:
            return "(withheld, since it holds the environment)"
        return _cut(answer.texts)

    def without_values(self, text: str) -> str:
        """`text` without the values that the calls sent."""
        text = text.replace(forged_line(self.marker), "''")
        cut = r"\u2026 \(cut: \d+ characters in all\)"
        # A full stop after a value ends the server's sentence.
        return re.sub(rf"[\w./-]*{re.escape(self.marker)}(?:[\w./-]*[\w/-])?|x{{20,}}|{cut}", "''", text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A failed answer.

    Attributes:
        probe: The call.
        answer: The answer.
        tool: The tool as it is listed; None for a tool that does not exist.
        sent: The failure as it was read, or None.
        words: The sentences that the server wrote: its message and its hint. Keys and advice that a framework adds to
            every failure are left out, and so are the values that the call sent.
        advises: Whether the words say what to do; None if a reader has to judge it.
    """

    probe: Probe
    answer: Answer
    tool: CheckedTool | None
    sent: Envelope | None
    words: str
    advises: bool | None

    @property
    def breaks_schema(self) -> bool:
        """Whether it answers arguments that the input schema rejects."""
        return self.probe.kind in BAD_ARGUMENTS and self.probe.strict

    @property
    def own_advice(self) -> bool:
        """Whether the advice about repeating the call is the server's own, and not that for all failures."""
        sent = self.sent
        if sent is None or not sent.retry_stated:
            return False
        # Advice with a code for failures that nobody foresaw is the framework's, the same for all.
        return sent.dialect != CANONICAL or sent.reason is not None or sent.error_code not in VAGUE


def judge(probe: Probe, answer: Answer, tool: CheckedTool | None, around: Surroundings) -> list[Verdict]:
    """The verdicts for each question that the answer shows.

    Args:
        probe: The call.
        answer: What came back.
        tool: The tool as it is listed; None for a call of a tool that does not exist.
        around: The tools of the server and the texts that the check planted.
    """
    if answer.kind in _UNANSWERED:
        rule, message = _UNANSWERED[answer.kind]
        return [broken(rule, message.format(answer.detail) or "the connection was closed")]
    if answer.kind == "cancelled" or answer.asks:
        return [met("failed")]
    leaked = list(_leaks_anywhere(answer, around))
    is_disguised = not answer.failed and tool is not None and _is_disguised(probe, answer, tool)
    if not answer.failed and not is_disguised:
        around.paths.show(answer.everything)
        return [*_accepted(probe, around.shown(answer) if _may_fail(answer) else None), *leaked] or [met("failed")]
    failure = _read(probe, answer, tool, around, is_disguised=is_disguised)
    verdicts = [_marked(failure, around, is_disguised=is_disguised)]
    # Every client has the list of the tools, so that an unknown tool needs neither a cause nor advice.
    if tool is not None:
        verdicts += _cause(failure, around)
        verdicts.append(_next_step(failure, around))
        verdicts += _repeating(failure, tool, around) or [met("safe")]
    leaked += [] if leaked else _leaks_in_failure(failure, around)
    return [*verdicts, *(leaked or [met("leak")])]


def judge_listing(tool: CheckedTool, names: frozenset[str]) -> Iterator[Verdict]:
    """The rules that the listing of a tool breaks."""
    if tool.declared is None:
        yield broken("no-contract", f"_meta has no {CONTRACT_META_KEY}")
        return
    listed = len(tool.declared) if isinstance(tool.declared, list) else -1
    if listed != len(tool.contract):
        said = f"{len(tool.contract)} of {listed} entries can be read" if listed >= 0 else "it is not a list"
        yield broken("contract-invalid", said)
    for entry in tool.contract:
        if entry.fallback_tool is not None and entry.fallback_tool not in names:
            yield broken("unknown-fallback-tool", f"{entry.reason} names {entry.fallback_tool!r}")


# --- one question each ------------------------------------------------------------------------------------------------


# The rule that each kind of answer breaks, and a sentence for what the connection says of it.
_UNANSWERED: Final[Mapping[AnswerKind, tuple[str, str]]] = {
    "timeout": ("no-answer", "no answer {}"),
    "closed": ("server-dies", "{}"),
    "malformed": ("malformed-answer", "{}"),
    "unanswered": ("breaks-on-cancel", "no answer to the next request"),
}


def _accepted(probe: Probe, text: str | None) -> Iterator[Verdict]:
    """A success of a call that should have failed, or whose `text` may say that it failed."""
    if probe.kind == "unknown-tool":
        yield broken("unknown-tool-succeeds", f"a call of {probe.tool!r} succeeded")
    elif probe.kind in BAD_ARGUMENTS and probe.strict:
        yield broken("accepts-bad-arguments", f"{_WRONG[probe.kind]} {probe.argument!r} is accepted")
    elif probe.kind == "unknown":
        yield broken("accepts-unknown-arguments", f"the argument {probe.argument!r} is accepted")
    elif text is not None:
        yield broken("unclear-failure", f"without isError: {text}")


_WRONG: Final = {
    "missing": "a call without the required argument",
    "wrong-type": "a value of the wrong type for",
    "out-of-range": "a value out of range for",
    "unknown": "the excluded argument",
}


def _is_disguised(probe: Probe, answer: Answer, tool: CheckedTool) -> bool:
    """Whether a success is a failure, which words can tell where the arguments cannot fit the tool."""
    cannot_fit = probe.kind in BAD_ARGUMENTS and probe.strict
    facts = quietly(lambda: disguised_failure(answer.value, probe.arguments, declared=tool.fields), None)
    return facts is not None or (cannot_fit and _may_fail(answer))


def _may_fail(answer: Answer) -> bool:
    """Whether a success has words or a flag of a failure."""
    return quietly(lambda: suspected_failure(answer.value), None) is not None


def _read(
    probe: Probe, answer: Answer, tool: CheckedTool | None, around: Surroundings, *, is_disguised: bool
) -> Failure:
    value = answer.value
    if answer.kind == "error":
        value = {"jsonrpc": "2.0", "id": 0, "error": {k: v for k, v in answer.value.items() if v is not None}}
    elif is_disguised:
        value = {**answer.value, "isError": True}
    sent = quietly(lambda: Envelope.from_result(value), None)
    hint = (sent.hint if sent is not None else None) or ""
    words = f"{sent.message}\n{hint}" if sent is not None and sent.dialect == CANONICAL else answer.sentences
    words, hint = around.without_values(cleaned(words)), around.without_values(hint)
    others = around.names - {probe.tool}
    advises = says_what_to_do(words, others)
    if advises is not True and sent is not None and (sent.fallback_tool or hint):
        # The field says that its text is advice, whatever the form or the language of the text.
        advises = sent.fallback_tool is not None or says_what_to_do(hint, others) is not False
    return Failure(probe=probe, answer=answer, tool=tool, sent=sent, words=words, advises=advises)


def _marked(failure: Failure, around: Surroundings, *, is_disguised: bool) -> Verdict:
    answer = failure.answer
    if is_disguised:
        return broken("failure-as-success", f"without isError: {around.shown(answer)}")
    # By the specification, a call of an unknown tool is a protocol error.
    if answer.kind == "error" and failure.tool is not None:
        return broken("failure-as-protocol-error", f"{answer.value.get('code')}: {around.shown(answer)}")
    return met("failed")


def _cause(failure: Failure, around: Surroundings) -> Iterator[Verdict]:
    if failure.tool is not None and failure.tool.contract:
        yield from _contract(failure.sent, failure.tool)
    if failure.breaks_schema:
        is_named = re.search(rf"(?<!\w){re.escape(failure.probe.argument)}(?!\w)", failure.answer.everything)
        message = f"{failure.probe.argument!r} is not in: {around.shown(failure.answer)}"
        yield met("why") if is_named else broken("argument-not-named", message)
    else:
        yield broken("no-cause", around.shown(failure.answer)) if _is_bare(failure.words) else met("why")


def _is_bare(words: str) -> bool:
    """Whether a text has no word but a quoted one, or only those of a framework that hides an exception."""
    words = re.sub(r"(['\"`])\S*\1", "", _MASKED.sub("", words)).strip()
    return words == ErrorCode.INTERNAL_ERROR.sentence or re.search(r"\w", words) is None


def _next_step(failure: Failure, around: Surroundings) -> Verdict:
    sent, probe, text = failure.sent, failure.probe, failure.answer.everything
    if sent is not None and sent.fallback_tool is not None and sent.fallback_tool not in around.names:
        return broken("unknown-fallback-tool", f"it names {sent.fallback_tool!r}")
    if failure.breaks_schema:
        # An argument that is named is one to add, or to leave out; of any other, it must be plain what it takes.
        expected = probe.takes if probe.kind in {"wrong-type", "out-of-range"} else {probe.argument}
        if any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) for word in expected):
            return met("next")
    if failure.advises:
        return met("next")
    return broken("unclear-next-step" if failure.advises is None else "no-next-step", around.shown(failure.answer))


def _repeating(failure: Failure, tool: CheckedTool, around: Surroundings) -> list[Verdict]:
    """The rules that the advice about repeating the call breaks, and the forged advice."""
    sent, probe = failure.sent, failure.probe
    if probe.kind == "hostile" and re.search(
        rf"^{re.escape(forged_line(around.marker))}", failure.answer.texts, re.MULTILINE
    ):
        return [broken("forgeable-text", f"a line of the text begins with a line of {probe.argument!r}")]
    if sent is None:  # pragma: no cover - every failed answer can be read, unless reading itself is broken
        return []
    advises_retry = sent.retry_stated and sent.retry.retryable
    if advises_retry and failure.breaks_schema:
        return [broken("retry-contradiction", f"{sent.retry.phrase}, for bad arguments")]
    if advises_retry and sent.effects in CHANGED and not tool.repeatable:
        return [broken("retry-unsafe", f"{sent.retry.phrase}, with effects {sent.effects!r}")]
    if sent.effects in CHANGED and tool.read_only and sent.dialect != UNKNOWN_DIALECT:
        return [broken("effects-contradiction", f"effects {sent.effects!r} of a tool with readOnlyHint")]
    if failure.breaks_schema or failure.own_advice or failure.advises is not False:
        return []
    code = quietly(lambda: inferred_envelope(sent, tool).error_code, None)
    return [broken("no-retry-advice", around.shown(failure.answer))] if code in TRANSIENT else []


def _leaks_anywhere(answer: Answer, around: Surroundings) -> Iterator[Verdict]:
    if around.canary and around.canary in answer.everything:
        yield broken("leaks-environment", "the planted variable of the environment is in the answer")
    if HIDDEN in answer.everything:
        yield broken("leaks-secret", "the value of a header of the request is in the answer")


def _leaks_in_failure(failure: Failure, around: Surroundings) -> Iterator[Verdict]:
    text, probe = failure.answer.everything, failure.probe
    if (frame := _TRACEBACK.search(text)) is not None:
        yield broken("leaks-traceback", _cut(frame[0]))
    elif is_crash(_MASKED.sub("", text)) and INVALID_ARGUMENTS not in text:
        yield broken("leaks-exception", around.shown(failure.answer))
    if redact_shapes(text).count(REDACTED) > text.count(REDACTED):
        yield broken("leaks-secret", "a part of the text has the form of a secret")
    if (path := around.paths.leaked(text, failure.tool, probe.arguments)) is not None:
        yield broken("leaks-path", _cut(path))
    if probe.kind in {"wrong-type", "out-of-range", "unknown"} and planted(around.marker) in text:
        yield broken("echoes-input", around.shown(failure.answer))
    if probe.kind == "hostile" and "x" * _MAX_ECHO in text:
        yield broken("echoes-large-input", f"{probe.argument!r} is repeated")


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
        schema, details = entry.data_schema(), sent.details
        path = None if schema is None else quietly(lambda: error_path(schema, details), None)
        if path is not None:
            yield broken("contract-data-mismatch", f"the data of {reason!r} do not fit at {path or 'the top'}")
        else:
            yield met("why")


# --- texts ------------------------------------------------------------------------------------------------------------


def _cut(text: str) -> str:
    """A text as one short line."""
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"
