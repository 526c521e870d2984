"""All rules: the linter's own, one module each in `rules/<family>/`, and those that other packages bring."""

from __future__ import annotations

import importlib
import os
import re
import sys
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Final

from mcpcore_lint import ids
from mcpcore_lint.codemods import LibcstMissingError, lacks_libcst
from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.patterns import closest
from mcpcore_lint.rule import FAMILIES, TEXTS, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.metadata import EntryPoint

    from mcpcore_lint.settings import PerFile, Settings

ENTRY_POINTS: Final = "mcpcore.lint.rules"
"""The entry point group: each value is a module, a `Rule` class, or a list of `Rule` classes."""


class RuleError(Exception):
    """A rule of another package that cannot be used."""


def _rules_of(value: object) -> list[Rule]:
    """The rules that a module defines, or that an entry point names as a class or a list."""
    if isinstance(value, type) and issubclass(value, Rule):
        return [value()]
    if isinstance(value, (list, tuple)):
        return [rule for item in value for rule in _rules_of(item)]
    classes = [item for item in vars(value).values() if isinstance(item, type) and issubclass(item, Rule)]
    # A module also holds the classes that it imports.
    own = f"{getattr(value, '__name__', '')}."
    return [item() for item in classes if f"{item.__module__}.".startswith(own) and getattr(item, "id", None)]


def _own_rules() -> Iterator[Rule]:
    """The linter's own rules: those of each family in alphabetical order."""
    for family in ids.FAMILIES:
        package = f"mcpcore_lint.rules.{family}"
        modules = [f"{package}.{name}" for name in ids.rule_modules(family)]
        rules = [rule for name in modules or [package] for rule in _rules_of(importlib.import_module(name))]
        yield from sorted(rules, key=lambda rule: rule.id)


@cache
def all_rules() -> dict[str, Rule]:
    """Every rule by its id: the linter's own in the order of their families, then those of other packages.

    Raises:
        RuleError: If an entry point holds no rule, or two rules share an id.
        LibcstMissingError: If the rules of an entry point need libcst, and it is not installed.
    """
    rules = {rule.id: rule for rule in _own_rules()}
    for point in _entry_points():
        try:
            loaded = point.load()
        except Exception as error:
            if lacks_libcst(error):
                raise LibcstMissingError(f"the entry point {point.name!r} ({point.value})") from error
            raise RuleError(
                f"the entry point {point.name!r} ({point.value}) cannot be loaded: {type(error).__name__}: {error}; "
                "fix or uninstall the package that provides it"
            ) from error
        loaded_rules = _rules_of(loaded)
        if not loaded_rules:
            raise RuleError(
                f"the entry point {point.name!r} ({point.value}) holds no Rule: "
                "point it at a Rule class, a list, or a module"
            )
        for rule in loaded_rules:
            problem = _problem(rule)
            if problem:
                raise RuleError(f"the rule {type(rule).__name__} of {point.value} cannot be used: {problem}")
            if rule.id in rules:
                raise RuleError(f"the rule {rule.id!r} of {point.value} has the id of another rule: rename it")
            rules[rule.id] = rule
    return rules


_ID: Final = r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*"


def _problem(rule: Rule) -> str | None:
    """Why a rule of another package cannot be named, selected or shown; None if it can."""
    name, severity, family = (getattr(rule, field, None) for field in ("id", "severity", "family"))
    if not isinstance(name, str) or not re.fullmatch(_ID, name):
        return f"its id must be lower-case words with hyphens between them, not {name!r}"
    if not isinstance(severity, Severity):
        return f"its severity must be a Severity, not {severity!r}"
    if family not in FAMILIES:
        return f"its family must be one of {', '.join(FAMILIES)}, not {family!r}"
    missing = [field for field in TEXTS if not isinstance(getattr(rule, field, None), str)]
    return (
        f"it lacks {', '.join(missing)}, which its page shows: "
        f"write `{missing[0].capitalize().replace('_', ' ')}: ...` into its docstring"
        if missing
        else None
    )


def _entry_points() -> list[EntryPoint]:
    """The entry points of the group, if any.

    Importing `importlib.metadata` takes longer than checking a file, and few environments have such a package. So the
    metadata files are searched for the name of the group first.
    """
    if not any(_mentions_group(folder) for folder in dict.fromkeys(sys.path)):
        return []
    from importlib.metadata import entry_points

    return list(entry_points(group=ENTRY_POINTS))


def _mentions_group(folder: str) -> bool:
    """Whether a folder of `sys.path` has a distribution that may have entry points of the group."""
    try:
        names = os.listdir(folder or os.curdir)
    except OSError:
        # A zip file, into which importlib has to look. The one of the standard library hardly ever exists.
        return os.path.isfile(folder)
    for name in names:
        if name.endswith((".egg", ".zip")):
            return True
        if name.endswith((".dist-info", ".egg-info")):
            with suppress(OSError), open(os.path.join(folder, name, "entry_points.txt"), "rb", buffering=0) as file:
                if ENTRY_POINTS.encode() in file.read():
                    return True
    return False


def rule_named(name: str) -> Rule | None:
    """The rule of an id, or None."""
    return all_rules().get(ids.ALIASES.get(name, name))


def names_a_rule(name: str, *, exact: bool = False) -> bool:
    """Whether a name is the id of a rule or, unless `exact`, selects rules."""
    if ids.is_id(name) if exact else ids.known(name):
        return True
    # The rules of other packages are loaded only for a name that is not built in.
    return name in all_rules() if exact else any(matches(rule, name) for rule in all_rules().values())


def near_rule(name: str) -> str | None:
    """The rule or family with the closest name."""
    return closest(name, [*all_rules(), *FAMILIES, "all"])


def matches(rule: Rule, selector: str) -> bool:
    """Whether a selector matches a rule: its id, its family, `all`, or a prefix of the id that ends at a hyphen."""
    selector = ids.ALIASES.get(selector, selector)
    return selector in {"all", rule.id, rule.family} or rule.id.startswith(selector.rstrip("-*") + "-")


def selected(rule: Rule, settings: Settings, per_file: tuple[PerFile, ...] = ()) -> bool:
    """Whether a rule is on for a file, given the per-file settings that match it."""

    def named(selectors: frozenset[str]) -> bool:
        return any(matches(rule, selector) for selector in selectors)

    chosen = rule.default if settings.select is None else named(settings.select)
    chosen = chosen or named(settings.extend_select)
    # Selecting a rule by its id overrides ignoring its family.
    exact = settings.extend_select | (settings.select or frozenset())
    if named(settings.ignore) and not (rule.id in exact and rule.id not in settings.ignore):
        chosen = False
    for overrides in per_file:
        if overrides.select is not None:
            chosen = named(overrides.select)
        if named(overrides.ignore):
            chosen = False
    return chosen
