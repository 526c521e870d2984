"""The rule error-contract-reason-format."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar, Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import Const, options
from mcpcore_lint.patterns import regex
from mcpcore_lint.rules._wording import shortened
from mcpcore_lint.rules.contract._entries import Entry, EntryRule
from mcpcore_lint.rules.contract._renaming import renamed

if TYPE_CHECKING:
    from mcpcore_lint.rules.base import Family, RuleContext


SNAKE_CASE: Final = regex(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*\Z")


MAX_LENGTH: Final = 63


class ContractReasonFormat(EntryRule):
    """A reason in another spelling."""

    id = "error-contract-reason-format"
    severity = Severity.WARNING
    family: ClassVar[Family] = "contract"
    fixable = True
    summary = "the reason is not snake_case (or is longer than 63 characters)"
    why = (
        "Clients compare reasons as they are. One spelling everywhere makes them easy to write from memory, to use as "
        "names in code and as labels in metrics."
    )
    bad = 'FailureMode("NoMatch", ErrorCode.NOT_FOUND, when="...", recovery="...")'
    good = 'FailureMode("no_match", ErrorCode.NOT_FOUND, when="...", recovery="...")'
    how_to_fix = (
        "Rename it, with every `ctx.fail` and `Context[Literal[...]]` that uses it. The fix does so within the file "
        "and is unsafe, since clients see the new name."
    )
    when_to_suppress = "When clients already switch on the reason as it is."

    def check_entry(self, entry: Entry, ctx: RuleContext) -> None:
        """Report a reason in another spelling."""
        reason = entry.arguments["reason"]
        for value in options(reason.value):
            if not isinstance(value, Const) or not isinstance(value.value, str) or not value.value.strip():
                continue
            text = value.value
            long = len(text) > MAX_LENGTH
            if SNAKE_CASE.match(text) and not long:
                continue
            new = snake_case(text)
            what = f"is longer than {MAX_LENGTH} characters" if long else "is not snake_case"
            entry.report(
                ctx,
                reason,
                f"the reason {shortened(text)!r} {what}",
                help=f"rename it to {new!r}, here and where it is used"
                if new
                else "name it with lower-case letters, digits and single underscores, a letter first",
                fix=renamed(entry, text, new, ctx) if new else None,
            )
            return


def snake_case(text: str) -> str | None:
    """A reason in snake_case, 63 characters at most; None where none can be made without inventing a word."""
    words = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", text)
    words = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", words)
    if any(each.isalnum() and not each.isascii() for each in words):
        return None
    words = re.sub(r"[^a-z0-9]+", "_", words.lower()).strip("_")
    if len(words) > MAX_LENGTH:
        words = words[: MAX_LENGTH + 1].rpartition("_")[0] or words[:MAX_LENGTH]
    return words if SNAKE_CASE.match(words) else None
