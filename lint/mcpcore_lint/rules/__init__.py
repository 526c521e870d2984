"""The rules: one module a family, one class a rule, and those of other packages through an entry point."""

from __future__ import annotations

import importlib
import os
import re
import sys
from functools import cache
from typing import TYPE_CHECKING, Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.rules.base import FAMILIES, Family, Invalid, ProjectContext, Rule, RuleContext, Valid, is_ours

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from mcpcore_lint.settings import PerFile, Settings

__all__ = [
    "ENTRY_POINTS",
    "FAMILIES",
    "Family",
    "Invalid",
    "ProjectContext",
    "Rule",
    "RuleContext",
    "Valid",
    "all_rules",
    "is_ours",
    "matches",
    "rule_named",
    "selected",
]

ENTRY_POINTS: Final = "mcpcore.lint.rules"
"""The entry point group: each value is a module, a `Rule` class, or a list of `Rule` classes."""

FAMILY_MODULES: Final = ("contract", "conformance", "handler", "definitions", "linter")


class RuleError(Exception):
    """A rule of another package that cannot be used."""


def _rules_of(value: object, origin: str) -> list[Rule]:
    if isinstance(value, type) and issubclass(value, Rule):
        return [value()]
    if isinstance(value, (list, tuple)):
        return [rule for each in value for rule in _rules_of(each, origin)]
    name = getattr(value, "__name__", "")
    found = [
        each()
        for each in vars(value).values()
        if isinstance(each, type)
        and issubclass(each, Rule)
        and (each.__module__ == name or each.__module__.startswith(f"{name}."))
        and getattr(each, "id", None)
    ]
    if not found and origin not in FAMILY_MODULES:
        raise RuleError(f"the entry point {origin} holds no Rule: point it at a Rule class, a list, or a module")
    return found


@cache
def all_rules() -> dict[str, Rule]:
    """Every rule by its id: the linter's own in the order of their families, then those of other packages.

    Raises:
        RuleError: If an entry point holds no rule, or two rules share an id.
    """
    found: dict[str, Rule] = {}
    for family in FAMILY_MODULES:
        try:
            module = importlib.import_module(f"mcpcore_lint.rules.{family}")
        except ModuleNotFoundError as error:
            if error.name != f"mcpcore_lint.rules.{family}":
                raise
            continue
        for rule in _rules_of(module, family):
            found[rule.id] = rule
    for point in _entry_points():
        try:
            loaded = point.load()
        except Exception as error:
            raise RuleError(
                f"the entry point {point.name!r} ({point.value}) cannot be loaded: {type(error).__name__}: {error}; "
                "mend or uninstall the package that brings it"
            ) from error
        for rule in _rules_of(loaded, f"{point.name!r} ({point.value})"):
            wrong = _wrong(rule)
            if wrong:
                raise RuleError(f"the rule {type(rule).__name__} of {point.value} cannot be used: {wrong}")
            if rule.id in found:
                raise RuleError(
                    f"the rule {rule.id!r} of {point.value} has the id of another rule: give it one of its own"
                )
            found[rule.id] = rule
    return found


_ID: Final = r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*"


def _wrong(rule: Rule) -> str | None:
    """What keeps a rule of another package from being named, selected and shown."""
    name, severity, family = (getattr(rule, each, None) for each in ("id", "severity", "family"))
    if not isinstance(name, str) or not re.fullmatch(_ID, name):
        return f"its id must be lower-case words with hyphens between them, not {name!r}"
    if not isinstance(severity, Severity):
        return f"its severity must be a Severity, not {severity!r}"
    if family not in FAMILIES:
        return f"its family must be one of {', '.join(FAMILIES)}, not {family!r}"
    texts = ("summary", "why", "bad", "good", "how_to_fix", "when_to_suppress")
    missing = [each for each in texts if not isinstance(getattr(rule, each, None), str)]
    return f"it lacks {', '.join(missing)}, of which its page is made" if missing else None


def _entry_points() -> list[EntryPoint]:
    """The entry points of the group, if any.

    `importlib.metadata` takes longer to load than a file takes to check, and hardly any environment has such a package:
    so the metadata is first searched for the name of the group.
    """
    if not any(_names_group(place) for place in dict.fromkeys(sys.path)):
        return []
    from importlib.metadata import entry_points

    return list(entry_points(group=ENTRY_POINTS))


def _names_group(place: str) -> bool:
    wanted = ENTRY_POINTS.encode()
    try:
        names = os.listdir(place or os.curdir)
    except OSError:
        # An archive; the one of the standard library is on every path and hardly anywhere on disk.
        return os.path.isfile(place)
    for name in [each for each in names if each.endswith((".dist-info", ".egg-info", ".egg", ".zip"))]:
        if name.endswith((".egg", ".zip")):
            # An archive, too: let importlib look into it.
            return True
        try:
            with open(os.path.join(place, name, "entry_points.txt"), "rb", buffering=0) as file:
                if wanted in file.read():
                    return True
        except OSError:
            continue
    return False


def rule_named(name: str) -> Rule | None:
    """The rule of an id, or None."""
    return all_rules().get(name)


def matches(rule: Rule, selector: str) -> bool:
    """Whether a selector means a rule: its id, its family, `all`, or a prefix of the id that ends at a hyphen."""
    return selector in {"all", rule.id, rule.family} or rule.id.startswith(selector.rstrip("-*") + "-")


def selected(rule: Rule, settings: Settings, per_file: tuple[PerFile, ...] = ()) -> bool:
    """Whether a rule is on for a file, given the per-file settings that match it."""

    def named(selectors: frozenset[str]) -> bool:
        return any(matches(rule, each) for each in selectors)

    chosen = rule.default if settings.select is None else named(settings.select)
    chosen = chosen or named(settings.extend_select)
    # An id that is selected by name goes before a family that is ignored.
    exact = settings.extend_select | (settings.select or frozenset())
    if named(settings.ignore) and not (rule.id in exact and rule.id not in settings.ignore):
        chosen = False
    for each in per_file:
        if each.select is not None:
            chosen = named(each.select)
        if named(each.ignore):
            chosen = False
    return chosen
