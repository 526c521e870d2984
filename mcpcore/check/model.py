"""What a check sends, receives and concludes."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from mcpcore.check import LEVELS
from mcpcore.check.rules import RULES, Grade, Level, Question, Rule
from mcpcore.client.failures import ListedTool
from mcpcore.proxy.messages import texts_of
from mcpcore.reports import counted
from mcpcore.values.untrusted import quietly

ProbeKind = Literal["unknown-tool", "missing", "wrong-type", "out-of-range", "unknown", "valid", "hostile", "cancelled"]

BAD_ARGUMENTS: Final[frozenset[ProbeKind]] = frozenset({"missing", "wrong-type", "out-of-range", "unknown"})
"""The probes whose arguments break the input schema."""

MAX_READ: Final = 200_000
"""Characters of an answer that are judged."""

UNKNOWN_TOOL: Final = "(unknown tool)"
"""The subject of findings about a call of a tool that does not exist."""

SERVER: Final = "(server)"
"""The subject of findings about the server as a whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One call that the check makes.

    Attributes:
        kind: What the call tries.
        tool: The name of the tool.
        arguments: The arguments that are sent.
        argument: The argument that is wrong, or ""; that of a hostile probe holds the text.
        takes: Words for the values that this argument takes, by the input schema.
        strict: Whether the input schema rejects the arguments.
    """

    kind: ProbeKind
    tool: str
    arguments: dict[str, Any]
    argument: str = ""
    takes: frozenset[str] = frozenset()
    strict: bool = False


AnswerKind = Literal["result", "error", "timeout", "closed", "malformed", "cancelled", "unanswered"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back.

    Attributes:
        kind: "result", "error" of the protocol, "timeout", "closed" when the connection was lost, "malformed" for an
            answer that clients refuse, "cancelled" and "unanswered" for a cancelled call after which the server
            answers or not.
        value: The result, or the error with its code, message and data.
        detail: Why there is no answer.
    """

    kind: AnswerKind
    value: dict[str, Any] = field(default_factory=dict)
    detail: str = ""

    @property
    def failed(self) -> bool:
        """Whether the answer is marked as a failure."""
        return self.kind == "error" or (self.kind == "result" and self.value.get("isError") is True)

    @property
    def asks(self) -> bool:
        """Whether the result asks for input, and so is neither a success nor a failure."""
        return self.kind == "result" and self.value.get("resultType", "complete") != "complete"

    @property
    def texts(self) -> str:
        """The text that a model reads: the text blocks, or the message of an error."""
        if self.kind == "error":
            return str(self.value.get("message"))[:MAX_READ]
        return texts_of(self.value)[:MAX_READ]

    @property
    def data(self) -> object:
        """The structured content, or the data of an error."""
        return self.value.get("data" if self.kind == "error" else "structuredContent")

    @property
    def everything(self) -> str:
        """All texts of the answer: of the text blocks, and of the structured content or the data, with its keys."""
        # An answer may be nested deeper than Python recurses.
        return "\n".join((self.texts, *quietly(lambda: list(_texts(self.data)), [])))[:MAX_READ]

    @property
    def sentences(self) -> str:
        """The texts of the answer in which sentences may be: without the keys of JSON, and without its single words."""
        text = self.texts
        parsed = quietly(lambda: json.loads(text), None) if text.lstrip().startswith("{") else None
        values = quietly(lambda: [*_texts(self.data, keys=False), *_texts(parsed, keys=False)], [])
        own = [text] if parsed is None else []
        return "\n".join([*own, *(value for value in values if " " in value.strip())])[:MAX_READ]


def _texts(value: Any, *, keys: bool = True) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            if keys:
                yield str(key)
            yield from _texts(item, keys=keys)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item, keys=keys)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What one call says about one question; or a note that answers none.

    Attributes:
        question: The question; None for a note that answers none.
        rule: The rule that is broken; None if the call is all right.
        message: What was seen.
    """

    question: Question | None
    rule: Rule | None = None
    message: str = ""


def met(question: Question) -> Verdict:
    """A question that the call answers well."""
    return Verdict(question=question)


def broken(rule: str, message: str) -> Verdict:
    """A rule that is broken."""
    entry = RULES[rule]
    return Verdict(question=entry.question, rule=entry, message=message)


@dataclass(slots=True)
class Finding:
    """A rule that a tool breaks, in one or more calls.

    Attributes:
        rule: The rule.
        tool: The tool, `UNKNOWN_TOOL` or `SERVER`.
        message: What was seen first.
        probe: The first call in which it was seen; None if no call is needed to see it.
        count: The number of calls in which it was seen.
    """

    rule: Rule
    tool: str
    message: str
    probe: Probe | None = None
    count: int = 1


class Marks(defaultdict[Question, Counter[str]]):
    """For each question, how many calls are all right ("met"), and how many have findings, by the worst level."""

    def __init__(self) -> None:
        super().__init__(Counter)

    def add(self, verdicts: Iterable[Verdict]) -> None:
        """Count one call for each question that it shows."""
        worst: dict[Question, Level | Literal["met"]] = {}
        for verdict in verdicts:
            if verdict.question is not None:
                mark: Level | Literal["met"] = "met" if verdict.rule is None else verdict.rule.level
                worst[verdict.question] = min(worst.get(verdict.question, mark), mark, key=[*LEVELS, "met"].index)
        for question, mark in worst.items():
            self[question][mark] += 1

    def grade(self, question: Question, *, whole: bool) -> Grade:
        """The answer to a question.

        Args:
            question: The question.
            whole: Whether all calls were made that were to be made.
        """
        counts = self[question]
        if counts["error"] or (counts["warning"] and not counts["met"]):
            return "no"
        if counts["warning"]:
            return "partly"
        if counts["note"] or (counts["met"] and not whole):
            return "unclear"
        return "yes" if counts["met"] else "not tried"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedTool(ListedTool):
    """A tool of the server.

    Attributes:
        description: Its description.
        fields: The fields that its output schema declares.
        declared: The contract as the server sent it; None without one.
        destructive: Whether the annotations say that it destroys something.
    """

    description: str = ""
    fields: frozenset[str] = frozenset()
    declared: Any = None
    destructive: bool = False

    @property
    def harmless(self) -> bool:
        """Whether the annotations say that it changes nothing, and do not contradict that."""
        return self.read_only and not self.destructive


@dataclass(slots=True)
class ToolReport:
    """What was seen of one tool.

    Attributes:
        name: Its name.
        tool: The tool as it was listed; None for a tool that does not exist.
        marks: How its calls answer each question.
        calls: The number of calls that were made.
        skipped: Why it was not called, or not called to the end; "" otherwise.
        judged: Whether all its calls were made, or left out because of the tool itself.
    """

    name: str
    tool: CheckedTool | None
    marks: Marks = field(default_factory=Marks)
    calls: int = 0
    skipped: str = ""
    judged: bool = False

    def grade(self, question: Question) -> Grade:
        """The answer to a question, as far as the tool was called."""
        return self.marks.grade(question, whole=self.judged) if self.calls else "not tried"


@dataclass(slots=True)
class Report:
    """The outcome of a check.

    Attributes:
        target: The server as the caller named it.
        file: The file of the server, for reports that show findings at a file; None for a command or a URL.
        server: The name and the version that the server gives itself.
        protocol: The version of the protocol.
        seed: The seed of the drawn arguments.
        tools: The tools, in the order of the list; the unknown tool comes first.
        marks: How all calls answer each question.
        stopped: Why the check ended early; "" otherwise.
    """

    target: str
    file: str | None = None
    server: str = ""
    protocol: str = ""
    seed: int = 0
    tools: list[ToolReport] = field(default_factory=list)
    marks: Marks = field(default_factory=Marks)
    stopped: str = ""
    _findings: dict[tuple[str, str], Finding] = field(default_factory=dict)

    @property
    def called(self) -> int:
        """The number of tools that were called."""
        return sum(subject.calls > 0 for subject in self.tools if subject.tool is not None)

    def grade(self, question: Question) -> Grade:
        """The answer to a question, over all calls."""
        return self.marks.grade(question, whole=not self.stopped) if self.called else "not tried"

    @property
    def findings(self) -> list[Finding]:
        """The findings, the worst first, and in the order of the tools."""
        return sorted(self._findings.values(), key=lambda finding: LEVELS.index(finding.rule.level))

    @property
    def totals(self) -> str:
        """The numbers of findings of each level, in words."""
        return ", ".join(counted(self.count(level), level) for level in LEVELS)

    def count(self, level: Level) -> int:
        """The number of findings of a level."""
        return sum(finding.rule.level == level for finding in self._findings.values())

    def add(self, tool: str, verdicts: Sequence[Verdict], probe: Probe | None = None) -> None:
        """Count verdicts, and keep what is broken."""
        self.marks.add(verdicts)
        for verdict in verdicts:
            if verdict.rule is None:
                continue
            known = self._findings.get((tool, verdict.rule.id))
            if known is None:
                self._findings[tool, verdict.rule.id] = Finding(verdict.rule, tool, verdict.message, probe)
            else:
                known.count += 1
