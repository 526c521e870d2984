"""Rules, the names of their modules and their pages agree, and the linter knows the factories of the runtime."""

from __future__ import annotations

import shutil
from pathlib import Path

import mcpcore_lint
from mcpcore_lint.ids import is_id, known, rule_ids, rule_modules
from mcpcore_lint.names import FACTORIES
from mcpcore_lint.rules import FAMILIES, all_rules, matches
from mcpcore_lint.show import pages

from mcpcore.contract import errors

PAGES = Path(__file__).parents[2] / "docs" / "rules"


def own_rules():
    """The linter's own rules."""
    return {name: rule for name, rule in all_rules().items() if type(rule).__module__.startswith("mcpcore_lint.")}


def test_module_names_are_the_ids_of_the_rules():
    """The ids read from file names, without importing a rule, match the rules and their families."""
    assert {name: family for family, ids in rule_ids().items() for name in ids} == {
        name: rule.family for name, rule in own_rules().items()
    }


def test_rules_are_found_in_a_zip_file(tmp_path, monkeypatch):
    """The linter also runs as a zip file, where the folder of a family cannot be listed."""
    archive = shutil.make_archive(str(tmp_path / "linter"), "zip", Path(mcpcore_lint.__file__).parents[1])
    monkeypatch.setattr("mcpcore_lint.ids.__file__", f"{archive}/mcpcore_lint/ids.py")
    assert set(rule_modules.__wrapped__("contract")) == set(rule_modules("contract"))


def test_every_rule_has_its_page():
    """The pages are up to date: `python docs/generate.py` writes them."""
    assert {path.name: path.read_text(encoding="utf-8") for path in PAGES.glob("*.md")} == pages()


def test_a_known_selector_selects_a_rule():
    """A selector is known if and only if it selects one of the rules."""
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


def test_the_factories_are_those_of_the_runtime():
    """The linter lists them itself, since it must not import the runtime to read a file."""
    assert {name: code.name for name, code in errors.FACTORIES.items()} == FACTORIES
