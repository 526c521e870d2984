"""The cases of the house's rules are their tests: `python -m pytest examples/house_rules`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from house_rules import RequestWithoutTimeout  # type: ignore[import-not-found]  # there once it is installed
from mcpcore_lint.testing import cases, check, check_page

if TYPE_CHECKING:
    from mcpcore_lint.rule import Invalid, Valid

RULE = RequestWithoutTimeout()


def test_the_page_is_complete() -> None:
    """The page of the rule is complete."""
    check_page(RULE)


@pytest.mark.parametrize("case", [case for _, case in cases(RULE)])
def test_the_rule(case: Valid | Invalid) -> None:
    """Each case is found, or not, and mended as it says."""
    check(RULE, case)
