"""The workflow that the how-to hands out: its shell steps, run as GitHub runs them, in a repository with two commits."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "contract-ci.md").read_text(encoding="utf-8")
WORKFLOW = (Path(__file__).parents[2] / "examples" / "shipping" / "contract.yml").read_text(encoding="utf-8")
(SERVER,) = re.findall(r'```python title="server.py" no-run\n(.*?)```', PAGE, re.DOTALL)
STEPS = yaml.safe_load(WORKFLOW)["jobs"]["contract"]["steps"]


def write_lock(project):
    """Write the lock file as its author does, in a process that is forked, unlike those of a shell."""
    command = [sys.executable, "-m", "mcpcore", "catalog", "server.py", "--output", "contracts.lock.json"]
    subprocess.run(command, cwd=project, check=True, capture_output=True)


@pytest.fixture
def shell(tmp_path, monkeypatch):
    """Runs a step in the project, with `mcpcore` on the path."""
    commands = tmp_path / "bin"
    commands.mkdir()
    command = commands / "mcpcore"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m mcpcore "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{commands}:{os.environ['PATH']}")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "a")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "a@example.com")
    project = tmp_path / "project"
    project.mkdir()

    def run(script):
        # GitHub's default shell on Linux.
        return subprocess.run(
            ["bash", "-e", "-c", script], cwd=project, capture_output=True, text=True, timeout=100, check=False
        )

    return run


def test_the_steps_judge_a_pull_request(shell, tmp_path, monkeypatch):
    """A lock file that is not up to date fails; after the update, only the breaking changes do, and are reported."""
    lock_step, report_step, break_step = (step["run"] for step in STEPS if "mcpcore diff" in step.get("run", ""))
    server = tmp_path / "project" / "server.py"
    server.write_text(SERVER, encoding="utf-8")
    commit = "git add -A && git commit -qm {0} && git rev-parse HEAD"
    shell("git init -q")
    write_lock(server.parent)
    monkeypatch.setenv("BASE", shell(commit.format("base")).stdout.strip())

    server.write_text(SERVER.replace("queue_full", "too_busy"), encoding="utf-8")
    assert shell(lock_step).returncode == 1
    write_lock(server.parent)
    shell(commit.format("head"))
    lock, report, breaking = (shell(step) for step in (lock_step, report_step, break_step))

    assert [step.returncode for step in (lock, report, breaking)] == [0, 0, 1], report.stderr
    assert re.search(
        r"^::error file=server\.py,line=\d+,title=breaking%3A reason-renamed::", report.stdout, re.MULTILINE
    )
    assert "### Breaking" in (tmp_path / "summary.md").read_text()
    assert "the reason was renamed from queue_full" in breaking.stdout


def test_a_shallow_checkout_is_told_to_fetch_more(shell, monkeypatch):
    """Without fetch-depth: 0, the base is missing, and the message says so."""
    (step,) = [step for step in STEPS if str(step.get("uses", "")).startswith("actions/checkout")]
    assert step["with"] == {"fetch-depth": 0}
    monkeypatch.setenv("BASE", "0123456789" * 4)
    shell("git init -q && git commit -qm base --allow-empty")
    done = shell(STEPS[-1]["run"])

    assert done.returncode == 2
    assert "fetch-depth: 0" in done.stderr
