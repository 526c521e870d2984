"""The example rule in the rule author's guide works as shown."""

from __future__ import annotations

import re
from pathlib import Path

import mcpcore_lint.rules
import mcpcore_lint.runner.checker
from mcpcore_lint.testing import cases, check, check_page


def test_the_example_rule_of_the_readme_passes_its_own_cases(monkeypatch):
    """The rule is complete, passes its cases and needs only the imports that the guide shows."""
    text = (Path(mcpcore_lint.rules.__file__).parent / "README.md").read_text()
    code = re.search(r"```python\n(.*?)```", text, re.DOTALL)[1]
    namespace = {"__name__": "example"}
    exec(compile(code, "README.md", "exec"), namespace)
    rule = namespace["ContractEmpty"]()
    monkeypatch.setattr(mcpcore_lint.runner.checker, "all_rules", lambda: {rule.id: rule})
    check_page(rule)
    for _, case in cases(rule):
        check(rule, case)
