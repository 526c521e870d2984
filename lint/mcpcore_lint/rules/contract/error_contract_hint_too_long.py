"""error-contract-hint-too-long."""

from mcpcore.values import bounds
from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import Const, Handler, Mapping, Text, ToolDef, Value, options
from mcpcore_lint.rule import RuleContext
from mcpcore_lint.rules.contract._entries import Checked, EntryRule, Problem

_STEP = "say only the next step; put explanations into the tool's description or into data"


class ContractHintTooLong(EntryRule):
    """A message or hint is cut before it is sent.

    Summary: the message or the hint is longer than the wire allows
    Why: The model never reads the end of the text, which is often where the next step is: messages are cut after 1,000
        characters, hints after 500.
    How to fix: Say only the next step. Put explanations in the tool's description or in `data`.
    When to suppress: When the server is created with larger `limits`.

    Bad:
        FailureMode("no_match", ..., recovery="Call search_articles ... (600 characters)")
    Good:
        FailureMode("no_match", ..., recovery="Call search_articles to discover valid PMIDs first.")
    """

    severity = Severity.WARNING
    arguments = ("when", "recovery", "user_message")

    def check_value(self, checked: Checked) -> Problem | None:
        """Report a text of an entry that is too long."""
        problem = _too_long(checked.argument.name, checked.value)
        return checked.problem(problem, _STEP) if problem else None

    def check_handler(self, handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:
        """Report a text that is too long where a failure is raised."""
        for error in handler.errors:
            texts = [("message", error.message, value) for value in options(error.message.value)]
            for value in options(error.recovery.value):
                hint = value.get("hint") if isinstance(value, Mapping) else value
                texts += [("recovery", error.recovery, hint)] if hint is not None else []
            for name, argument, value in texts if error.form in {"fail", "factory", "coded"} else ():
                if problem := _too_long(name, value):
                    node = argument.node or error.node
                    ctx.report(node, f"the {name} {problem}", help=_STEP, tool=tool, module=error.module)


def _too_long(name: str, value: Value) -> str | None:
    """How a text breaks the limit of the wire, or None."""
    limit = bounds.MESSAGE if name in {"when", "message"} else bounds.HINT
    # At least the literal pieces of a partly known text are sent.
    length = sum(len(part) for part in value.parts if part is not None) if isinstance(value, Text) else 0
    if isinstance(value, Const) and isinstance(value.value, str):
        length = len(value.value.strip())
    return f"has {length} characters; clients receive only {limit}" if length > limit else None
