"""The rule error-contract-recovery-min-words."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import Const, options
from mcpcore_lint.patterns import regex
from mcpcore_lint.rules._wording import shortened
from mcpcore_lint.rules.contract._entries import Entry, EntryRule
from mcpcore_lint.rules.contract._texts import is_blank_text, unwritten

if TYPE_CHECKING:
    from mcpcore_lint.rules.base import Family, RuleContext


_WORD: Final = regex(r"\w")


class ContractRecoveryMinWords(EntryRule):
    """A hint that says too little to act on."""

    id = "error-contract-recovery-min-words"
    severity = Severity.WARNING
    family: ClassVar[Family] = "contract"
    summary = '`recovery` has fewer than five words ("Try again."), or is still to be written'
    why = '"Try again." or "Check the input." fits every failure, and so helps with none.'
    bad = 'FailureMode("no_match", ErrorCode.NOT_FOUND, when="...", recovery="Check input.")'
    good = 'FailureMode("no_match", ErrorCode.NOT_FOUND, when="...", recovery="Call search_articles for valid PMIDs.")'
    how_to_fix = "Name the next tool, the argument to change and to what, how long to wait, or whom to ask."
    when_to_suppress = "When the few words are all there is to do, such as `Call login first.`"

    def check_entry(self, entry: Entry, ctx: RuleContext) -> None:
        """Report a hint of a few words, and one that is still to be written."""
        recovery = entry.arguments["recovery"]
        least = ctx.settings.min_recovery_words
        step = "name the next tool, the argument to change, how long to wait, or whom to ask"
        for value in options(recovery.value):
            if unwritten(value):
                entry.report(ctx, recovery, f"the recovery of {entry.label} is still to be written", help=step)
                return
            if not isinstance(value, Const) or not isinstance(value.value, str) or is_blank_text(value):
                continue
            words = value.value.split()
            if sum(map(str.isalnum, words)) >= least:
                # Not all words of it had to be looked into.
                continue
            text = " ".join(words)
            count = sum(map(bool, map(_WORD.search, words)))
            if count < least:
                told = "1 word" if count == 1 else f"{count} words"
                entry.report(ctx, recovery, f"the recovery of {entry.label} has {told}: {shortened(text)!r}", help=step)
                return
