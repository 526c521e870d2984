"""The questions that a report answers, and the rules of the findings: one table for the judge and the docs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from mcpcore.values.bounds import MESSAGE

Level = Literal["error", "warning", "note"]

Question = Literal["failed", "why", "next", "safe", "leak"]

QUESTIONS: Final[dict[Question, str]] = {
    "failed": "Does it say that it failed?",
    "why": "Does it say why?",
    "next": "Does it say what to do next?",
    "safe": "Is it safe to act on?",
    "leak": "Is nothing leaked?",
}
"""What an agent needs from a failure, each as a reader of the report sees it."""

Grade = Literal["yes", "partly", "no", "unclear", "not tried"]

GRADES: Final[dict[Grade, str]] = {
    "yes": "every call that shows it is all right",
    "partly": "some calls are all right, and the findings of the others are warnings",
    "no": "a finding is an error, or no call is all right",
    "unclear": "nothing is wrong, but some calls cannot be judged, or the check ended early",
    "not tried": "no tool was called, or no call shows it",
}
"""The answers to a question, and when they are given."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of finding.

    Attributes:
        id: The name in reports.
        question: The question that it answers; None for a note that answers none.
        level: The level of the finding.
        summary: The defect, as a sentence.
        fix: The remedy, as a sentence.
    """

    id: str
    question: Question | None
    level: Level
    summary: str
    fix: str


RULES: Final = {
    rule.id: rule
    for rule in (
        Rule(
            "failure-as-success",
            "failed",
            "error",
            "A failure is sent as a success.",
            "Set isError on the result. Otherwise a model or a program takes the text for an answer.",
        ),
        Rule(
            "accepts-bad-arguments",
            "failed",
            "error",
            "A call that breaks the input schema succeeds.",
            "Validate the arguments against the schema that tools/list advertises.",
        ),
        Rule(
            "failure-as-protocol-error",
            "failed",
            "warning",
            # A warning, since the specification only says SHOULD (schema, `CallToolResult.isError`).
            "A tool's failure is sent as a JSON-RPC error.",
            "Send a result with isError; most hosts do not show a protocol error to the model.",
        ),
        Rule(
            "unknown-tool-succeeds",
            "failed",
            "error",
            "A call to an unknown tool succeeds.",
            "Answer with the JSON-RPC error -32602, or with a result that has isError.",
        ),
        Rule(
            "unclear-failure",
            "failed",
            "note",
            # A note, since only words suggest a failure, and words alone prove nothing.
            "A reader has to judge whether a success is a failure.",
            "Set isError if the tool could not do its work.",
        ),
        Rule(
            "no-next-step",
            "next",
            "warning",
            "A failure does not say what to do next.",
            "Say what to change, which tool to call instead, or whom to ask.",
        ),
        Rule(
            "unclear-next-step",
            "next",
            "note",
            # A note, since advice in another form or language is not recognized.
            "A reader has to judge whether a failure says what to do next.",
            "Begin a sentence with the step, as in: Call list_items to see the items.",
        ),
        Rule(
            "no-cause",
            "why",
            "warning",
            "A failure says only that it failed.",
            "Raise a failure with a sentence of your own wherever the cause is known.",
        ),
        Rule(
            "argument-not-named",
            "why",
            "warning",
            "The answer to bad arguments does not name the argument.",
            "Name the argument and the values it takes.",
        ),
        Rule(
            "unknown-fallback-tool",
            "next",
            "warning",
            "The advice names a tool that the server does not have.",
            "Name a tool of tools/list.",
        ),
        Rule(
            "no-retry-advice",
            "safe",
            "warning",
            "A temporary failure does not say whether to call again.",
            "Say in the text or in a field when to call again, or that it is no use.",
        ),
        Rule(
            "retry-contradiction",
            "safe",
            "error",
            "A failure advises repeating a call whose arguments can never fit.",
            "Advise against a retry with the same arguments.",
        ),
        Rule(
            "retry-unsafe",
            "safe",
            "error",
            "A failure advises repeating a call that may already have changed something.",
            "Annotate the tool with idempotentHint if a second call is harmless; else advise against a retry.",
        ),
        Rule(
            "effects-contradiction",
            "safe",
            "warning",
            "A tool annotated read-only says that a failed call may have changed something.",
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
            "An answer contains text that looks like a secret.",
            "Keep the text of an upstream error in the log, and send a sentence of your own.",
        ),
        Rule(
            "leaks-traceback",
            "leak",
            "error",
            "A failure contains a traceback.",
            "Log the traceback, and send a sentence with an id that is also in the log.",
        ),
        Rule(
            "leaks-exception",
            "leak",
            "warning",
            "A failure contains the text of an unexpected exception.",
            "Catch the exception where its cause is known, and send a sentence of your own.",
        ),
        Rule(
            "leaks-path",
            "leak",
            "warning",
            "A failure contains a path on the server's machine.",
            "Send the path as the caller wrote it, or none.",
        ),
        Rule(
            "echoes-input",
            "leak",
            "warning",
            "The answer to bad arguments repeats the rejected value.",
            "Name the argument instead: the value may be a secret, or text that instructs the model.",
        ),
        Rule(
            "echoes-large-input",
            "leak",
            "warning",
            f"A failure repeats more than {MESSAGE:,} characters of its input.",
            "Cut what a failure quotes, or bound the argument with maxLength.",
        ),
        Rule(
            "forgeable-text",
            "safe",
            "error",
            "A value with line breaks begins a new line in the text of a failure.",
            "Escape or indent the lines of a quoted value, so it cannot pass for the server's own advice.",
        ),
        Rule(
            "server-dies",
            "failed",
            "error",
            "The server ends or closes the connection during a call.",
            "Catch exceptions at the boundary of the tool; never exit while requests are open.",
        ),
        Rule(
            "no-answer",
            "failed",
            "error",
            "A call is not answered in time.",
            "Give each operation a time limit, and fail when it is over.",
        ),
        Rule(
            "malformed-answer",
            "failed",
            "error",
            "An answer breaks the protocol, and clients refuse it.",
            "Send the fields of the specification with their types.",
        ),
        Rule(
            "breaks-on-cancel",
            "failed",
            "error",
            "The server does not answer after a call was cancelled.",
            "Treat notifications/cancelled as the end of one request.",
        ),
        Rule(
            "noise-on-stdout",
            None,
            "warning",
            "The server writes lines to standard output that are not protocol messages.",
            "Write logs to standard error.",
        ),
        Rule(
            "undeclared-reason",
            "why",
            "error",
            "A failure has a reason its tool's contract does not declare.",
            "Declare the reason, or raise a declared one.",
        ),
        Rule(
            "contract-code-mismatch",
            "why",
            "error",
            "A failure's code is not the one its reason declares.",
            "Raise the declared code, or declare the raised one.",
        ),
        Rule(
            "contract-data-mismatch",
            "why",
            "error",
            "A failure's data breaks the schema its reason declares.",
            "Send the declared data.",
        ),
        Rule(
            "contract-invalid",
            "why",
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
            "The tool was not called, because it may change something.",
            "Annotate a tool that changes nothing with readOnlyHint, or check a disposable server with --all.",
        ),
        Rule(
            "accepts-unknown-arguments",
            None,
            "note",
            # A note, since a schema without `additionalProperties` admits the argument.
            "The tool silently accepts an argument its schema does not name.",
            "Reject it, and set additionalProperties to false. Otherwise a misspelt argument is lost.",
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
