"""Runs the cases that stand beside a rule: for this project's rules and for those of others."""

from __future__ import annotations

import os
import re
import tempfile
import textwrap
from typing import TYPE_CHECKING

from mcpcore_lint.codemods import CstRule
from mcpcore_lint.rules.base import Invalid, Rule, Valid, is_ours
from mcpcore_lint.runner.engine import fix_source, lint_source
from mcpcore_lint.runner.prefilter import speaks_of_mcp
from mcpcore_lint.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore_lint.runner.engine import Report

_MARK = re.compile(r"[ \t]*# here$", re.MULTILINE)
PATH = "server.py"


def cases(rule: Rule) -> Iterator[tuple[str, Valid | Invalid]]:
    """Every case of a rule with a name for it: `valid-0`, `invalid-3`."""
    for index, each in enumerate(rule.valid):
        yield f"valid-{index}", Valid(each) if isinstance(each, str) else each
    for number, case in enumerate(rule.invalid):
        yield f"invalid-{number}", case


def check(rule: Rule, case: Valid | Invalid) -> None:
    """Run one case.

    Raises:
        AssertionError: If the rule finds, misses or fixes something else than the case says.
    """
    settings = Settings(select=frozenset({rule.id}))._replace(**case.settings)
    code = _clean(case.code)
    files = {name: _clean(text) for name, text in case.files.items()}
    # An empty folder as the root: nothing on disk may take part in a case.
    with tempfile.TemporaryDirectory() as root:
        if isinstance(case, Valid):
            report = lint_source(code, path=PATH, settings=settings, root=os.path.realpath(root), files=files)
            _whole(report)
            _asked(rule, report, code)
            found = [each for each in report.diagnostics if each.rule == rule.id]
            assert not found, f"{rule.id} must find nothing, but found {_shown(report)} in:\n{code}"
            return
        expected = [number for number, line in enumerate(code.split("\n"), 1) if line.endswith("# here")]
        plain = _MARK.sub("", code)
        report = lint_source(plain, path=PATH, settings=settings, root=os.path.realpath(root), files=files)
        _whole(report)
        _asked(rule, report, plain)
        mine = [each for each in report.diagnostics if each.rule == rule.id]
        if expected or not (files or case.loose):
            lines = [each.span.line for each in mine if each.path == PATH]
            assert lines == expected, f"{rule.id} must find lines {expected}, but found {_shown(report)} in:\n{code}"
        assert mine, f"{rule.id} must find something in:\n{code}"
        assert case.message in mine[0].message, f"{case.message!r} must be part of {mine[0].message!r}"
        for each in mine:
            assert each.help, f"{rule.id} must name the next step"
            assert not each.message.endswith("."), f"{rule.id}: a message has no full stop: {each.message!r}"
            assert each.fix is None or rule.fixable, f"{rule.id} offers a fix and is not marked fixable"
        fixed, after = fix_source(
            plain, path=PATH, settings=settings, root=os.path.realpath(root), files=files, unsafe=True
        )
        _whole(after)
        if case.fixed is None and not case.loose:
            assert fixed.after == plain, f"{rule.id} must fix nothing, but made:\n{fixed.after}"
            return
        if case.fixed is not None:
            wanted = _clean(case.fixed)
            assert fixed.after == wanted, f"{rule.id} must make\n{wanted}\nbut made\n{fixed.after}"
        again, _ = fix_source(
            fixed.after, path=PATH, settings=settings, root=os.path.realpath(root), files=files, unsafe=True
        )
        assert again.after == fixed.after, f"{rule.id} must find nothing to fix the second time:\n{again.after}"


def check_page(rule: Rule) -> None:
    """Check that a rule says all that its page needs.

    Raises:
        AssertionError: If something is missing.
    """
    for name in ("id", "severity", "family", "summary", "why", "bad", "good", "how_to_fix", "when_to_suppress"):
        assert getattr(rule, name, None), f"{type(rule).__name__} lacks {name}"
    assert re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", rule.id), f"{rule.id!r} is not lower-case-with-hyphens"
    if is_ours(rule):
        return  # tests/lint/cases/ has their cases
    assert rule.valid, f"{rule.id} has no valid case"
    assert rule.invalid or rule.of_settings, f"{rule.id} has no invalid case"
    if rule.fixable:
        assert any(each.fixed is not None for each in rule.invalid), f"{rule.id} is fixable and shows no fix"


def _clean(text: str) -> str:
    return textwrap.dedent(text).removeprefix("\n")


def _whole(report: Report) -> None:
    assert not report.failures, "\n".join(each.detail or each.message for each in report.failures)


def _asked(rule: Rule, report: Report, code: str) -> None:
    """A rule that is never shown the code of a case finds nothing there whatever it does."""
    if not isinstance(rule, CstRule):
        return
    if rule.scope == "tool":
        assert report.tools, (
            f'{rule.id} sees handlers alone, and no tool is in the case (or set scope = "file"):\n{code}'
        )
    else:
        assert speaks_of_mcp(code.encode(), mentions=True), (
            f"{rule.id} sees files that have to do with MCP, which this one has not:\n{code}"
        )


def _shown(report: Report) -> str:
    return "; ".join(f"{each.path}:{each.span.line} {each.rule}: {each.message}" for each in report.diagnostics)
