"""unused-ignore: a suppression has no effect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpcore_lint.diagnostics import Edit, Fix, Severity
from mcpcore_lint.engine.syntax.source import Source
from mcpcore_lint.rule import Rule, RuleContext

if TYPE_CHECKING:
    from mcpcore_lint.runner.suppress import Suppression, Suppressions


class UnusedIgnore(Rule):
    """A suppression that has no effect.

    Summary: the suppression has no effect: the rule has no finding there
    Why: The comment points to a problem that does not exist, and it will hide the next finding of the rule on its line.
    How to fix: Remove the comment, or the rule in it that has no finding.
    When to suppress: If the file is also checked with other settings, under which the rule has a finding.

    Bad:
        x = 1  # mcpcore: ignore[no-fake-empty] the cache is optional
    Good:
        x = 1
    """

    severity = Severity.WARNING
    fixable = True

    def check_suppressions(self, suppressions: Suppressions, active: set[str], ctx: RuleContext) -> None:
        """Report each comment, or each rule in it, that suppressed nothing."""
        from mcpcore_lint.rules import rule_named

        for suppression in suppressions.all:
            names = suppression.rules
            idle = [name for name in names if name in active and name not in suppression.used and rule_named(name)]
            kept = tuple(name for name in names if name not in idle)
            if suppression.misplaced:
                message = "ignore-file has no effect after the first statement"
                ctx.report(
                    suppression.span, message, help="move it above the first statement, or use ignore on the line"
                )
            elif idle or not (names or suppression.used):
                where = "on this line" if suppression.scope == "line" else "in this file"
                message = f"{', '.join(idle)} {'has' if len(idle) == 1 else 'have'} no finding {where}"
                if not names:
                    message = "the suppression has no effect: no rule has a finding here"
                step = _next_step(suppression, kept, ctx.module.source) if names else "remove the comment"
                ctx.report(suppression.span, message, help=step, fix=_removal(suppression, kept, ctx))


def _next_step(suppression: Suppression, kept: tuple[str, ...], source: Source) -> str:
    if kept:
        return f"keep only {', '.join(kept)}"
    line = source.line(suppression.span.line)
    if suppression.scope == "line" and line.lstrip().startswith("#"):
        return "remove the comment; to suppress a finding, put it at the end of the statement's first line"
    return "remove the comment"


def _removal(suppression: Suppression, kept: tuple[str, ...], ctx: RuleContext) -> Fix | None:
    """The fix that removes a comment, or all its rules but those that are kept."""
    source, start, end = ctx.module.source, suppression.start, suppression.end
    if kept:
        first = source.text.find("[", start, end) + 1
        last = source.text.find("]", first, end)
        # Only the author can say where a bracket that is never closed should end.
        closed = first and last >= 0
        return ctx.fix("Remove the unused rules", [Edit(first, last, ", ".join(kept))]) if closed else None
    line, starts = source.position(start)[0], source.line_starts
    begin = len(source.text[:start].rstrip(" \t\f"))
    if source.line(line).strip() == source.text[start:end].strip():
        begin, end = starts[line - 1], starts[line] if line < len(starts) else end
    return ctx.fix("Remove the unused suppression", [Edit(begin, end, "")])
