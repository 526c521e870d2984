"""Every rule's own cases and its page."""

from __future__ import annotations

import pytest
from mcpcore_lint.rules import all_rules
from mcpcore_lint.testing import cases, check, check_page

ALL = [(rule, name, case) for rule in all_rules().values() for name, case in cases(rule)]


@pytest.mark.parametrize("rule", all_rules().values(), ids=lambda rule: rule.id)
def test_a_rule_says_all_that_its_page_needs(rule):
    """Each rule has an id, a severity, a text for each part of its page, and cases of both kinds."""
    check_page(rule)


@pytest.mark.parametrize(
    ("rule", "case"), [(rule, case) for rule, _, case in ALL], ids=[f"{r.id}-{n}" for r, n, _ in ALL]
)
def test_a_rule_finds_and_mends_what_its_cases_say(rule, case):
    """Valid code gives no finding, invalid code gives each finding on its line, and the fix gives the text shown."""
    check(rule, case)
