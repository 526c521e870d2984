"""A project on disk and the command run on it, in this process or a new one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.files import write_files
from tests.lint.front.samples import SERVER, STORE


class Project:
    """A folder of files."""

    def __init__(self, root):
        self.root = root

    def write(self, name, text):
        """Write a file and create its parent folders."""
        write_files(self.root, {name: text if isinstance(text, bytes) else textwrap.dedent(text)})
        return self.root / name

    def settings(self, text, folder="."):
        """Write the configuration of a folder."""
        return self.write(f"{folder}/pyproject.toml", "[tool.mcpcore.lint]\n" + textwrap.dedent(text))

    def lint(self, *args, input=None, code=None, cwd=None):
        """Run the command in this process."""
        from mcpcore_lint.cli import lint

        before = Path.cwd()
        os.chdir(cwd or self.root)
        try:
            result = CliRunner().invoke(lint, [str(argument) for argument in args], input=input)
        finally:
            os.chdir(before)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert "Traceback" not in result.output
        if code is not None:
            assert code == result.exit_code, result.output
        return result

    def findings(self, *args, **options):
        """The findings as (path, line, rule)."""
        report = self.json(*args, **options)
        return [(finding["path"], finding["line"], finding["rule"]) for finding in report["diagnostics"]]

    def json(self, *args, **options):
        """The report as JSON."""
        return json.loads(self.lint(*args, "--format", "json", **options).stdout)

    def process(self, *args, cwd=None, env=None, input=None):
        """Run the command in another process."""
        return subprocess.run(
            command(*args),
            cwd=cwd or self.root,
            env={**os.environ, **(env or {})},
            input=input,
            capture_output=True,
            text=not isinstance(input, bytes),
            check=False,
            timeout=60,
        )

    def git(self, *args):
        """Run git in the project."""
        who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
        done = subprocess.run(["git", *who, *args], cwd=self.root, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout


def command(*args):
    """The command line of a process."""
    return [sys.executable, "-m", "mcpcore_lint", *map(str, args)]


@pytest.fixture(autouse=True)
def _alone(tmp_path, monkeypatch):
    """Isolate each test's cache and environment."""
    monkeypatch.setenv("MCPCORE_CACHE_DIR", str(tmp_path / "cache"))
    for name in ("NO_COLOR", "FORCE_COLOR", "GIT_DIR"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def empty(tmp_path):
    """A project without files."""
    root = tmp_path / "project"
    root.mkdir()
    return Project(root)


@pytest.fixture
def project(empty):
    """A server with two findings: one through a service, one that can be fixed."""
    empty.write("store.py", STORE)
    empty.write("server.py", SERVER)
    return empty


@pytest.fixture
def repository(project):
    """The same project, committed to a git repository."""
    project.git("init", "-q", "-b", "main")
    project.git("add", ".")
    project.git("commit", "-q", "-m", "first")
    return project
