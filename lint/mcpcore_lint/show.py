"""What the command shows without checking files: the rules, their pages, and the settings in force."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from textwrap import dedent
from typing import TYPE_CHECKING, Any, Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.output import CannotRunError, printable, say
from mcpcore_lint.patterns import hint
from mcpcore_lint.rule import TEXTS, Rule, is_ours
from mcpcore_lint.rules import all_rules, selected
from mcpcore_lint.runner import memo
from mcpcore_lint.settings import PerFile

if TYPE_CHECKING:
    from mcpcore_lint.runner.groups import Group


def list_rules() -> None:
    """Print all rules."""
    rules = all_rules().values()
    width = max(len(rule.id) for rule in rules)
    lines = (
        f"{rule.id:<{width}}  {rule.severity.label:<7}  {'fix' if rule.fixable else '   '}  {rule.summary}"
        for rule in rules
    )
    say("".join(f"{printable(line)}\n" for line in lines))


def explain_rule(name: str) -> None:
    """Print the page of a rule."""
    rule = all_rules().get(name)
    if rule is None:
        close = hint(name, all_rules(), "; run `mcpcore lint --list-rules`", cutoff=0.5)
        raise CannotRunError(f"unknown rule {name!r}{close}")
    say(page_text(rule) + "\n")


def show_settings(groups: Iterable[Group], options: Mapping[str, Any]) -> None:
    """Print the settings of each project, with the option or the line of the configuration that they come from."""
    lines: list[str] = []
    for group in groups:
        config = group.config
        lines += [
            ", ".join(group.paths or group.documents),
            f"  root = {config.root}",
            f"  configuration = {config.path or 'none found: the defaults'}",
        ]
        fail_on = Severity.parse(options["fail_on"]) if options["fail_on"] else config.fail_on
        own = {"fail_on": fail_on, "format": options["shape"] or config.format or "full", "markdown": config.markdown}
        defaults = {"select": "every rule that is on by default", "cache_dir": _toml(memo.folder())}
        for name, value in {**own, **config.settings._asdict()}.items():
            key = name.replace("_", "-")
            origin = "default"
            if options.get({"format": "shape"}.get(name, name)) not in (None, ()):
                origin = f"--{key}"
            elif key in config.lines:
                origin = f"{os.path.basename(config.path or '')}:{config.lines[key]}"
            lines.append(f"  {key} = {defaults[name] if value is None else _toml(value)}  ({origin})")
        on = [rule for rule in all_rules().values() if selected(rule, config.settings)]
        lines.append(f"  rules on: {len(on)} of {len(all_rules())}")
        width = max((len(rule.id) for rule in on), default=0)
        severities = config.settings.severities
        lines += (f"    {rule.id:<{width}}  {severities.get(rule.id, rule.severity).label}" for rule in on)
    say("".join(f"{printable(line)}\n" for line in lines))


def _toml(value: Any) -> str:
    """A setting as `pyproject.toml` writes it."""
    if isinstance(value, Severity):
        value = value.label
    elif isinstance(value, frozenset):
        value = sorted(value)
    elif isinstance(value, tuple) and value and isinstance(value[0], PerFile):
        value = {entry.pattern: _per_file(entry) for entry in value}
    if isinstance(value, Mapping):
        pairs = [f"{_toml(key)} = {_toml(entry)}" for key, entry in value.items()]
        return f"{{ {', '.join(pairs)} }}" if pairs else "{}"
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(map(_toml, value))}]"
    # A string, a number or a boolean is the same in JSON.
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (str, int)) else str(value)


def _per_file(entry: PerFile) -> dict[str, Any]:
    keys = {"select": entry.select, "ignore": entry.ignore or None, "severity": entry.severities or None}
    return {name: value for name, value in keys.items() if value is not None}


_PAGE: Final = """\
# {id}

{summary}.

Severity: {severity}. Family: {family}. Fix: {fix}.

## Why

{why}

## Bad

```python
{bad}
```

## Good

```python
{good}
```

## How to fix

{how_to_fix}

## When to suppress

{when_to_suppress}{suppressing}"""
_SUPPRESSING: Final = """

`# mcpcore: ignore[{id}] why` on the line, or in `pyproject.toml`:

```toml
[tool.mcpcore.lint]
ignore = ["{id}"]
```"""
_FIXES: Final = {
    False: "by hand",
    True: "automatic, with `--fix`",
    "unsafe": "with `--fix --unsafe-fixes`, for your review",
}


def page_text(rule: Rule) -> str:
    """The page of a rule, in Markdown."""
    return _PAGE.format(
        id=rule.id,
        summary=rule.summary[:1].upper() + rule.summary[1:].rstrip("."),
        severity=rule.severity.label,
        family=rule.family,
        fix=_FIXES[rule.fixable],
        # Who should never suppress a finding needs no instructions for it.
        suppressing="" if rule.when_to_suppress.startswith("Never") else _SUPPRESSING.format(id=rule.id),
        **{name: dedent(getattr(rule, name)).strip() for name in TEXTS[1:]},
    )


def index_text(rules: list[Rule]) -> str:
    """The list of all rules, in Markdown."""
    lines = [
        "# Rules",
        "",
        "`mcpcore lint` reports these. You can [silence or configure](../how-to/lint.md#silence-a-finding) each.",
        "",
    ]
    for family in dict.fromkeys(rule.family for rule in rules):
        lines += [f"## {family.capitalize()}", "", "| rule | severity | fix | catches |", "|---|---|---|---|"]
        for rule in rules:
            if rule.family == family:
                summary = rule.summary.replace("|", "\\|")
                fix = {False: "", True: "yes", "unsafe": "unsafe"}[rule.fixable]
                lines.append(f"| [{rule.id}]({rule.id}.md) | {rule.severity.label} | {fix} | {summary} |")
        lines.append("")
    return "\n".join([*lines, "Generated from the rules by `docs/generate.py`; change them there.", ""])


def pages() -> dict[str, str]:
    """Every page of the documentation about rules, by its file name."""
    rules = [rule for rule in all_rules().values() if is_ours(rule)]
    return {"index.md": index_text(rules), **{f"{rule.id}.md": page_text(rule) + "\n" for rule in rules}}
