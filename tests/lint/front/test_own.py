"""The project's own examples and docs pass its linter, and its hooks work with pre-commit."""

from __future__ import annotations

import shlex
from pathlib import Path

import yaml
from click.testing import CliRunner
from mcpcore_lint.cli import lint

ROOT = Path(__file__).parents[3]


def test_examples_and_documents_are_clean(monkeypatch):
    """No finding in the examples, the README or the docs fails a run."""
    monkeypatch.chdir(ROOT)
    # The rules, the tutorial and the first page show mistakes.
    shown = {"rules", "tutorial"}
    documents = {path for path in Path("docs").rglob("*.md") if path.parent.name not in shown} - {Path("docs/index.md")}
    pages = sorted(map(str, documents))
    result = CliRunner().invoke(lint, ["examples", "README.md", *pages, "--format", "concise", "--no-cache"])
    assert 0 == result.exit_code, result.output


def test_hooks_run_the_command(project):
    """Each hook has the keys that pre-commit requires, and its entry runs."""
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert ["mcpcore-lint", "mcpcore-lint-fix"] == [hook["id"] for hook in hooks]
    for hook in hooks:
        assert {"id", "name", "entry", "language", "types"} <= set(hook)
        program, command, *options = shlex.split(hook["entry"])
        assert ("mcpcore", "lint") == (program, command)
        assert "server.py" in project.lint(*options, code=1).stdout


def test_the_workflow_of_the_docs_is_valid():
    """The configuration, hook and workflow on the page are valid and name only things that exist."""
    import re
    import tomllib

    from mcpcore_lint.config import KEYS
    from mcpcore_lint.rules import names_a_rule

    text = (ROOT / "docs" / "how-to" / "lint.md").read_text(encoding="utf-8")
    hook, workflow = map(yaml.safe_load, re.findall(r"^```yaml\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    assert "mcpcore-lint" == hook["repos"][0]["hooks"][0]["id"]
    steps = [step.get("run", "") for step in workflow["jobs"]["mcpcore"]["steps"]]
    assert any("--format sarif --output-file" in command for command in steps)
    section = tomllib.loads(re.search(r"^```toml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)[1])["tool"]["mcpcore"][
        "lint"
    ]
    assert set(section) <= set(KEYS)
    assert all(names_a_rule(name) for name in (*section["ignore"], *section["severities"]))
    assert set(re.findall(r"`(--[a-z-]+)", text)) <= {name for parameter in lint.params for name in parameter.opts}
