"""Rules written for Fixit run after changing only the import."""

from __future__ import annotations

# ruff: noqa: N802, RUF012 - libcst has methods named after its nodes, and Fixit has lists of cases
import re
from collections import Counter
from pathlib import Path
from types import ModuleType

import libcst as cst
import libcst.matchers as m
import pytest
from libcst.metadata import ParentNodeProvider, PositionProvider, QualifiedNameProvider
from mcpcore_lint import testing
from mcpcore_lint.codemods import CstRule
from mcpcore_lint.codemods.fixit import CodePosition, CodeRange, Invalid, LintRule, Valid
from mcpcore_lint.rules import _rules_of, all_rules
from mcpcore_lint.runner.engine import fix_source, lint_source
from mcpcore_lint.settings import Settings


class NoObjectBaseRule(LintRule):
    """
    `class A(object)`: every class is an object.

    Naming it says nothing.
    """

    MESSAGE = "Leave object out."
    VALID = [
        Valid("class A(B): pass"),
        """
        class A:
            pass
        """,
    ]
    INVALID = [
        Invalid(
            """
            @x
            class A(object):
                pass
            """,
            range=CodeRange(start=CodePosition(2, 0), end=CodePosition(3, 8)),
            expected_message="Leave object out.",
            expected_replacement="""
            @x
            class A:
                pass
            """,
        ),
        Invalid("class A( B, object ): pass", expected_replacement="class A( B ): pass"),
        "class A(object): pass",
    ]

    def visit_ClassDef(self, node):
        kept = [each for each in node.bases if not m.matches(each.value, m.Name("object"))]
        if len(kept) < len(node.bases):
            if kept:
                kept[-1] = kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
            changes = {"lpar": cst.MaybeSentinel.DEFAULT, "rpar": cst.MaybeSentinel.DEFAULT}
            self.report(node, replacement=node.with_changes(bases=kept, **({} if kept else changes)))


class IsNone(LintRule):
    """Comparing with None by ==."""

    METADATA_DEPENDENCIES = (QualifiedNameProvider, PositionProvider)
    VALID = [Valid("x is None"), Valid("x == other"), Valid("x == 0")]
    INVALID = [
        Invalid("x == None", expected_replacement="x is None"),
        Invalid("a == b!=None", expected_message="Compare with is not", expected_replacement="a == b is not None"),
    ]

    def visit_Comparison(self, node):
        left = node.left
        targets = []
        for target in node.comparisons:
            sides = (left, target.comparator)
            left = target.comparator
            none = any(
                name.name == "builtins.None"
                for side in sides
                for name in self.get_metadata(QualifiedNameProvider, side, set())
            )
            if none and isinstance(target.operator, cst.Equal | cst.NotEqual):
                wanted = cst.Is() if isinstance(target.operator, cst.Equal) else cst.IsNot()
                targets.append(target.with_changes(operator=wanted))
            else:
                targets.append(target)
        if targets != list(node.comparisons):
            start = self.get_metadata(PositionProvider, node).start
            which = "is not" if any(isinstance(each.operator, cst.IsNot) for each in targets) else "is"
            self.report(
                node, f"Compare with {which}.", position=start, replacement=node.with_changes(comparisons=targets)
            )


class NoPrintInLoopRule(LintRule):
    """A print in a loop."""

    MESSAGE = "Collect the lines, and print them once."
    VALID = ["print(1)", "for x in y:\n    def f(): print(x)"]
    INVALID = [Invalid("for x in y:\n    print(x)"), Invalid("while x:\n    if y: print(x)\n    else: print(y)")]

    def __init__(self):
        super().__init__()
        self.seen = 0

    @m.visit(m.Call(func=m.Name("print")))
    def look(self, node: cst.Call) -> None:
        parent = node
        while not isinstance(parent, cst.Module | cst.FunctionDef):
            if isinstance(parent, cst.For | cst.While):
                self.seen += 1
                self.report(node, f"{self.MESSAGE} ({self.seen})")
                return
            parent = self.get_metadata(ParentNodeProvider, parent)


RULES = (NoObjectBaseRule, IsNone, NoPrintInLoopRule)


@pytest.fixture(autouse=True)
def _known(monkeypatch):
    for kind in RULES:
        monkeypatch.setitem(all_rules(), kind.id, kind())


@pytest.mark.parametrize(
    ("kind", "case"),
    [(kind, case) for kind in RULES for _, case in testing.cases(kind())],
    ids=lambda each: str(each)[:40],
)
def test_their_cases_pass(kind, case):
    """A rule's Fixit cases are checked: the findings, their places and messages, and the fixed text."""
    testing.check(kind(), case)


@pytest.mark.parametrize("kind", RULES)
def test_they_have_a_page(kind):
    """A ported rule has an id and every text of its page."""
    testing.check_page(kind())


def test_names_docstrings_and_cases_are_converted():
    """A rule's name, docstring, message and cases become its id, page and cases here."""
    rule = NoObjectBaseRule
    assert ("no-object-base", "file", "project", True) == (rule.id, rule.scope, rule.family, rule.fixable)
    assert ("`class A(object)`: every class is an object", "Naming it says nothing.") == (rule.summary, rule.why)
    assert ("Leave object out.", "class A(B): pass") == (rule.how_to_fix, rule.good)
    assert ("is-none", "no-print-in-loop") == (IsNone.id, NoPrintInLoopRule.id)
    assert not NoPrintInLoopRule.fixable
    own = type("Own", (LintRule,), {"VALID": [], "INVALID": [], "id": "mine", "summary": "s", "__module__": "own"})
    assert ("mine", "s") == (own.id, own.summary)
    module = ModuleType("own")
    module.Own, module.LintRule = own, LintRule
    assert ["mine"] == [each.id for each in _rules_of(module)]


def test_a_wrong_case_fails(monkeypatch):
    """A wrong line, message or replacement fails the case, and so does code without a finding."""
    wrong = {
        "must find lines": Invalid("\nx == None", range=CodeRange(CodePosition(2, 0), CodePosition(2, 9))),
        "must be part of": Invalid("x == None", expected_message="other"),
        "must make": Invalid("x == None", expected_replacement="x == None"),
        "must find something": "x is None",
    }
    for said, case in wrong.items():
        body = {"VALID": [], "INVALID": [case], "id": "is-none"}
        kind = type("IsNone", (IsNone,), body)
        monkeypatch.setitem(all_rules(), kind.id, kind())
        with pytest.raises(AssertionError, match=said):
            testing.check(kind(), kind.invalid[0])


def test_they_work_on_a_server(tmp_path):
    """In a file that defines tools they report and fix the same code as under Fixit."""
    source = (
        "from fastmcp import FastMCP\n\nmcp = FastMCP('x')\n\n\nclass Store( object ):\n    x = 1  # kept\n\n\n"
        "@mcp.tool\ndef fetch(key: str | None = None) -> bool:\n    for x in key: print( x )\n    return key==None\n"
    )
    settings = Settings(select=frozenset(kind.id for kind in RULES))
    report = lint_source(source, path="server.py", settings=settings, root=str(tmp_path))
    assert [(6, 7, "no-object-base"), (12, 19, "no-print-in-loop"), (13, 12, "is-none")] == [
        (diagnostic.span.line, diagnostic.span.column, diagnostic.rule) for diagnostic in report.diagnostics
    ]
    assert "Collect the lines, and print them once. (1)" == report.diagnostics[1].message
    fixed, _ = fix_source(source, path="server.py", settings=settings, root=str(tmp_path))
    assert source.replace("( object )", "").replace("key==None", "key is None") == fixed.after


PAGES = Path(__file__).parents[3] / "docs"


def test_the_rules_in_the_docs_work(monkeypatch):
    """Each rule shown in full in the docs passes its own cases and has a complete page."""
    checked = Counter()
    for block in re.findall(
        r"^```python\n(.*?)^```",
        (PAGES / "reference" / "lint.md").read_text(encoding="utf-8"),
        re.MULTILINE | re.DOTALL,
    ):
        if "CstRule" not in block and "LintRule" not in block:
            continue
        module = ModuleType("page")
        exec(block, vars(module))
        for kind in [each for each in vars(module).values() if isinstance(each, type) and issubclass(each, CstRule)]:
            if kind in {CstRule, LintRule}:
                continue
            monkeypatch.setitem(all_rules(), kind.id, kind())
            testing.check_page(kind())
            for _, case in testing.cases(kind()):
                testing.check(kind(), case)
                checked[kind.id] += 1
    assert {"house-warn-is-warning", "no-empty-call"} == {rule for rule, count in checked.items() if count > 1}
