"""error-contract-reason-format."""

from __future__ import annotations

import re
from typing import Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.rules._wording import shortened
from mcpcore_lint.rules.contract._entries import ArgumentRule, Checked, Problem
from mcpcore_lint.rules.contract._renaming import renamed

SNAKE_CASE: Final = r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*"
MAX_LENGTH: Final = 63


class ContractReasonFormat(ArgumentRule):
    """The reason is not snake_case, or is too long."""

    id = "error-contract-reason-format"
    severity = Severity.WARNING
    fixable = True
    summary = "the reason is not snake_case (or is longer than 63 characters)"
    why = (
        "Clients compare reasons letter by letter, and use them as names in code and as labels of metrics. One "
        "spelling everywhere avoids comparisons that never match."
    )
    bad = 'FailureMode("NoMatch", ErrorCode.NOT_FOUND, when="...", recovery="...")'
    good = 'FailureMode("no_match", ErrorCode.NOT_FOUND, when="...", recovery="...")'
    how_to_fix = (
        "Rename the reason, with every `ctx.fail` and `Context[Literal[...]]` that uses it. The fix does this within "
        "the file. It is unsafe, since clients see the new name."
    )
    when_to_suppress = "When clients already depend on the reason as it is."
    arguments = ("reason",)

    def check_value(self, checked: Checked) -> Problem | None:
        """Report a reason in another spelling."""
        text = checked.text
        if text is None or not text.strip() or (re.fullmatch(SNAKE_CASE, text) and len(text) <= MAX_LENGTH):
            return None
        new = snake_case(text)
        what = f"is longer than {MAX_LENGTH} characters" if len(text) > MAX_LENGTH else "is not snake_case"
        step = "use lower-case letters, digits and single underscores, starting with a letter"
        return Problem(
            f"the reason {shortened(text)!r} {what}",
            f"rename it to {new!r}, here and where it is used" if new else step,
            renamed(checked.entry, text, new, checked.ctx) if new else None,
        )


def snake_case(text: str) -> str | None:
    """The reason in snake_case, cut to 63 characters; None if letters would have to be invented for it."""
    words = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", text)
    words = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", words)
    if any(char.isalnum() and not char.isascii() for char in words):
        return None
    words = re.sub(r"[^a-z0-9]+", "_", words.lower()).strip("_")
    if len(words) > MAX_LENGTH:
        words = words[: MAX_LENGTH + 1].rpartition("_")[0] or words[:MAX_LENGTH]
    return words if re.fullmatch(SNAKE_CASE, words) else None
