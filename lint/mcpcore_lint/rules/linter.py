"""Rules about the linter itself: files that cannot be read, and suppressions."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from mcpcore_lint.diagnostics import Edit, Severity
from mcpcore_lint.rules.base import Rule, RuleContext

if TYPE_CHECKING:
    from mcpcore_lint.diagnostics import Fix
    from mcpcore_lint.rules.base import Family
    from mcpcore_lint.runner.suppress import Suppression, Suppressions
    from mcpcore_lint.syntax.module import Module


class _LinterRule(Rule):
    family: ClassVar[Family] = "linter"

    def check_suppressions(self, suppressions: Suppressions, active: set[str], ctx: RuleContext) -> None:
        """Look at the suppressions of a file, after the other rules have run; `active` are the rules that did."""


class ParseError(_LinterRule):
    """The engine reports it; here is its page."""

    id = "parse-error"
    severity = Severity.ERROR
    summary = "the file is not valid Python"
    why = "What cannot be parsed cannot be checked, so nothing is said about the tools in it; other files are checked."
    bad = "def fetch(:\n    ..."
    good = "def fetch():\n    ..."
    how_to_fix = (
        "Correct the syntax at the place named, or save the file in the encoding that it declares. What a newer Python "
        "has is read all the same, as far as the one at hand has other words for it."
    )
    when_to_suppress = (
        "Never with a comment, since the file cannot be read; exclude it by path. Folders and files with `{{` in their "
        "names are templates, and are left out by themselves."
    )


class UnusedIgnore(_LinterRule):
    """A suppression that suppresses nothing."""

    id = "unused-ignore"
    severity = Severity.WARNING
    fixable = True
    summary = "a suppression that suppresses nothing"
    why = "It tells the reader of a problem that is not there, and it will hide the next one that comes up on its line."
    bad = "x = 1  # mcpcore: ignore[no-fake-empty] the cache is optional"
    good = "x = 1"
    how_to_fix = "Remove the comment, or the one rule in it that finds nothing."
    when_to_suppress = "When the same file is also checked with other settings, under which the finding does appear."

    def check_suppressions(self, suppressions: Suppressions, active: set[str], ctx: RuleContext) -> None:
        """Report each rule of each comment that suppressed nothing."""
        from mcpcore_lint.rules import rule_named

        for each in suppressions.all:
            if each.misspelt:
                ctx.report(
                    each.span,
                    f"`# mcpcore: {each.misspelt}` is no suppression, so that nothing is suppressed",
                    help="write # mcpcore: ignore[rule] why, or ignore-file at the head of the file",
                )
                continue
            if each.misplaced:
                ctx.report(
                    each.span,
                    "ignore-file stands after the first statement, where it does nothing",
                    help="move it above the first statement, or use ignore on the line",
                )
                continue
            if not each.rules:
                if not each.used:
                    ctx.report(
                        each.span,
                        "the suppression suppresses nothing",
                        help="remove the comment",
                        fix=self._without(each, (), ctx.module, ctx),
                    )
                continue
            idle = [name for name in each.rules if name in active and name not in each.used and rule_named(name)]
            if idle:
                kept = tuple(name for name in each.rules if name not in idle)
                where = "on this line" if each.scope == "line" else "in this file"
                ctx.report(
                    each.span,
                    f"nothing {where} is found by {', '.join(idle)}",
                    help=self._next(each, kept, ctx.module),
                    fix=self._without(each, kept, ctx.module, ctx),
                )

    @staticmethod
    def _next(each: Suppression, kept: tuple[str, ...], module: Module) -> str:
        if kept:
            return f"keep only {', '.join(kept)}"
        text = module.source.text
        before = text[max(text.rfind("\n", 0, each.start), text.rfind("\r", 0, each.start)) + 1 : each.start]
        if each.scope == "line" and not before.strip():
            return "remove the comment; one that is meant for a statement stands at the end of its first line"
        return "remove the comment"

    @staticmethod
    def _without(each: Suppression, kept: tuple[str, ...], module: Module, ctx: RuleContext) -> Fix | None:
        text = module.source.text
        if kept:
            start = text.find("[", each.start, each.end) + 1
            end = text.find("]", start, each.end)
            if not start or end < 0:
                return None  # a bracket that is not there, or never closed, is for the author to mend
            return ctx.fix("Remove the unused rules", [Edit(start, end, ", ".join(kept))])
        start = each.start
        line_start = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
        end = each.end
        if not text[line_start:start].strip():
            # A line of its own goes as a whole.
            while end < len(text) and text[end] in "\r\n":
                end += 1
                if text[end - 1] == "\n":
                    break
            return ctx.fix("Remove the unused suppression", [Edit(line_start, end, "")])
        while start > line_start and text[start - 1] in " \t":
            start -= 1
        return ctx.fix("Remove the unused suppression", [Edit(start, end, "")])


class IgnoreWithoutReason(_LinterRule):
    """A suppression that does not say why."""

    id = "ignore-without-reason"
    severity = Severity.INFO
    summary = "a suppression with no word why"
    why = "Whoever reads it next cannot tell an exception that was thought through from one made in a hurry."
    bad = "return []  # mcpcore: ignore[no-fake-empty]"
    good = "return []  # mcpcore: ignore[no-fake-empty] an empty inbox is what the caller asked for"
    how_to_fix = "Write the reason after the bracket."
    when_to_suppress = "Ignore the rule in the settings where the reasons are kept elsewhere."

    def check_suppressions(self, suppressions: Suppressions, active: set[str], ctx: RuleContext) -> None:  # noqa: ARG002
        """Report each comment without a reason."""
        for each in suppressions.all:
            if not each.why and not each.misspelt:
                ctx.report(
                    each.span,
                    "the suppression does not say why",
                    help="write the reason after the bracket: # mcpcore: ignore[rule] because ...",
                )


class UnknownHandler(_LinterRule):
    """The run reports it, for each entry of the settings; here is its page."""

    id = "unknown-handler"
    severity = Severity.WARNING
    of_settings = True
    summary = "an entry of `handlers` names no function"
    why = "The functions that the entry was written for are not checked, and nobody notices."
    bad = '[tool.mcpcore.lint]\nhandlers = ["acme.tolls.*:handle_*"]'
    good = '[tool.mcpcore.lint]\nhandlers = ["acme.tools.*:handle_*"]'
    how_to_fix = (
        "Correct the module or the function. The module is written as imports write it, from the top of its package; a "
        "function whose name begins with an underscore needs a pattern that does so too."
    )
    when_to_suppress = "Where the functions are generated into the tree later; then ignore the rule in the settings."


class UnknownRule(_LinterRule):
    """A suppression of a rule that does not exist."""

    id = "unknown-rule"
    severity = Severity.WARNING
    summary = "a suppression or an option names a rule that does not exist"
    why = "A misspelt rule suppresses nothing, and nobody notices until the finding that it was written for comes back."
    bad = "return []  # mcpcore: ignore[no-fake-emtpy] nothing to list"
    good = "return []  # mcpcore: ignore[no-fake-empty] nothing to list"
    how_to_fix = "Correct the name: `mcpcore lint --list-rules` shows them all."
    when_to_suppress = "While the package that brings the rule is not installed everywhere."

    def check_suppressions(self, suppressions: Suppressions, active: set[str], ctx: RuleContext) -> None:  # noqa: ARG002
        """Report each name that is no rule's."""
        import difflib

        from mcpcore_lint.config import names_a_rule
        from mcpcore_lint.rules import all_rules

        for each in suppressions.all:
            for name in each.rules:
                if name in all_rules():
                    continue
                said, then = (
                    f"there is no rule {name!r}",
                    "correct the name; `mcpcore lint --list-rules` shows them all",
                )
                near = difflib.get_close_matches(name.lower().replace("_", "-"), all_rules(), n=1, cutoff=0.7)
                if not name:
                    said, then = "the brackets name no rule", "name the rule, or leave the brackets out to mean all"
                elif names_a_rule(name) or name == "*":
                    said = f"a suppression names rules one by one, and {name!r} names several"
                    then = "name the rule that finds something here, or leave the brackets out to mean all"
                elif near:
                    said += f": did you mean {near[0]!r}?"
                ctx.report(each.span, said, help=then)
