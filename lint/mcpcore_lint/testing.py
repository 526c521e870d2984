"""Runs the cases of a rule, for the linter's own rules and for those of other packages."""

import os
import re
import tempfile
import textwrap
from collections.abc import Iterator
from typing import Any

from mcpcore_lint.rule import TEXTS, Invalid, Rule, Valid, is_ours
from mcpcore_lint.runner.engine import Report, fix_source, lint_source
from mcpcore_lint.settings import Settings

_MARK = re.compile(r"[ \t]*# here$", re.MULTILINE)
PATH = "server.py"


def cases(rule: Rule) -> Iterator[tuple[str, Valid | Invalid]]:
    """Every case of a rule with a name for it: `valid-0`, `invalid-3`.

    Args:
        rule: The rule.
    """
    valid = (Valid(case) if isinstance(case, str) else case for case in rule.valid)
    yield from ((f"valid-{index}", case) for index, case in enumerate(valid))
    yield from ((f"invalid-{index}", case) for index, case in enumerate(rule.invalid))


def check(rule: Rule, case: Valid | Invalid) -> None:
    """Run one case.

    ```python
    @pytest.mark.parametrize("case", cases(NoPrint))
    def test_no_print(case):
        check(case)
    ```

    Args:
        rule: The rule.
        case: One of its cases.

    Raises:
        AssertionError: If the findings or fixes of the rule differ from the case.
    """
    code = _clean(case.code)
    invalid = case if isinstance(case, Invalid) else None
    plain = _MARK.sub("", code) if invalid is not None else code
    # The root is an empty folder, so that no file on disk takes part in a case.
    with tempfile.TemporaryDirectory() as root:
        project: dict[str, Any] = {
            "path": PATH,
            "settings": Settings(select=frozenset({rule.id}))._replace(**case.settings),
            "root": os.path.realpath(root),
            "files": {name: _clean(text) for name, text in case.files.items()},
        }
        report = lint_source(plain, **project)
        _check_run(report)
        findings = [finding for finding in report.diagnostics if finding.rule == rule.id]
        if invalid is None:
            assert not findings, f"{rule.id} must find nothing, but found {_listed(report)} in:\n{code}"
            return
        expected = [number for number, line in enumerate(code.split("\n"), 1) if line.endswith("# here")]
        if expected or not case.files:
            lines = [finding.span.line for finding in findings if finding.path == PATH]
            assert lines == expected, f"{rule.id} must find lines {expected}, but found {_listed(report)} in:\n{code}"
        assert findings, f"{rule.id} must find something in:\n{code}"
        assert invalid.message in findings[0].message, f"{invalid.message!r} must be part of {findings[0].message!r}"
        for finding in findings:
            assert finding.help, f"{rule.id} must name the next step"
            assert not finding.message.endswith("."), f"{rule.id}: a message has no full stop: {finding.message!r}"
            assert finding.fix is None or rule.fixable, f"{rule.id} offers a fix and is not marked fixable"
            if finding.fix is not None and rule.fixable == "unsafe":
                assert finding.fix.safety == "unsafe", (
                    f"{rule.id} says that its fixes are unsafe, and offers a safe one"
                )
        fixed, report = fix_source(plain, unsafe=True, **project)
        _check_run(report)
        wanted = plain if invalid.fixed is None else _clean(invalid.fixed)
        assert fixed.after == wanted, f"{rule.id} must make\n{wanted}\nbut made\n{fixed.after}"
        again, _ = fix_source(fixed.after, unsafe=True, **project)
        assert again.after == fixed.after, f"{rule.id} must find nothing to fix the second time:\n{again.after}"


def check_page(rule: Rule) -> None:
    """Check that a rule has all the texts of its page.

    Args:
        rule: The rule.

    Raises:
        AssertionError: If a text is missing.
    """
    for name in ("id", "severity", "family", *TEXTS):
        assert getattr(rule, name, None), f"{type(rule).__name__} lacks {name}"
    assert re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", rule.id), f"{rule.id!r} is not lower-case-with-hyphens"
    if is_ours(rule):
        return  # tests/lint/cases/ has their cases
    assert rule.valid, f"{rule.id} has no valid case"
    assert rule.invalid, f"{rule.id} has no invalid case"
    if rule.fixable:
        assert any(case.fixed is not None for case in rule.invalid), f"{rule.id} is fixable and shows no fix"


def _clean(text: str) -> str:
    return textwrap.dedent(text).removeprefix("\n")


def _check_run(report: Report) -> None:
    assert not report.failures, "\n".join(failure.detail or failure.message for failure in report.failures)


def _listed(report: Report) -> str:
    return "; ".join(f"{item.path}:{item.span.line} {item.rule}: {item.message}" for item in report.diagnostics)
