"""Every rule's page, and the cases in `tests/lint/cases/<rule-id>/`.

A case is a file `valid_*.py` or `invalid_*.py`, or a folder of that name whose `server.py` is linted together with its
other files. A comment `# here` ends each line with a finding. The text after all fixes is in `*.fixed.py`. Comments at the
top may give part of the first finding's message (`# message: ...`) and settings as JSON (`# settings: {...}`).
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from mcpcore_lint.rules import all_rules, is_ours
from mcpcore_lint.rules.base import Invalid, Valid
from mcpcore_lint.testing import check, check_page

CASES = Path(__file__).parent / "cases"
RULES = {rule.id: rule for rule in all_rules().values() if is_ours(rule)}
_HEAD = re.compile(r"\A# (message|settings): (.*)\n")


def _read(path: Path) -> Valid | Invalid:
    """Read one case from its file or folder."""
    main = path / "server.py" if path.is_dir() else path
    after = main.with_name(main.stem + ".fixed.py")
    others = [file for file in path.rglob("*.py") if file not in {main, after}] if path.is_dir() else []
    code, head = main.read_text(encoding="utf-8"), {}
    while match := _HEAD.match(code):
        head[match[1]] = match[2]
        code = code[match.end() :]
    settings = {
        name: frozenset(value) if isinstance(value, list) else value
        for name, value in json.loads(head.get("settings", "{}")).items()
    }
    files = {file.relative_to(path).as_posix(): file.read_text(encoding="utf-8") for file in others}
    if path.name.startswith("valid"):
        return Valid(code, files, settings)
    fixed = after.read_text(encoding="utf-8") if after.exists() else None
    return Invalid(code, head.get("message", ""), fixed, files, settings)


def _paths(rule_id: str) -> list[Path]:
    return sorted(
        path
        for path in (CASES / rule_id).iterdir()
        if path.name.startswith(("valid", "invalid")) and not path.name.endswith(".fixed.py")
    )


ALL = [(rule, path) for rule in RULES.values() for path in _paths(rule.id)]


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_a_rule_has_a_whole_page_and_cases_of_both_kinds(rule):
    """Each rule has a text for each part of its page, code that it accepts and code that it reports."""
    check_page(rule)
    kinds = {path.name.partition("_")[0] for path in _paths(rule.id)}
    # The findings of a run's settings come from a configuration file, which a case does not have.
    assert ({"valid"} if rule.of_settings else {"valid", "invalid"}) <= kinds
    if rule.fixable:
        assert list((CASES / rule.id).rglob("*.fixed.py"))


@pytest.mark.parametrize(("rule", "path"), ALL, ids=[f"{rule.id}-{path.stem}" for rule, path in ALL])
def test_a_rule_finds_and_fixes_exactly_what_its_case_marks(rule, path):
    """A valid case has no finding; an invalid one has each finding on its line, and the fix gives the text shown."""
    check(rule, _read(path))
