"""Contracts are understood in every form that the runtime accepts."""

from __future__ import annotations

import pytest

MODE = 'FailureMode("no_match", ErrorCode.NOT_FOUND, when="Nothing is there.", recovery="Look for another one first.")'


@pytest.mark.parametrize(
    ("errors", "reasons"),
    [
        (f"Contract([{MODE}])", ("no_match",)),
        (f"Contract(entries=[{MODE}])", ("no_match",)),
        (f"Contract(({MODE},), tool='x')", ("no_match",)),
        (f"Contract(tool='x', entries=({MODE},))", ("no_match",)),
        ("Contract()", ()),
        ("Contract(tool='x')", ()),
        ("Contract(entries=())", ()),
        ("Contract(**OPTIONS)", None),
    ],
)
def test_a_contract_is_read_as_its_class_accepts_it(project, errors, reasons):
    """`Contract` accepts `entries` by position, by name, or not at all; those from elsewhere are unknown, not empty."""
    project.write(
        app=f"""
        from elsewhere import OPTIONS
        from mcpcore import Contract, ErrorCode, FailureMode, tool
        @tool(errors={errors})
        def fetch() -> str: ...
        """
    )
    contract = project.tools()["fetch"].contract
    expected = ("unknown", False, ()) if reasons is None else ("sequence", True, reasons)
    assert expected == (contract.state, contract.complete, contract.reasons)
