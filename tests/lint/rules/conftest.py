"""Fixture for case files that name, on each line, the rules with a finding there."""

from __future__ import annotations

import re

import pytest
from mcpcore_lint.runner.engine import lint_paths
from mcpcore_lint.settings import Settings

_MARK = re.compile(r"# expect: ([a-z-]+(?:, [a-z-]+)*)$")


@pytest.fixture
def check_marks(tmp_path):
    """A function that compares the findings of some families in a file with the rules that its lines name."""

    def check(path, *families):
        expected = [
            (number, rule)
            for number, line in enumerate(path.read_text().splitlines(), 1)
            if (match := _MARK.search(line))
            for rule in match[1].split(", ")
        ]
        settings = Settings(select=frozenset(families), cache_dir=str(tmp_path / "cache"))
        report = lint_paths([path], settings=settings, root=str(path.parent))
        assert not report.failures
        assert sorted(expected) == sorted((diagnostic.span.line, diagnostic.rule) for diagnostic in report.diagnostics)

    return check
