"""The ids of the linter's own rules, read from the names of their modules without importing a single rule.

Each rule has the module `rules/<family>/<rule_id>.py`. A run that finds everything in its cache loads no rule at all,
but still has to know which names in options and comments are rules.
"""

from __future__ import annotations

import os
from functools import cache
from typing import Final

FAMILIES: Final = ("contract", "conformance", "handler", "definitions", "linter")
"""The families of the linter's own rules, in the order of the reference."""


ALIASES: Final = {"error-contract-retryable-type": "error-contract-retry-type"}
"""Other names of rules, by which settings and comments may name them."""


@cache
def rule_modules(family: str) -> tuple[str, ...]:
    """The names of a family's rule modules. Modules whose names start with `_` hold shared helpers."""
    folder = os.path.join(os.path.dirname(__file__), "rules", family)
    try:
        names = [name.removesuffix(".py") for name in os.listdir(folder) if name.endswith(".py")]
    except OSError:
        # The package is in a zip file. pkgutil reads those, but takes longer to import than a cached run takes.
        import pkgutil

        names = [module.name for module in pkgutil.iter_modules([folder])]
    return tuple(name for name in names if not name.startswith("_"))


@cache
def rule_ids() -> dict[str, tuple[str, ...]]:
    """The ids of each family's rules, in alphabetical order."""
    return {family: tuple(sorted(name.replace("_", "-") for name in rule_modules(family))) for family in FAMILIES}


def known(selector: str) -> bool:
    """Whether a selector matches one of the linter's own rules: an id, a family, `all`, or a prefix of an id."""
    ids = rule_ids()
    prefix = selector.rstrip("-*") + "-"
    return (
        selector == "all"
        or selector in ids
        or is_id(selector)
        or any(rule_id.startswith(prefix) for family in ids.values() for rule_id in family)
    )


def is_id(name: str) -> bool:
    """Whether a name is the id of one of the linter's own rules."""
    return any(ALIASES.get(name, name) in family for family in rule_ids().values())
