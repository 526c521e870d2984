"""`mcpcore new`: the project works as it is made, on the SDK and on FastMCP."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from mcpcore.cli.root import cli

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.testing import Result

ROOT = Path(__file__).resolve().parents[2]
# With a setting in place of PYTHONPATH, the process can be forked.
TESTS = ("pytest", "-q", "-p", "no:cacheprovider", "-o", "pythonpath=src")
VARIANTS = pytest.mark.parametrize("options", [[], ["--fastmcp"]], ids=["sdk", "fastmcp"])


@pytest.fixture
def new() -> Callable[..., Result]:
    """`mcpcore new`."""
    return lambda *arguments: CliRunner().invoke(cli, ["new", *arguments], catch_exceptions=False)


@pytest.fixture
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, in which the commands run."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(project: Path, *command: str) -> str:
    """What a command prints in the project, whose package is found without being installed."""
    environment = {**os.environ, "MYPYPATH": str(ROOT)} | ({} if command == TESTS else {"PYTHONPATH": "src"})
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=project, env=environment, capture_output=True, text=True, check=False
    )
    assert 0 == done.returncode, done.stdout + done.stderr
    return done.stdout


@VARIANTS
def test_the_tests_of_a_new_project_raise_every_failure(
    new: Callable[..., Result], inside: Path, options: list[str]
) -> None:
    """Its tests pass with a reason coverage of 100 %, and lint and ruff find nothing."""
    assert 0 == new("book-desk", *options).exit_code
    project = inside / "book-desk"
    assert "TOTAL              3       3  100%" in run(project, *TESTS)
    assert "No findings in 3 files, 2 tools" in run(project, "mcpcore", "lint", "--no-cache")
    run(project, "ruff", "check", "--no-cache", "--isolated", "--select=E,F,I,UP,B,RUF", ".")
    run(project, "ruff", "format", "--no-cache", "--isolated", "--check", ".")
    assert "server: FastMCP" in (project / "src/book_desk/server.py").read_text() if options else True
    made = tomllib.loads((project / "pyproject.toml").read_text())["project"]
    assert ["mcpcore[fastmcp]>=0.1" if options else "mcpcore>=0.1"] == made["dependencies"]
    assert "mcpcore[cli]" in made["optional-dependencies"]["dev"]
    assert ["pip install --no-cache-dir ."] == re.findall("pip install .*", (project / "Dockerfile").read_text())


def test_a_test_without_a_failure_ends_with_an_error(new: Callable[..., Result], inside: Path) -> None:
    """The coverage of a new project is not a decoration: without its last test it is too low."""
    new("book-desk")
    tests = inside / "book-desk/tests/test_server.py"
    kept, _, _ = tests.read_text().partition("async def test_a_book_whose_copies_are_lent")
    tests.write_text(kept)
    with pytest.raises(AssertionError, match="all_lent"):
        run(inside / "book-desk", *TESTS)


def test_nothing_of_the_sample_is_left(new: Callable[..., Result], inside: Path) -> None:
    """All names are those of the project, and its hidden files begin with a dot."""
    result = new("servers/My-Desk.2")
    assert 0 == result.exit_code
    assert "cd servers/My-Desk.2" in result.output
    project = inside / "servers/My-Desk.2"
    files = {path.relative_to(project).as_posix() for path in project.rglob("*") if path.is_file()}
    assert {".gitignore", ".dockerignore", ".github/workflows/ci.yml", "src/my_desk_2/server.py"} <= files
    texts = [(project / name).read_text() for name in files]
    assert not any("sample" in text for text in [*files, *texts])
    assert 'name = "My-Desk.2"' in (project / "pyproject.toml").read_text()
    assert [project] == list((inside / "servers").iterdir())


@pytest.mark.parametrize(
    "name",
    [
        "2desk",
        "book desk",
        "book--desk",
        "-desk",
        "desk-",
        "böcher",
        "mcp",
        "Email",
        "class",
        "tests",
        "x;y",
        "Click",
        "Pydantic-Core",
    ],
)
def test_a_name_that_cannot_be_one(new: Callable[..., Result], inside: Path, name: str) -> None:
    """The error says why, and nothing is written."""
    result = new("--", name)
    assert 2 == result.exit_code
    assert "cannot be the name of a project" in result.stderr
    assert [] == list(inside.iterdir())


def test_an_existing_project_is_not_touched(
    new: Callable[..., Result], inside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An empty folder is used, a file or a folder with files is not."""
    (inside / "empty").mkdir()
    assert 0 == new("empty").exit_code
    (inside / "my-desk").mkdir()
    monkeypatch.chdir(inside / "my-desk")
    assert 0 == new(".").exit_code
    assert Path("src/my_desk/server.py").is_file()
    monkeypatch.chdir(inside)
    (inside / "desk").mkdir()
    (inside / "desk/notes.txt").write_text("mine")
    (inside / "file").write_text("mine")
    here = new(".")
    assert (2, True) == (here.exit_code, "the current folder is not empty" in here.stderr)
    for name in ("desk", "file"):
        result = new(name)
        assert 2 == result.exit_code
        assert f"{name} exists already." in result.stderr
    assert ["notes.txt"] == [path.name for path in (inside / "desk").iterdir()]


def test_a_folder_that_cannot_be_made(new: Callable[..., Result], inside: Path) -> None:
    """The error names the path and the reason."""
    (inside / "file").write_text("mine")
    (inside / "circle").symlink_to("circle")
    for name in ("file/desk", "x" * 300, "circle", "circle/desk"):
        result = new(name)
        assert 2 == result.exit_code
        assert f"{name} cannot be written: " in result.stderr
    assert "mine" == (inside / "file").read_text()
