"""The page about the trail is correct."""

from __future__ import annotations

import logging
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from mcpcore.audit import AuditTrail
from mcpcore.audit.trail import FLUSH_VARIABLE, KEY_VARIABLE, PATH_VARIABLE, POLICY_VARIABLE
from mcpcore.cli.audit import group

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "audit.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def blocks():
    return BLOCK.findall(PAGE.read_text(encoding="utf-8"))


@pytest.mark.server_only("the programs of the page are as their readers run them")
def test_every_block_runs(blocks, tmp_path, monkeypatch):
    """All blocks run in order in one folder: the assertions of the programs hold, and the commands exit with 0."""
    monkeypatch.chdir(tmp_path)
    level = logging.getLogger("mcpcore.audit").level
    names: dict[str, object] = {"__name__": "page"}
    commands = 0
    for language, text in blocks:
        if language == "python":
            exec(compile(text, str(PAGE), "exec"), names)
        elif language == "console":
            for line in text.splitlines():
                program, name, *arguments = shlex.split(line.removeprefix("$ "))
                assert (program, name) == ("mcpcore", "audit")
                if "-f" in arguments:
                    arguments.remove("-f")
                result = CliRunner().invoke(group, arguments)
                assert result.exit_code == 0, (line, result.output)
                commands += 1
        else:
            assert language == "text"
    assert commands == 6
    trail = names["trail"]
    assert isinstance(trail, AuditTrail)
    trail.close()
    logging.getLogger("mcpcore.audit").setLevel(level)


def test_every_variable_is_listed():
    """The table of the variables and the code name the same ones for trails."""
    text = (PAGE.parents[1] / "reference" / "environment.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| `(MCPCORE_AUDIT\w*)`", text, re.MULTILINE))
    assert listed == {PATH_VARIABLE, KEY_VARIABLE, POLICY_VARIABLE, FLUSH_VARIABLE}
