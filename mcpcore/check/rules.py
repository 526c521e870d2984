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
            "Set isError on the result; a model or a program takes the text for an answer otherwise.",
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
            "A failure of a tool is sent as a JSON-RPC error.",
            "Send a result with isError; most hosts do not show a protocol error to the model.",
        ),
        Rule(
            "unknown-tool-succeeds",
            "failed",
            "error",
            "A call of a tool that does not exist succeeds.",
            "Answer with the JSON-RPC error -32602, or with a result that has isError.",
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
            "Whether a failure says what to do next is for a reader to judge.",
            "Begin a sentence with the step, as in: Call list_items to see the items.",
        ),
        Rule(
            "no-cause",
            "why",
            "warning",
            "A failure says nothing but that it failed.",
            "Raise a failure with a sentence of your own wherever the cause is known.",
        ),
        Rule(
            "argument-not-named",
            "why",
            "warning",
            "The answer to bad arguments does not name the argument.",
            "Name the argument and the values that it takes.",
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
            "A failure that may pass does not say whether to call again.",
            "Say in the text or in a field when to call again, or that nobody should.",
        ),
        Rule(
            "retry-contradiction",
            "safe",
            "error",
            "The advice is to repeat a call whose arguments cannot fit.",
            "Advise against a retry until the arguments are changed.",
        ),
        Rule(
            "retry-unsafe",
            "safe",
            "error",
            "The advice is to repeat a call that may already have changed something.",
            "Annotate the tool with idempotentHint if a second call is harmless; else advise against a retry.",
        ),
        Rule(
            "effects-contradiction",
            "safe",
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
            "A value with line feeds begins a line of the text of a failure.",
            "Escape or indent the lines of a quoted value, so that it cannot pass for advice of the server.",
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
            "An answer does not have the form that the protocol requires, and clients refuse it.",
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
            "The server writes lines to standard output that are no messages of the protocol.",
            "Write logs to standard error.",
        ),
        Rule(
            "undeclared-reason",
            "why",
            "error",
            "A failure has a reason that the contract of its tool does not declare.",
            "Declare the reason, or raise a declared one.",
        ),
        Rule(
            "contract-code-mismatch",
            "why",
            "error",
            "A failure has another code than its reason declares.",
            "Raise the declared code, or declare the raised one.",
        ),
        Rule(
            "contract-data-mismatch",
            "why",
            "error",
            "The data of a failure breaks the data schema of its reason.",
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
