"""Names that are rebound many times in terms of each other do not slow the linter down."""

from __future__ import annotations

import time

import pytest
from mcpcore_lint import lint_source

HEAD = """
from mcpcore import Context, ErrorCode, FailureMode, not_found, tool

ENTRY = FailureMode("a", ErrorCode.NOT_FOUND, when="w", recovery="Call list to see what there is.")

@tool(errors=[ENTRY])
async def fetch(ctx: Context, a: str, b: str, c: str) -> str:
    x, y, z = a, b, c
    x = make(x)
"""

OPERATIONS = {
    "concatenation": "    {0} = {1} + {2}\n",
    "condition": "    {0} = {1} if {2} else {0}\n",
    "call": "    {0} = {1}({2}, {0})\n",
    "method": "    {0} = {1}.strip().replace({2}, {0}).lower()\n",
    "list": "    {0} = [*{1}, {2}, {0}]\n",
    "dict": "    {0} = {{**{1}, 'k': {2}, 'error': {0}}}\n",
    "text": "    {0} = f'{{{1}}} {{{2}}}'\n",
    "choice": "    {0} = {1} or {2} or {0}\n",
    "walrus": "    {0} = ({1} := {2})\n",
    "values": "    {0} = sorted({1}.values()) or {2}.copy() or {0}.copy()\n    for each in {0}: each.load()\n",
}

ENDS = """
    if x:
        raise ctx.fail(x, y, data={"k": x, **z})
    elif y:
        raise not_found(f"{x.text} {y.json()}")
    elif z:
        raise await x(y)
    try:
        store(x)
    except Exception as e:
        x = str(e) + y
        return y
    return {"ok": x, "error": y}
"""


@pytest.mark.parametrize("operation", sorted(OPERATIONS))
def test_names_bound_in_terms_of_each_other_do_not_blow_up(operation: str) -> None:
    """With a hundred bindings that refer to each other, every rule still ends quickly."""
    bound = "".join(OPERATIONS[operation].format(*names) for names in ("xyz", "yzx", "zxy")) * 35
    began = time.process_time()
    report = lint_source(HEAD + bound + ENDS, path="server.py")
    assert time.process_time() - began < 20
    assert not report.failures


def test_a_name_extended_by_itself_is_still_known() -> None:
    """A contract that is built step by step under one name keeps its entries."""
    source = """
from mcpcore import ErrorCode, FailureMode, tool

ERRORS = [FailureMode("a", ErrorCode.NOT_FOUND, when="", recovery="Call list to see what there is.")]
ERRORS = ERRORS + [FailureMode("b", ErrorCode.CONFLICT, when="It exists.", recovery="")]

@tool(errors=ERRORS)
def fetch() -> str:
    return "x"
"""
    rules = {diagnostic.rule for diagnostic in lint_source(source, path="server.py").diagnostics}
    assert {"error-contract-when-required", "error-contract-recovery-empty"} <= rules
