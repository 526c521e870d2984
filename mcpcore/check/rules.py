"""The criteria of the score and the rules of the findings: one table for the judge, the reports and the docs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from mcpcore.values.bounds import MESSAGE

Level = Literal["error", "warning", "note"]

LEVELS: Final[tuple[Level, ...]] = ("error", "warning", "note")
"""The levels of a finding, the worst first. A note never lowers the score."""

CAP: Final = 79
"""The most points with an error, so that `--fail-under 80` accepts none."""

LOWEST_CAP: Final = 49
"""The most points with an error of a criterion of `_VITAL`."""

_VITAL: Final = frozenset({"survival", "leak"})
"""Without these, a server is useless or dangerous, however well its other failures read."""

CAPS: Final = (
    f"An error caps the score: at {LOWEST_CAP} if the server hangs, dies, sends what clients refuse or leaks "
    f"(`survival`, `leak`), at {CAP} otherwise."
)
"""The rule in words, for the reports and the docs."""


@dataclass(frozen=True, slots=True)
class Criterion:
    """One question that each failure answers with yes or no.

    Attributes:
        id: The name in reports.
        weight: The points of the score, of 100.
        question: The question, as a reader of the report sees it.
    """

    id: str
    weight: int
    question: str


CRITERIA: Final = {
    criterion.id: criterion
    for criterion in (
        Criterion("marked", 25, "Is a failure marked as one?"),
        Criterion("next-step", 20, "Does it say what to do?"),
        Criterion("retry", 10, "Does it say whether to retry, consistently with the annotations?"),
        Criterion("leak", 20, "Does it keep internals and secrets to itself?"),
        Criterion("echo", 5, "Is the input kept out of it, and unable to forge a part of it?"),
        Criterion("survival", 15, "Does the server answer, and survive?"),
        Criterion("contract", 5, "Does it agree with the contract in tools/list?"),
    )
}


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of finding.

    Attributes:
        id: The name in reports.
        criterion: The criterion that it fails; None for a note, which is not scored.
        level: The level of the finding.
        summary: The defect, as a sentence.
        fix: The remedy, as a sentence.
    """

    id: str
    criterion: str | None
    level: Level
    summary: str
    fix: str

    @property
    def cap(self) -> int:
        """The most points of a server that breaks the rule."""
        if self.level != "error":
            return 100
        return LOWEST_CAP if self.criterion in _VITAL else CAP


RULES: Final = {
    rule.id: rule
    for rule in (
        Rule(
            "failure-as-success",
            "marked",
            "error",
            "A failure is sent as a success.",
            "Set isError on the result; a model or a program takes the text for an answer otherwise.",
        ),
        Rule(
            "accepts-bad-arguments",
            "marked",
            "error",
            "A call that breaks the input schema succeeds.",
            "Validate the arguments against the schema that tools/list advertises.",
        ),
        Rule(
            "failure-as-protocol-error",
            "marked",
            "warning",
            "A failure of a tool is sent as a JSON-RPC error.",
            "Send a result with isError; most hosts do not show a protocol error to the model.",
        ),
        Rule(
            "unknown-tool-succeeds",
            "marked",
            "error",
            "A call of a tool that does not exist succeeds.",
            "Answer with the JSON-RPC error -32602, or with a result that has isError.",
        ),
        Rule(
            "no-next-step",
            "next-step",
            "warning",
            "A failure does not say what to do next.",
            "Say what to change, which tool to call instead, or whom to ask.",
        ),
        Rule(
            "argument-not-named",
            "next-step",
            "warning",
            "The answer to bad arguments does not name the argument.",
            "Name the argument and the values that it takes.",
        ),
        Rule(
            "unknown-fallback-tool",
            "next-step",
            "warning",
            "The advice names a tool that the server does not have.",
            "Name a tool of tools/list.",
        ),
        Rule(
            "no-retry-advice",
            "retry",
            "warning",
            "A failure does not say whether the same call is worth making again.",
            "Send the advice as a field, or say it in the text.",
        ),
        Rule(
            "retry-contradiction",
            "retry",
            "error",
            "The advice is to repeat a call whose arguments cannot fit.",
            "Advise against a retry until the arguments are changed.",
        ),
        Rule(
            "retry-unsafe",
            "retry",
            "error",
            "The advice is to repeat a call that may already have changed something.",
            "Annotate the tool with idempotentHint if a second call is harmless; else advise against a retry.",
        ),
        Rule(
            "effects-contradiction",
            "retry",
            "warning",
            "A tool that is annotated read-only says that a failed call may have changed something.",
            "Correct the annotation or the effects.",
        ),
        Rule(
            "leaks-environment",
            "leak",
            "error",
            "A variable of the server's environment reaches the client.",
            "Never put the environment, a configuration or a command line into an answer.",
        ),
        Rule(
            "leaks-secret",
            "leak",
            "error",
            "An answer holds text in the form of a secret.",
            "Keep the text of an upstream error in the log, and send a sentence of your own.",
        ),
        Rule(
            "leaks-traceback",
            "leak",
            "error",
            "A failure holds a traceback.",
            "Log the traceback, and send a sentence with an id that is also in the log.",
        ),
        Rule(
            "leaks-exception",
            "leak",
            "warning",
            "A failure holds the text of an exception that the program did not expect.",
            "Catch the exception where its cause is known, and send a sentence of your own.",
        ),
        Rule(
            "leaks-path",
            "leak",
            "warning",
            "A failure holds a path of the server's machine.",
            "Send the path as the caller wrote it, or none.",
        ),
        Rule(
            "echoes-input",
            "echo",
            "warning",
            "The answer to bad arguments repeats the rejected value.",
            "Name the argument instead: the value may be a secret, or text that instructs the model.",
        ),
        Rule(
            "echoes-large-input",
            "echo",
            "warning",
            f"A failure repeats more than {MESSAGE:,} characters of its input.",
            "Cut what a failure quotes, or bound the argument with maxLength.",
        ),
        Rule(
            "forgeable-text",
            "echo",
            "error",
            "A value with line feeds begins a line of the text of a failure.",
            "Escape or indent the lines of a quoted value, so that it cannot pass for advice of the server.",
        ),
        Rule(
            "server-dies",
            "survival",
            "error",
            "The server ends or closes the connection during a call.",
            "Catch exceptions at the boundary of the tool; never exit while requests are open.",
        ),
        Rule(
            "no-answer",
            "survival",
            "error",
            "A call is not answered in time.",
            "Give each operation a time limit, and fail when it is over.",
        ),
        Rule(
            "malformed-answer",
            "survival",
            "error",
            "An answer does not have the form that the protocol requires, and clients refuse it.",
            "Send the fields of the specification with their types.",
        ),
        Rule(
            "breaks-on-cancel",
            "survival",
            "error",
            "The server does not answer after a call was cancelled.",
            "Treat notifications/cancelled as the end of one request.",
        ),
        Rule(
            "noise-on-stdout",
            "survival",
            "warning",
            "The server writes lines to standard output that are no messages of the protocol.",
            "Write logs to standard error.",
        ),
        Rule(
            "undeclared-reason",
            "contract",
            "error",
            "A failure has a reason that the contract of its tool does not declare.",
            "Declare the reason, or raise a declared one.",
        ),
        Rule(
            "contract-code-mismatch",
            "contract",
            "error",
            "A failure has another code than its reason declares.",
            "Raise the declared code, or declare the raised one.",
        ),
        Rule(
            "contract-data-mismatch",
            "contract",
            "error",
            "The data of a failure breaks the data schema of its reason.",
            "Send the declared data.",
        ),
        Rule(
            "contract-invalid",
            "contract",
            "error",
            "An entry of the contract in tools/list cannot be read.",
            "Send reason, code, name, when, recovery and retry for each entry, and each reason once.",
        ),
        Rule(
            "no-contract",
            None,
            "note",
            "Nothing in tools/list says how the tool fails.",
            "Declare the failure modes of the tool.",
        ),
        Rule(
            "not-called",
            None,
            "note",
            "The tool was not called, since it may change something.",
            "Annotate a tool that changes nothing with readOnlyHint, or check a disposable server with --all.",
        ),
        Rule(
            "accepts-unknown-arguments",
            None,
            "note",
            "An argument that the schema does not name is accepted in silence.",
            "Reject it, and set additionalProperties to false: a misspelt argument is lost otherwise.",
        ),
        Rule(
            "unusable-schema",
            None,
            "note",
            "No arguments can be drawn from the input schema.",
            "Correct the schema, or add examples; it may be invalid, contradictory or refer to another document.",
        ),
        Rule(
            "duplicate-tool",
            None,
            "note",
            "tools/list names a tool twice.",
            "Give each tool one name.",
        ),
    )
}
