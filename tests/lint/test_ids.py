"""The rules, their table of ids and their pages are the same."""

from __future__ import annotations

from pathlib import Path

from mcpcore_lint.ids import IDS, is_id, known
from mcpcore_lint.pages import pages
from mcpcore_lint.rules import FAMILIES, all_rules, matches

PAGES = Path(__file__).parents[2] / "docs" / "rules"


def own_rules():
    """The linter's own rules."""
    return {name: rule for name, rule in all_rules().items() if type(rule).__module__.startswith("mcpcore_lint.")}


def test_every_rule_of_the_table_is_there():
    """Each id of the table has a rule in its family, and each rule stands in the table."""
    assert {name: family for family, ids in IDS.items() for name in ids} == {
        name: rule.family for name, rule in own_rules().items()
    }


def test_every_rule_has_its_page():
    """The pages are what the rules say now: `python docs/generate.py` writes them."""
    assert {path.name: path.read_text(encoding="utf-8") for path in PAGES.glob("*.md")} == pages()


def test_the_table_knows_what_the_rules_match():
    """A selector that the table takes for known selects a rule, and the other way round."""
    names = [
        "all",
        "error-contract",
        "error-contract-",
        "error",
        "no",
        "no-*",
        "handler",
        "nope",
        "no-fake",
        "",
        "project",
    ]
    for name in [*names, *FAMILIES, *own_rules()]:
        assert any(matches(rule, name) for rule in own_rules().values()) == known(name), name
    assert all(is_id(name) for name in own_rules())
    assert not is_id("handler")
