"""The rule error-contract-hint-too-long."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from mcpcore import bounds
from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import Choice, Const, Mapping, Text, options
from mcpcore_lint.rules.contract._entries import Entry, EntryRule

if TYPE_CHECKING:
    from mcpcore_lint.model import Argument, ErrorSite, Handler, ToolDef, Value
    from mcpcore_lint.rules.base import Family, RuleContext


class ContractHintTooLong(EntryRule):
    """A text that the wire cuts."""

    id = "error-contract-hint-too-long"
    severity = Severity.WARNING
    family: ClassVar[Family] = "contract"
    summary = "message or hint longer than the wire allows"
    why = (
        "A message is cut after 1,000 characters and a hint after 500, so the end of it never reaches the agent; and "
        "the end is often where the next step stands."
    )
    bad = 'FailureMode("no_match", ..., recovery="Call search_articles ... (600 characters)")'
    good = 'FailureMode("no_match", ..., recovery="Call search_articles to discover valid PMIDs first.")'
    how_to_fix = "Say the step, and leave the explanation to the description of the tool or to `data`."
    when_to_suppress = "When the server is made with wider `limits`."

    def check_entry(self, entry: Entry, ctx: RuleContext) -> None:
        """Report a text of an entry that the wire cuts."""
        for name in ("when", "recovery", "user_message"):
            limit = bounds.MESSAGE if name == "when" else bounds.HINT
            length = _longest(entry.arguments[name])
            if length > limit:
                entry.report(
                    ctx,
                    entry.arguments[name],
                    f"the {name} of {entry.label} has {length} characters; the wire carries {limit}",
                    help="say the step, and leave the explanation to the tool's description or to data",
                )

    def check_handler(self, handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:
        """Report a text at a throw that the wire cuts."""
        for error in handler.errors:
            if error.form not in {"fail", "factory", "coded"}:
                continue
            for name, limit, length in _at_throw(error):
                if length > limit:
                    where = error.message if name == "message" else error.recovery
                    ctx.report(
                        where.node or error.node,
                        f"the {name} has {length} characters; the wire carries {limit}",
                        help="say the step, and leave the explanation to the tool's description or to data",
                        tool=tool,
                        module=error.module,
                    )


def _length(value: Value) -> int:
    """The characters that a text has at least."""
    if isinstance(value, Const) and isinstance(value.value, str):
        return len(value.value.strip())
    return value.known_length if isinstance(value, Text) else 0


def _longest(argument: Argument) -> int:
    value = argument.value
    return max(map(_length, options(value)), default=0) if isinstance(value, Choice) else _length(value)


def _at_throw(error: ErrorSite) -> list[tuple[str, int, int]]:
    found = [
        ("message", bounds.MESSAGE, _longest(error.message)),
        ("recovery", bounds.HINT, _longest(error.recovery)),
    ]
    for value in options(error.recovery.value):
        if isinstance(value, Mapping):
            for key in ("hint", "userMessage"):
                inner = value.get(key)
                if inner is not None:
                    found.append((key, bounds.HINT, max(_length(each) for each in options(inner))))
    return found
