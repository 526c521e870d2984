"""What a check sends, receives and concludes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from mcpcore.check.rules import CRITERIA, LEVELS, RULES, Rule
from mcpcore.client.listing import ListedTool
from mcpcore.proxy.messages import texts_of
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
        strict: Whether the input schema rejects the arguments.
    """

    kind: ProbeKind
    tool: str
    arguments: dict[str, Any]
    argument: str = ""
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
        seconds: How long it took.
    """

    kind: AnswerKind
    value: dict[str, Any] = field(default_factory=dict)
    detail: str = ""
    seconds: float = 0.0

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
    def everything(self) -> str:
        """All texts of the answer: of the text blocks, and of the structured content or the data."""
        data = self.value.get("data" if self.kind == "error" else "structuredContent")
        if data is None:
            return self.texts
        parts = quietly(lambda: "\n".join(_texts(data)), "")
        return f"{self.texts}\n{parts}"[:MAX_READ]

    @property
    def facts(self) -> list[Any]:
        """The JSON in the answer, which may hold fields of advice."""
        data = self.value.get("data" if self.kind == "error" else "structuredContent")
        parsed = quietly(lambda: json.loads(self.texts), None) if self.texts.lstrip().startswith("{") else None
        return [part for part in (data, parsed) if part is not None]


def _texts(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield str(key)
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One criterion, judged for one call; or a note, which no criterion counts.

    Attributes:
        criterion: The criterion; None for a note.
        rule: The rule that is broken; None if the criterion is met.
        message: What was seen.
    """

    criterion: str | None
    rule: Rule | None = None
    message: str = ""


def met(criterion: str) -> Verdict:
    """A criterion that is met."""
    return Verdict(criterion=criterion)


def broken(rule: str, message: str) -> Verdict:
    """A rule that is broken."""
    entry = RULES[rule]
    return Verdict(criterion=entry.criterion, rule=entry, message=message)


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


@dataclass(slots=True)
class Score:
    """Counts of judged and met criteria, the errors that were found, and the points that follow from them."""

    met: dict[str, int] = field(default_factory=dict)
    judged: dict[str, int] = field(default_factory=dict)
    errors: dict[str, int] = field(default_factory=dict)
    """The rules of level "error" that were broken, each with the most points that it leaves."""

    def add(self, verdicts: Iterable[Verdict]) -> None:
        """Count what was judged of one call: each criterion once, as met if nothing broke it."""
        unbroken: dict[str, bool] = {}
        for verdict in verdicts:
            if verdict.rule is not None and verdict.rule.cap < 100:
                self.errors[verdict.rule.id] = verdict.rule.cap
            if verdict.criterion is not None:
                unbroken[verdict.criterion] = unbroken.get(verdict.criterion, True) and verdict.rule is None
        for criterion, is_met in unbroken.items():
            self.judged[criterion] = self.judged.get(criterion, 0) + 1
            self.met[criterion] = self.met.get(criterion, 0) + is_met

    @property
    def points(self) -> float | None:
        """The score from 0 to 100; None if nothing was judged.

        The sum of weight x met / judged over the criteria that were judged, divided by the sum of their weights, and
        at most the cap of the errors.
        """
        uncapped = self._uncapped
        return None if uncapped is None else min(self.cap, uncapped)

    @property
    def _uncapped(self) -> float | None:
        weights = sum(CRITERIA[name].weight for name in self.judged)
        if not weights:
            return None
        total = sum(CRITERIA[name].weight * self.met[name] / self.judged[name] for name in self.judged)
        return 100 * total / weights

    @property
    def cap(self) -> int:
        """The most points that the errors leave; 100 without an error."""
        return min(self.errors.values(), default=100)

    @property
    def capped_by(self) -> list[str]:
        """The rules whose errors lower the score to the cap; empty if the criteria alone lower it as much."""
        uncapped = self._uncapped
        if uncapped is None or uncapped <= self.cap:
            return []
        return sorted(rule for rule, cap in self.errors.items() if cap == self.cap)

    @property
    def formula(self) -> str:
        """The calculation with its numbers, in the order of the criteria."""
        if self.points is None:
            return "nothing was judged"
        names = [name for name in CRITERIA if name in self.judged]
        terms = " + ".join(f"{CRITERIA[name].weight} x {self.met[name]}/{self.judged[name]}" for name in names)
        weights = sum(CRITERIA[name].weight for name in names)
        quotient = f"100 x ({terms}) / {weights}"
        if self.capped_by:
            quotient = f"min({self.cap}, {quotient})"
        return f"{quotient} = {rounded(self.points)}"


def rounded(points: float) -> int:
    """A score as a whole number; 100 only if nothing at all was lost."""
    return int(points) if points < 100 else 100


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedTool(ListedTool):
    """A tool of the server.

    Attributes:
        fields: The fields that its output schema declares.
        declared: The contract as the server sent it; None without one.
        destructive: Whether the annotations say that it destroys something.
    """

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
        score: The criteria that were judged.
        calls: The number of calls that were made.
        skipped: Why it was not called, or not called to the end; "" otherwise.
        judged: Whether all its calls were made, or left out because of the tool itself.
    """

    name: str
    tool: CheckedTool | None
    score: Score = field(default_factory=Score)
    calls: int = 0
    skipped: str = ""
    judged: bool = False

    @property
    def points(self) -> float | None:
        """The score; None unless it was called, and judged to the end."""
        return self.score.points if self.calls and self.judged else None


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
        score: The criteria over all calls.
        stopped: Why the check ended early; "" otherwise.
    """

    target: str
    file: str | None = None
    server: str = ""
    protocol: str = ""
    seed: int = 0
    tools: list[ToolReport] = field(default_factory=list)
    score: Score = field(default_factory=Score)
    stopped: str = ""
    _findings: dict[tuple[str, str], Finding] = field(default_factory=dict)

    @property
    def points(self) -> float | None:
        """The score; None unless a tool was called, and all were judged to the end."""
        called = any(report.calls for report in self.tools if report.tool is not None)
        return self.score.points if called and not self.stopped else None

    @property
    def formula(self) -> str:
        """The calculation of the score, or why the report has no score."""
        if self.points is not None:
            return self.score.formula
        return f"the check ended early: {self.stopped}" if self.stopped else "no tool was called"

    @property
    def findings(self) -> list[Finding]:
        """The findings, the worst first, and in the order of the tools."""
        return sorted(self._findings.values(), key=lambda finding: LEVELS.index(finding.rule.level))

    def add(self, tool: str, verdicts: Sequence[Verdict], probe: Probe | None = None) -> None:
        """Count verdicts, and keep what is broken."""
        self.score.add(verdicts)
        for verdict in verdicts:
            if verdict.rule is None:
                continue
            known = self._findings.get((tool, verdict.rule.id))
            if known is None:
                self._findings[tool, verdict.rule.id] = Finding(verdict.rule, tool, verdict.message, probe)
            else:
                known.count += 1
