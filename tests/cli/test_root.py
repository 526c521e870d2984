"""The group: what it lists, what it loads, what it says."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import click
import pytest
from click.shell_completion import BashComplete
from click.testing import CliRunner

from mcpcore import __version__
from mcpcore.cli import main
from mcpcore.cli.root import COMMANDS, SHELLS, cli, run as run_group

HEAVY = ("mcp", "mcp_types", "pydantic", "libcst", "anyio", "asyncio", "uvicorn", "decimal")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mcpcore", *arguments], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize("arguments", ["--version", "--help", "-h", "-V", "audit --help"])
def test_the_version_and_the_help_load_neither_the_sdk_nor_the_linter(arguments):
    """`--version` and `--help` answer without a heavy import."""
    code = (
        # Coverage loads some of them itself.
        "import sys\nbefore = set(sys.modules)\n"
        f"sys.argv = ['mcpcore', *{arguments!r}.split()]\n"
        "from mcpcore.cli import main\n"
        "try:\n    main()\nexcept SystemExit as exc:\n    assert not exc.code, exc.code\n"
        f"print(sorted(set({HEAVY!r}) & set(sys.modules) - before), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "[]\n")
    assert "mcpcore" in done.stdout


def test_the_version_is_that_of_the_package():
    """`python -m mcpcore --version` prints the name and the version."""
    done = run("--version")
    assert (0, f"mcpcore {__version__}\n", "") == (done.returncode, done.stdout, done.stderr)


def test_the_help_lists_every_command_with_its_line():
    """The help lists each command of the table, examples and the exit codes."""
    shown = CliRunner().invoke(cli, ["--help"]).stdout
    for name, mounted in COMMANDS.items():
        assert name in shown
        assert mounted.help in shown
    assert "mcpcore call server.py" in shown
    assert "Exit codes" in shown


@pytest.mark.parametrize("name", list(COMMANDS))
def test_each_command_loads_and_explains_itself(name):
    """The table leads to a command, whose help is there."""
    done = CliRunner().invoke(cli, [name, "--help"])
    assert (done.exit_code, done.stderr) == (0, "")
    assert "Usage:" in done.stdout


def commands(command: click.Command, *names: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command under `command`, with the words that lead to it."""
    yield names, command
    if isinstance(command, click.Group):
        ctx = click.Context(command)
        for name in command.list_commands(ctx):
            inner = command.get_command(ctx, name)
            assert inner is not None
            yield from commands(inner, *names, name)


@pytest.mark.parametrize(("names", "command"), [pytest.param(*case, id=" ".join(case[0])) for case in commands(cli)])
def test_every_command_has_examples_that_it_would_take(names, command):
    """The help of each command, and of each command within, shows how it is called, with options that there are."""
    shown = CliRunner().invoke(cli, [*names, "--help"]).stdout
    lines = [line.strip() for line in shown.splitlines() if line.startswith("  ") and "mcpcore " in line]
    examples = [
        re.split(r"\s{2,}", line[line.index("mcpcore ") :])[0] for line in lines if not line.startswith(("`", "{"))
    ]
    assert [line for line in examples if line.startswith(" ".join(("mcpcore", *names, "")))]
    known = dict(commands(cli))
    for line in examples:
        words = shlex.split(line.split(" -- ")[0].rstrip(')"`'))[1:]
        path = max((path for path in known if words[: len(path)] == list(path)), key=len)
        options = {name for option in known[path].params for name in (*option.opts, *option.secondary_opts)}
        assert {word for word in words if word.startswith("-") and word != "-"} <= options, line


def test_an_unknown_command_is_answered_with_the_nearest():
    """A misspelt command is exit code 2, and the message names the near one."""
    done = CliRunner().invoke(cli, ["cal", "x"])
    assert (done.exit_code, done.stdout) == (2, "")
    assert "did you mean `mcpcore call`?" in done.stderr


def test_an_import_error_inside_a_command_is_not_hidden(monkeypatch, tmp_path):
    """A command that lacks another module raises that error."""
    (tmp_path / "broken_command.py").write_text("import not_installed_at_all\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(COMMANDS, "lint", COMMANDS["lint"]._replace(module="broken_command"))
    done = CliRunner().invoke(cli, ["lint"])
    assert isinstance(done.exception, ModuleNotFoundError)
    assert done.exception.name == "not_installed_at_all"


def test_a_broken_click_is_not_taken_for_a_missing_one(tmp_path):
    """If click itself lacks a module, that module is named."""
    (tmp_path / "click.py").write_text("import not_installed_at_all\n")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\nfrom mcpcore.cli import main\nmain()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert done.stderr.endswith("ModuleNotFoundError: No module named 'not_installed_at_all'\n")


def test_the_command_writes_to_any_stream(monkeypatch):
    """A stream without an encoding, as embedding programs set one, is written to as it is."""
    out = io.StringIO()
    monkeypatch.setattr(sys, "argv", ["mcpcore", "--version"])
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with pytest.raises(SystemExit) as ended:
        main()
    assert (0, f"mcpcore {__version__}\n") == (ended.value.code, out.getvalue())


def test_importing_any_module_runs_nothing():
    """Tools that walk a package import every module of it, `__main__` too."""
    code = (
        "import importlib, pkgutil, mcpcore\n"
        "for found in pkgutil.walk_packages(mcpcore.__path__, 'mcpcore.'):\n"
        "    if found.name != 'mcpcore.mypy': importlib.import_module(found.name)\n"
        "    print(found.name)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (0, "") == (done.returncode, done.stderr)
    assert {"mcpcore.__main__", "mcpcore.cli.root", "mcpcore.integrations.otel"} <= set(done.stdout.split())


def test_the_table_is_what_documentation_tools_read():
    """Tools that inspect click commands get each command of the table with its options."""
    described = cli.to_info_dict(click.Context(cli))
    assert list(COMMANDS) == list(described["commands"])
    assert {"timeout", "era"} <= {option["name"] for option in described["commands"]["call"]["params"]}


@pytest.mark.parametrize("shell", SHELLS)
def test_completion_prints_a_script_for_each_shell(shell):
    """The script calls the command back through click's own variable."""
    done = CliRunner().invoke(cli, ["completion", shell])
    assert done.exit_code == 0
    assert "_MCPCORE_COMPLETE" in done.stdout


def test_completion_offers_commands_and_options():
    """Completions of the shell come from the table."""
    complete = BashComplete(cli, {}, "mcpcore", "_MCPCORE_COMPLETE")
    assert [item.value for item in complete.get_completions([], "c")] == ["call", "check", "catalog", "completion"]
    assert "--timeout" in [item.value for item in complete.get_completions(["call"], "--t")]
    assert isinstance(cli, click.Group)


@pytest.mark.parametrize("command", ["call", "run"])
def test_completion_of_a_server_is_left_to_the_shell_which_knows_the_files(command):
    """The word after `call` or `run` is a file most of the time; the shell completes it itself."""
    complete = BashComplete(cli, {}, "mcpcore", "_MCPCORE_COMPLETE")
    assert [("file", "")] == [(item.type, item.value) for item in complete.get_completions([command], "ser")]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
@pytest.mark.parametrize(
    ("arguments", "stream"),
    [
        *(
            (words, "the standard output")
            for words in (["--help"], ["lint", "--help"], ["completion", "bash"], ["--version"])
        ),
        (["migrate", str(Path(__file__).parents[1] / "migrate" / "cases" / "clauses.before.py")], "stdout"),
    ],
)
def test_a_full_disk_behind_the_output_is_told_in_a_sentence(arguments, stream):
    """Exit code 2 and a sentence, not a traceback."""
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "mcpcore", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    assert (done.returncode, done.stderr) == (2, f"Error: {stream} cannot be written: No space left on device.\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_behind_the_errors_keeps_the_exit_code(unbuffered):
    """Nobody can read the message, but scripts read the code."""
    for arguments in (["nope"], ["diff", "a", "b"], ["lint", "--select", "nope"]):
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(
                [sys.executable, "-m", "mcpcore", *arguments],
                stdout=subprocess.DEVNULL,
                stderr=full,
                env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
                timeout=60,
                check=False,
            )
        assert done.returncode == 2, arguments


@pytest.mark.skipif(os.name == "nt", reason="a shell closes descriptors there")
@pytest.mark.parametrize(
    ("closed", "words"), [("2>&-", "diff a.json a.json"), (">&-", "migrate ."), ("<&- >&-", "lint .")]
)
def test_closed_streams_change_no_exit_code(closed, words, tmp_path):
    """Some hosts start a server without standard error, and scripts close what they do not read."""
    (tmp_path / "a.json").write_text(json.dumps({"version": 1, "servers": []}))
    command = f'exec "{sys.executable}" -m mcpcore {words} {closed}'
    plain, done = (
        subprocess.run(["sh", "-c", line], cwd=tmp_path, capture_output=True, timeout=60, check=False)
        for line in (command.removesuffix(closed), command)
    )
    assert plain.returncode == done.returncode
    assert b"Traceback" not in done.stderr


def test_an_error_of_a_command_is_not_taken_for_one_of_the_output(monkeypatch):
    """An unexpected error of a command is shown unchanged."""

    monkeypatch.setattr("mcpcore.cli.root.cli", mock.Mock(side_effect=OSError("the socket is gone")))
    with pytest.raises(OSError, match="the socket is gone"):
        run_group()


@pytest.mark.parametrize("words", [[], ["audit"]])
def test_a_group_without_a_command_shows_its_help(words):
    """The help has its lines, as with `--help`, and the exit code is that of a wrong use."""
    done = subprocess.run([sys.executable, "-m", "mcpcore", *words], capture_output=True, text=True, check=False)
    assert 2 == done.returncode
    assert "\nOptions:\n" in done.stderr
    assert "\\n" not in done.stderr
