"""Guards in every documented form, with contracts kept and broken."""

from __future__ import annotations

from pathlib import Path

import pytest

GUARDS = Path(__file__).parent.parent / "cases" / "guards"


@pytest.mark.parametrize("name", ["store", "server", "misspelt", "planted", "mapped"])
def test_guards_get_the_findings_that_they_name(check_marks, name):
    """A server that keeps its contracts has no finding; a misspelt reason and a planted violation have one each."""
    check_marks(
        GUARDS / f"{name}.py", "contract", "conformance", *(["prefer-mcp-error-in-handler"] * (name == "mapped"))
    )
