"""A small project on disk and the linter's model of it."""

from __future__ import annotations

import textwrap

import pytest
from mcpcore_lint.runner.checker import Checker
from mcpcore_lint.settings import Settings

from tests.files import write_files


class SmallProject:
    """A folder of Python files."""

    def __init__(self, root):
        self.root = root

    def write(self, **files):
        """Write files: `store="..."` is `store.py`, `app__store` is `app/store.py`."""
        texts = {
            name.replace("__", "/").replace("/init", "/__init__") + ".py": textwrap.dedent(text)
            for name, text in files.items()
        }
        write_files(self.root, texts)
        return self

    def run(self, **settings):
        """A run over the project that has found its tools."""
        run = Checker(str(self.root), Settings(**settings))
        for path in sorted(self.root.rglob("*.py")):
            run.find_tools(run.project.read(str(path)))
        return run

    def tools(self, **settings):
        """Every tool, by name."""
        run = self.run(**settings)
        return {tool.display_name: tool for tools in run.tools.values() for tool in tools}

    def reach(self, name="fetch", **settings):
        """The errors that can leave a tool's handler."""
        run = self.run(**settings)
        tool = next(tool for tools in run.tools.values() for tool in tools if tool.display_name == name)
        return run.reach(tool)

    def thrown(self, name="fetch", **settings):
        """What a tool can throw: the code or class of each error with its call path."""
        reach = self.reach(name, **settings)
        return {
            (label, " > ".join(throw.path))
            for throw in (*reach.own, *reach.throws)
            for label in (throw.codes or (throw.type_name.removeprefix("builtins."),))
        }


@pytest.fixture
def project(tmp_path):
    """An empty project."""
    return SmallProject(tmp_path)
