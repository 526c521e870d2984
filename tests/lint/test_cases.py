"""Every rule's page, and the cases in `tests/lint/cases/<rule-id>/`.

A case is a file `valid_*.py` or `invalid_*.py`, or a folder of that name whose `server.py` is linted together with its
other files. A comment `# here` ends each line with a finding. The text after all fixes is in `*.fixed.py`. Comments at the
top may give part of the first finding's message (`# message: ...`) and settings as JSON (`# settings: {...}`).
"""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path

import pytest
from mcpcore_lint.rule import Invalid, Rule, Valid, is_ours
from mcpcore_lint.rules import all_rules
from mcpcore_lint.runner.engine import lint_source
from mcpcore_lint.testing import check, check_page

CASES = Path(__file__).parent / "cases"
RULES = {rule.id: rule for rule in all_rules().values() if is_ours(rule)}
_HEAD = re.compile(r"\A# (message|settings): (.*)\n")


def read(path: Path) -> Valid | Invalid:
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
def test_a_rule_has_a_complete_page_and_cases_of_both_kinds(rule):
    """Each rule has a text for each part of its page, code that it accepts and code that it reports."""
    check_page(rule)
    kinds = {path.name.partition("_")[0] for path in _paths(rule.id)}
    # The findings of a run's settings come from a configuration file, which a case does not have.
    # A case has no settings, in which alone `unknown-handler` finds something.
    assert ({"valid"} if rule.id == "unknown-handler" else {"valid", "invalid"}) <= kinds
    if rule.fixable:
        assert list((CASES / rule.id).rglob("*.fixed.py"))


def test_a_rule_of_the_linter_without_a_text_is_named():
    """A text that the docstring of a rule lacks is said with the name of the rule."""
    texts = {"__doc__": "Half.\n\n    Summary: half a page\n    ", "severity": "warning"}
    kind = type("Half", (Rule,), {"__module__": "mcpcore_lint.rules.handler.half", **texts})
    with pytest.raises(AssertionError, match="Half lacks why"):
        check_page(kind())


@pytest.mark.parametrize(("rule", "path"), ALL, ids=[f"{rule.id}-{path.stem}" for rule, path in ALL])
def test_a_rule_finds_and_fixes_exactly_what_its_case_marks(rule, path):
    """A valid case has no finding; an invalid one has each finding on its line, and the fix gives the text shown."""
    check(rule, read(path))


_IMPORTS = """
import httpx
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS, ToolAnnotations
from mcpcore import CodedError, Context, ErrorCode, FailureMode, Retry, Server, tool
from mcpcore import conflict, internal_error, not_found, service_unavailable
from pydantic import BaseModel

server = Server("x")
"""
_HANDLER = "async def fetch(ctx: Context, pmid: str) -> str:\n"

_SHORTENED = {
    "error-contract-code-mismatch": "needs the contract that its comment mentions",
    "error-contract-data-mismatch": "leaves out arguments of the entry",
    "error-contract-fail-undeclared": "needs a contract",
    "error-contract-hint-too-long": "leaves out most of the text",
    "error-contract-message-data": "needs a contract",
    "error-contract-prefer-fail": "needs a contract",
    "error-contract-reason-unique": "leaves out arguments of the entries",
    "error-contract-recovery-unknown-tool": "leaves out arguments of the entry",
    "error-contract-undeclared-reason": "needs a service that raises the error",
    "error-contract-unthrown": "leaves out arguments of the entries",
    "output-error-field": "needs a tool that returns the model",
    "tool-registration-unresolved": "is settled in the configuration",
    "unknown-handler": "is about the configuration",
}
"""Rules whose examples are too short to be a program, and why."""


def _program(example: str) -> str:
    """The example as a program: statements go into a handler, entries into a contract."""
    if example.startswith("FailureMode("):
        return f"{_IMPORTS}\n@tool(errors=[{example}])\n{_HANDLER}    ..."
    if "def " in example:
        return _IMPORTS + example
    if example.startswith("@tool"):
        return f"{_IMPORTS}\n{example}\n{_HANDLER}    ..."
    if example.startswith("except"):
        example = f"try:\n    return await load(pmid)\n{example}"
    return f"{_IMPORTS}\n@tool\n{_HANDLER}" + textwrap.indent(example, "    ")


@pytest.mark.parametrize(
    "rule", [rule for rule in RULES.values() if rule.id not in _SHORTENED], ids=lambda rule: rule.id
)
def test_the_examples_of_a_rule_show_what_it_reports(rule):
    """The bad example of a rule has a finding of that rule, and the good example has none."""
    reported = {
        name: [finding.message for finding in lint_source(_program(code)).diagnostics if finding.rule == rule.id]
        for name, code in (("bad", rule.bad), ("good", rule.good))
    }
    assert reported["bad"]
    assert reported["good"] == []
