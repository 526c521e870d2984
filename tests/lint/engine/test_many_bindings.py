"""Names that are bound over and over, each time from themselves, cost no more than they are long."""

from __future__ import annotations

import time

from mcpcore_lint import lint_source

HEAD = """
from mcpcore import not_found, tool

@tool
def fetch(a: str, b: str, c: str) -> str:
    x, y, z = a, b, c
"""


def test_names_made_of_each_other_do_not_blow_up() -> None:
    """Hundreds of bindings that name one another are followed as far as is worth it, and no further."""
    lines = [
        f"    {one} = {two}.strip().replace({three}, {one}).lower() + {two}"
        for one, two, three in ("xyz", "yzx", "zxy")
    ]
    source = HEAD + "\n".join(lines * 100) + "\n    x.get(y).send(z)\n    raise not_found(x)\n"
    began = time.process_time()
    report = lint_source(source, path="server.py")
    assert time.process_time() - began < 20
    assert ["error-contract-missing"] == [
        each.rule for each in report.diagnostics if each.rule.startswith("error-contract")
    ]


def test_a_name_extended_by_itself_is_still_known() -> None:
    """The contract that is built step by step under one name keeps its entries."""
    source = """
from mcpcore import ErrorCode, FailureMode, tool

ERRORS = [FailureMode("a", ErrorCode.NOT_FOUND, when="", recovery="Call list to see what there is.")]
ERRORS = ERRORS + [FailureMode("b", ErrorCode.CONFLICT, when="It exists.", recovery="")]

@tool(errors=ERRORS)
def fetch() -> str:
    return "x"
"""
    found = {each.rule for each in lint_source(source, path="server.py").diagnostics}
    assert {"error-contract-when-required", "error-contract-recovery-empty"} <= found
