"""The documentation pages of rules, generated from the rules."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcpcore_lint.rule import Rule


def page_text(rule: Rule) -> str:
    """The page of a rule, in Markdown."""
    fix = "automatic, with `--fix`" if rule.fixable else "by hand"
    return "\n".join(
        [
            f"# {rule.id}",
            "",
            f"{_sentence(rule.summary)}",
            "",
            f"Severity: {rule.severity.label}. Family: {rule.family}. Fix: {fix}.",
            "",
            "## Why",
            "",
            dedent(rule.why).strip(),
            "",
            "## Bad",
            "",
            *_code(rule.bad),
            "",
            "## Good",
            "",
            *_code(rule.good),
            "",
            "## How to fix",
            "",
            dedent(rule.how_to_fix).strip(),
            "",
            "## When to suppress",
            "",
            f"{dedent(rule.when_to_suppress).strip()}",
            "",
            f"`# mcpcore: ignore[{rule.id}] why` on the line, or in `pyproject.toml`:",
            "",
            "```toml",
            "[tool.mcpcore.lint]",
            f'ignore = ["{rule.id}"]',
            "```",
        ]
    )


def index_text(rules: list[Rule]) -> str:
    """The list of all rules, in Markdown."""
    lines = ["# Rules", "", "Generated from the rules by `docs/generate.py`; change them there.", ""]
    for family in dict.fromkeys(rule.family for rule in rules):
        lines += [f"## {family.capitalize()}", "", "| rule | severity | fix | catches |", "|---|---|---|---|"]
        for rule in rules:
            if rule.family == family:
                summary = rule.summary.replace("|", "\\|")
                fix = "yes" if rule.fixable else ""
                lines.append(f"| [{rule.id}]({rule.id}.md) | {rule.severity.label} | {fix} | {summary} |")
        lines.append("")
    return "\n".join(lines)


def pages() -> dict[str, str]:
    """Every page by its file name."""
    from mcpcore_lint.rules import all_rules

    rules = [rule for rule in all_rules().values() if type(rule).__module__.startswith("mcpcore_lint.")]
    return {"index.md": index_text(rules), **{f"{rule.id}.md": page_text(rule) + "\n" for rule in rules}}


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def _code(text: str) -> list[str]:
    return ["```python", dedent(text).strip(), "```"]
