"""A run with unchanged inputs repeats the outcome of the last run; any other run checks again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.files import write_files

SERVER = '''from mcp.server.mcpserver import MCPServer

mcp = MCPServer("x")


@mcp.tool()
def fetch(key: str) -> str:
    """Fetch."""
    raise RuntimeError(key)
'''


FIXABLE = '''from typing import Literal

from mcpcore import Context, ErrorCode, FailureMode, not_found, tool


@tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="It is sold.", recovery="Call list_pots for the names.")])
async def sell(ctx: Context[Literal["gone"]], pot: str) -> str:
    """Sell a pot."""
    raise not_found("There is no such pot.")
'''


class Project:
    """A folder with its own cache."""

    def __init__(self, root: Path) -> None:
        self.root = root / "project"
        self.cache = root / "cache"
        self.home = root / "home"
        self.write("server.py", SERVER)
        self.write("pyproject.toml", "[project]\nname = 'x'\n")
        self.write(".git/HEAD", "ref: refs/heads/main\n")

    def write(self, name: str, text: str) -> None:
        write_files(self.root, {name: text})

    def run(
        self,
        *arguments: str,
        cwd: Path | None = None,
        command: tuple[str, ...] = ("-m", "mcpcore_lint", "--format", "concise"),
        **environment: str,
    ) -> subprocess.CompletedProcess[str]:
        inherited = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "FORCE_COLOR"}}
        return subprocess.run(
            [sys.executable, *command, *arguments],
            cwd=cwd or self.root,
            env={**inherited, "MCPCORE_CACHE_DIR": str(self.cache), "HOME": str(self.home), **environment},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def settle(self) -> None:
        """Wait until a later change is sure to get another modification time."""
        time.sleep(0.2)

    def memos(self) -> list[Path]:
        return sorted(self.cache.glob("*.memo"))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.settle()
    return made


def test_the_second_run_repeats_the_first(project: Project) -> None:
    """The output and the exit code are the same, without reading a file."""
    first = project.run()
    assert first.returncode == 1
    assert len(project.memos()) == 1
    # Nothing but the memo can answer once everything else of the cache is gone.
    for entry in project.cache.glob("*.bin"):
        entry.unlink()
    second = project.run()
    assert (second.stdout, second.stderr, second.returncode) == (first.stdout, first.stderr, first.returncode)
    assert not list(project.cache.glob("*.bin"))


def test_a_report_without_fixes_is_not_repeated_once_libcst_is_there(project: Project) -> None:
    """Where libcst is missing, a report leaves the text of fixes out; the first run that has libcst prints it."""
    project.write("server.py", FIXABLE)
    project.settle()
    code = "import sys\n{}\nfrom mcpcore_lint.start import start\nstart(sys.argv[1:])"
    for blocked, fixes in (("sys.modules['libcst'] = None", False), ("", True), ("sys.modules['libcst'] = None", True)):
        done = project.run("--format", "json", command=("-c", code.format(blocked)))
        assert 1 == done.returncode, done.stderr
        assert fixes == any(finding["fix"] for finding in json.loads(done.stdout)["diagnostics"])
        assert fixes == ("pip install" not in done.stderr)


CHANGES = {
    "a file is mended": lambda p: p.write("server.py", SERVER.replace("raise RuntimeError(key)", "return key")),
    "a file appears": lambda p: p.write("more.py", SERVER.replace("def fetch", "def more")),
    "a file appears further down": lambda p: p.write("deep/er/more.py", SERVER.replace("def fetch", "def more")),
    "a file goes": lambda p: (p.root / "server.py").unlink(),
    "a file is replaced by one of its size and time": lambda p: _swap(p.root / "server.py"),
    "settings change": lambda p: p.write("pyproject.toml", "[tool.mcpcore.lint]\nselect = ['no-fake-empty']\n"),
    "a file is left out": lambda p: p.write(".gitignore", "server.py\n"),
    "a file is left out by the repository": lambda p: p.write(".git/info/exclude", "server.py\n"),
    "settings appear above": lambda p: p.write("../pyproject.toml", "[tool.mcpcore.lint]\nbroken = 1\n"),
}


def test_a_change_of_the_requirements_is_seen(project: Project) -> None:
    """The advice names mcpcore once the project requires it, in its own list or in a nearer one that is added."""
    for name, text in (
        ("pyproject.toml", "[project]\nname = 'x'\ndependencies = ['mcpcore']\n"),
        ("pyproject.toml", "[project]\nname = 'x'\n"),
        ("requirements.txt", "mcpcore\n"),
    ):
        project.settle()
        before = project.run("--format", "full").stdout
        project.write(name, text)
        assert ("coded error" in project.run("--format", "full").stdout) != ("coded error" in before)


def _swap(path: Path) -> None:
    stat = path.stat()
    other = path.with_name("other.tmp")
    other.write_text(path.read_text().replace("raise RuntimeError(key)", "return str(key)       #"))
    assert other.stat().st_size == stat.st_size
    os.utime(other, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    other.replace(path)


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_is_seen(project: Project, change: object) -> None:
    """This holds for every input of the outcome."""
    if change is CHANGES["settings appear above"]:
        (project.root / "pyproject.toml").unlink()
        (project.root / ".git" / "HEAD").unlink()
        (project.root / ".git").rmdir()
        project.settle()
    first = project.run()
    assert first.returncode == 1
    assert len(project.memos()) == 1
    assert callable(change)
    change(project)
    second = project.run()
    uncached = project.run("--no-cache")
    assert (second.stdout, second.returncode) == (uncached.stdout, uncached.returncode)
    assert (second.stdout, second.returncode) != (first.stdout, first.returncode)


GOOD, BAD = "def load(key):\n    return key\n", "def load(key):\n    print(key)\n    return key\n"
READER = SERVER.replace("mcp = ", "{}\n\nmcp = ").replace("raise RuntimeError(key)", "return {}(key)")
NAMED = '[project]\nname = "x"\n[tool.mcpcore.lint]\nhandlers = ["b.t:*"]\n'
FALLBACK = FIXABLE.replace('"Call list_pots for the names."', '"Call list_pots for the names.", fallback_tool="pots"')
WRAPS = """from core.errors import Weird
from mcpcore import conflict, tool


@tool
async def run(key: str) -> str:
    try:
        return open(key).read()
    except Weird as error:
        raise conflict(str(error)) from error
"""
LOOKED_UP = {
    "a module appears in a folder": (
        {"a/x.py": "", "t.py": READER.format("from a.b import load", "load")},
        "a/b.py",
        BAD,
    ),
    "a package replaces a module": (
        {"h.py": GOOD, "t.py": READER.format("import h", "h.load")},
        "h/__init__.py",
        BAD,
    ),
    "a package loses its file": (
        {"h.py": GOOD, "p/h.py": BAD, "p/__init__.py": "", "p/t.py": READER.format("from h import load", "load")},
        "p/__init__.py",
        None,
    ),
    "a folder becomes a package": (
        {"pyproject.toml": NAMED, "a/b/t.py": BAD.replace("load", "run")},
        "a/b/__init__.py",
        "",
    ),
    "a file beside those of the run": ({"server.py": FALLBACK, "other/x.py": "def pots(): ..."}, "other/x.py", ""),
    "a class that no import reaches": (
        {"lib/x/core/__init__.py": "", "lib/x/core/errors.py": "class Weird(Exception): ...\n", "z/t.py": WRAPS},
        "z/t.py",
        f"# It is read alone.\n{WRAPS}",
    ),
}


@pytest.mark.parametrize(("files", "name", "text"), LOOKED_UP.values(), ids=LOOKED_UP)
def test_where_names_lead_is_looked_up_again(
    project: Project, files: dict[str, str], name: str, text: str | None
) -> None:
    """An edit may change what an import means, and what a module is called."""
    for path, content in files.items():
        project.write(path, content)
    project.settle()
    arguments = () if name != "other/x.py" else ("server.py",)
    first = project.run(*arguments)
    (project.root / name).unlink() if text is None else project.write(name, text)
    assert first.stdout != project.run(*arguments).stdout == project.run(*arguments, "--no-cache").stdout


def test_recent_changes_are_not_trusted(tmp_path: Path) -> None:
    """A file may change again within the resolution of its modification time."""
    project = Project(tmp_path)
    for text in (SERVER, SERVER.replace("raise RuntimeError(key)", "return str(key)       #"), SERVER):
        project.write("server.py", text)
        assert project.run().returncode == int(text == SERVER)


def test_a_damaged_memo_is_ignored(project: Project) -> None:
    """This holds for truncated, changed and empty files."""
    first = project.run()
    (memo,) = project.memos()
    raw = memo.read_bytes()
    for damaged in (raw[:-5], raw[:60] + bytes([raw[60] ^ 1]) + raw[61:], b"", b"\0" * 200):
        memo.write_bytes(damaged)
        again = project.run()
        assert (again.stdout, again.returncode) == (first.stdout, first.returncode)


def test_each_command_line_folder_and_colour_has_its_own_outcome(project: Project) -> None:
    """An outcome is repeated only for the same command line."""
    plain = project.run()
    assert project.run("--select", "no-fake-empty").stdout != plain.stdout
    assert project.run("--format", "full", FORCE_COLOR="1").stdout != project.run("--format", "full").stdout
    assert project.run(".", cwd=project.root.parent).stdout != plain.stdout


def test_a_report_in_a_file_is_written_again(project: Project) -> None:
    """A missing or changed report file is written again; an unchanged one only gets a new time."""
    out = project.root / "report.txt"
    codes = []
    for state in ("none", "as it was", "as it was", "gone", "changed", "as it was"):
        if state == "gone":
            out.unlink()
        elif state == "changed":
            out.write_text("something else")
        before = time.time_ns()
        codes.append(project.run("--output-file", out.name).returncode)
        assert "prefer-mcp-error-in-handler" in out.read_text()
        assert out.stat().st_mtime_ns >= before - 50_000_000
        project.settle()
    assert set(codes) == {1}
    assert project.memos()
    # Nothing but the memo can answer once everything else of the cache is gone.
    (memo,) = project.memos()
    for entry in project.cache.glob("*.bin"):
        entry.unlink()
    project.run("--output-file", out.name)
    assert memo.exists()
    assert not list(project.cache.glob("*.bin"))
    assert {path.name for path in project.root.iterdir()} == {"server.py", "pyproject.toml", ".git", "report.txt"}


def test_an_unwritable_report_file(project: Project) -> None:
    """The repeated run and the first one report the same error."""
    folder = project.root.parent / "out"
    folder.mkdir()
    name = str(folder / "report.txt")
    assert [project.run("--output-file", name).returncode for _ in range(2)] == [1, 1]
    (folder / "report.txt").unlink()
    folder.rmdir()
    refused = project.run("--output-file", name)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "report.txt: cannot be written" in refused.stderr


def test_writing_commands_are_not_remembered(project: Project) -> None:
    """This covers writing a baseline and `--no-cache`."""
    project.run("--no-cache")
    project.run("--baseline", "known.json", "--write-baseline")
    assert not project.memos()


def test_only_the_newest_are_kept(project: Project) -> None:
    """Otherwise a hook, which names different files each time, would fill the cache."""
    from mcpcore_lint.runner.memo import KEPT

    project.cache.mkdir()
    for number in range(KEPT + 10):
        (project.cache / f"{number:032d}.memo").write_bytes(b"")
    project.run()
    assert len(project.memos()) == KEPT
