"""What the command shows without checking files: the rules, the page of a rule, and the settings in force."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.output import CannotRunError, printable, say
from mcpcore_lint.pages import page_text
from mcpcore_lint.patterns import closest
from mcpcore_lint.rules import all_rules, selected
from mcpcore_lint.runner import memo
from mcpcore_lint.settings import PerFile

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcpcore_lint.runner.groups import Group


def list_rules() -> None:
    """Print all rules."""
    rules = all_rules().values()
    width = max(len(rule.id) for rule in rules)
    lines = []
    for rule in rules:
        fix = "fix" if rule.fixable else "   "
        lines.append(printable(f"{rule.id:<{width}}  {rule.severity.label:<7}  {fix}  {rule.summary}"))
    say("\n".join(lines) + "\n")


def explain_rule(name: str) -> None:
    """Print the page of a rule."""
    rule = all_rules().get(name)
    if rule is None:
        hint = near(name, all_rules()) or "; run `mcpcore lint --list-rules`"
        raise CannotRunError(f"unknown rule {name!r}{hint}")
    say(page_text(rule) + "\n")


def near(name: str, known: Iterable[str]) -> str:
    """A hint at the closest known name, if any is close."""
    close = closest(name, known, cutoff=0.5)
    return f"; did you mean {close!r}?" if close else ""


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
        values = {
            "fail_on": _toml(fail_on),
            "format": _toml(options["shape"] or config.format or "full"),
            "markdown": _toml(config.markdown),
            **{name: _toml(value) for name, value in config.settings._asdict().items() if value is not None},
        }
        # A configuration cannot express the defaults of these two.
        values.setdefault("select", "every rule that is on by default")
        values.setdefault("cache_dir", _toml(memo.folder()))
        option_keys = {"format": "shape"} | {
            name: name for name in ("fail_on", "select", "extend_select", "ignore", "jobs")
        }
        for name in ("fail_on", "format", "markdown", *config.settings._fields):
            key = name.replace("_", "-")
            origin = "default"
            if name in option_keys and options[option_keys[name]] not in (None, ()):
                origin = f"--{key}"
            elif key in config.lines:
                origin = f"{os.path.basename(config.path or '')}:{config.lines[key]}"
            lines.append(f"  {key} = {values[name]}  ({origin})")
        on = [rule for rule in all_rules().values() if selected(rule, config.settings)]
        lines.append(f"  rules on: {len(on)} of {len(all_rules())}")
        width = max((len(rule.id) for rule in on), default=0)
        for rule in on:
            lines.append(f"    {rule.id:<{width}}  {config.settings.severities.get(rule.id, rule.severity).label}")
    say("".join(f"{printable(line)}\n" for line in lines))


def _toml(value: Any) -> str:
    """A setting as `pyproject.toml` writes it."""
    if isinstance(value, Severity):
        return _toml(value.label)
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, frozenset):
        return _toml(sorted(value))
    if isinstance(value, tuple) and value and all(isinstance(entry, PerFile) for entry in value):
        return _toml({entry.pattern: _per_file(entry) for entry in value})
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, Mapping):
        pairs = [f"{_toml(key)} = {_toml(entry)}" for key, entry in value.items()]
        return f"{{ {', '.join(pairs)} }}" if pairs else "{}"
    return str(value)


def _per_file(entry: PerFile) -> dict[str, Any]:
    keys = {"select": entry.select, "ignore": entry.ignore or None, "severity": entry.severities or None}
    return {name: value for name, value in keys.items() if value is not None}
