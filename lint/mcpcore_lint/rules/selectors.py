"""Names in settings, options and suppressions: whether they select a rule, and the closest rule if not."""

from __future__ import annotations

from mcpcore_lint import ids
from mcpcore_lint.patterns import closest


def names_a_rule(name: str, *, exact: bool = False) -> bool:
    """Whether a name is the id of a rule or, unless `exact`, selects rules."""
    if ids.is_id(name) if exact else ids.known(name):
        return True
    # The rules of other packages are loaded only for a name that is not built in.
    from mcpcore_lint.rules import all_rules, matches

    rules = all_rules()
    return name in rules if exact else any(matches(rule, name) for rule in rules.values())


def near_rule(name: str) -> str | None:
    """The rule or family with the closest name."""
    from mcpcore_lint.rules import FAMILIES, all_rules

    return closest(name, [*all_rules(), *FAMILIES, "all"])
