"""The rules about reasons."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, ClassVar, Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import CallValue, Const, Items, Mapping, Symbol, Text, options
from mcpcore_lint.patterns import regex
from mcpcore_lint.rules.base import Rule, RuleContext
from mcpcore_lint.rules.contract.entries import (
    Entry,
    EntryRule,
    certainly_not,
    contracts_of,
    described,
    entries_of,
    shortened,
)
from mcpcore_lint.rules.contract.renaming import renamed

if TYPE_CHECKING:
    from mcpcore_lint.diagnostics import Related
    from mcpcore_lint.model import Contract, ContractEntry, ToolDef, Value
    from mcpcore_lint.rules.base import Family

SNAKE_CASE: Final = regex(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*\Z")
MAX_LENGTH: Final = 63
_STRINGS: Final = frozenset({"builtins.str"})


class ContractReasonRequired(EntryRule):
    """A failure mode without a name."""

    id = "error-contract-reason-required"
    severity = Severity.ERROR
    family: ClassVar[Family] = "contract"
    summary = "the reason is missing or empty"
    why = (
        "The reason is what programs switch on and what `ctx.fail` takes; without one the failure cannot be told apart."
    )
    bad = 'FailureMode("", ErrorCode.NOT_FOUND, when="...", recovery="...")'
    good = 'FailureMode("no_match", ErrorCode.NOT_FOUND, when="...", recovery="...")'
    how_to_fix = "Name the failure in snake_case, as the first argument."
    when_to_suppress = "Never: the failure mode cannot be made."

    def check_entry(self, entry: Entry, ctx: RuleContext) -> None:
        """Report a reason that is missing, blank, or no string for certain."""
        reason = entry.arguments["reason"]
        step = "name the failure in snake_case, such as 'no_match'"
        if not reason.given:
            entry.report(ctx, None, f"{entry.label} has no reason", help=f"{step}, as the first argument")
            return
        for value in options(reason.value):
            if isinstance(value, Const) and isinstance(value.value, str):
                if not value.value.strip():
                    entry.report(ctx, reason, f"the reason of {entry.label} is empty", help=step)
                    return
            elif isinstance(value, (Const, Items, Mapping)) or certainly_not(value, _STRINGS, ctx):
                if _may_be_text(value):
                    continue
                entry.report(ctx, reason, f"the reason of {entry.label} is {described(value)}, not a string", help=step)
                return


def _may_be_text(value: Value) -> bool:
    if isinstance(value, Text):
        return True
    if isinstance(value, CallValue):
        return value.func.name == "builtins.str" or not value.func.name.startswith(("builtins.", "mcpcore."))
    # An enum's member may be written in a way that is not followed.
    return isinstance(value, Symbol) and not value.name.startswith(("builtins.", "mcpcore."))


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


class ContractReasonUnique(Rule):
    """One reason for two failures."""

    id = "error-contract-reason-unique"
    severity = Severity.ERROR
    family: ClassVar[Family] = "contract"
    summary = "the same reason twice in one contract"
    why = "`ctx.fail(reason)` can mean only one of them, so the contract is refused at import."
    bad = 'errors=[FailureMode("no_match", ...), FailureMode("no_match", ...)]'
    good = 'errors=[FailureMode("no_match", ...), FailureMode("no_access", ...)]'
    how_to_fix = "Give each failure mode a reason of its own, or join the two."
    when_to_suppress = "Never: the tool cannot be imported."

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each reason that the contract has had before."""
        for contract in contracts_of(tool, ctx):
            first: dict[str, tuple[int, ContractEntry]] = {}
            for index, entry in entries_of(contract, ctx):
                text = entry.reason_text
                if not entry.is_failure_mode or text is None or not text.strip():
                    continue
                if text not in first:
                    first[text] = (index, entry)
                elif first[text][0] != index:
                    self._report(text, first[text][1], entry, contract, tool, ctx)

    @staticmethod
    def _report(
        text: str, before: ContractEntry, entry: ContractEntry, contract: Contract, tool: ToolDef, ctx: RuleContext
    ) -> None:
        message = f"the reason {shortened(text)!r} is declared twice"
        step = "give each failure mode a reason of its own, or join the two"
        wrapped = Entry(entry, tool, 0)
        if entry.inline:
            node, module, owner = *wrapped.place(entry.reason), tool
        elif entry.call is not before.call and _in_one_list(before, entry):
            node, module, owner = *wrapped.place(entry.reason), None
        else:
            # Each of the two is right by itself: it is this tool that brings them together.
            node, module, owner = contract.node, contract.module, tool
        related: tuple[Related, ...] = ()
        if before.call is not None and before.call is not entry.call:
            related = (ctx.related(before.call, "declared first here", before.module),)
        ctx.report(node, message, help=step, tool=owner, module=module, related=related)


def _in_one_list(left: ContractEntry, right: ContractEntry) -> bool:
    """Whether two entries stand in the same list or tuple of one file."""
    if left.module is not right.module:
        return False
    parents = left.module.parents

    def display(entry: ContractEntry) -> ast.AST | None:
        return parents.get(entry.node)

    above = display(left)
    return isinstance(above, (ast.List, ast.Tuple)) and above is display(right)
