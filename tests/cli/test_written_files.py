"""Commands that change files change those below the paths that the user named, and say which others they left."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from mcpcore_lint.runner import files

from mcpcore.cli.root import cli
from tests.files import write_files

SOURCE = '''from fastmcp import FastMCP
from mcpcore.integrations.fastmcp import ContractMiddleware
from mcpcore import Context, ErrorCode, FailureMode, not_found, tool

mcp = FastMCP("x", middleware=[ContractMiddleware()])


@mcp.tool
def f(x: int) -> int:
    """Fails."""
    raise ValueError("x is bad")


@tool(errors=[FailureMode("no_match", ErrorCode.NOT_FOUND, when="None.", recovery="Call search_keys to find one.")])
def g(ctx: Context) -> int:
    """Fails."""
    raise not_found("There is nothing.")
'''
COMMANDS = {"lint": ("lint", "--fix", "--no-cache"), "migrate": ("migrate", "--write")}
OUTSIDE = "which is not below a path that was named"


@pytest.fixture(params=COMMANDS)
def change(request: pytest.FixtureRequest) -> Callable[..., tuple[int, str]]:
    """Runs a command that changes files; returns its exit code, and what it says."""

    def run(*paths: Path | str) -> tuple[int, str]:
        result = CliRunner().invoke(cli, [*COMMANDS[request.param], *map(str, paths)])
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return result.exit_code, result.output

    return run


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A folder in a repository, and a file next to it."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "tree").mkdir()
    (tmp_path / "outside.py").write_text(SOURCE)
    return tmp_path / "tree"


def test_a_link_out_of_the_tree_is_not_written_through(tree: Path, change: Callable[..., tuple[int, str]]) -> None:
    """The file behind the link stays, the run names the link, and the other files are changed."""
    (tree / "link.py").symlink_to("../outside.py")
    (tree / "own.py").write_text(SOURCE)
    code, said = change(tree)
    assert SOURCE == (tree.parent / "outside.py").read_text()
    assert SOURCE != (tree / "own.py").read_text()
    assert code == 2
    assert "link.py" in said
    assert OUTSIDE in said.replace("\n", " ")


@pytest.mark.parametrize("named", ["link.py", "folder"])
def test_a_link_that_was_named_is_followed(tree: Path, change: Callable[..., tuple[int, str]], named: str) -> None:
    """Naming a link names the file or the folder that it leads to, and the link stays one."""
    (tree / "link.py").symlink_to("../outside.py")
    (tree / "folder").symlink_to("..")
    change(tree / named)
    assert SOURCE != (tree.parent / "outside.py").read_text()
    assert (tree / named).is_symlink()


def test_a_link_inside_of_the_tree_is_followed(tree: Path, change: Callable[..., tuple[int, str]]) -> None:
    """A link to another folder of the tree may be written through."""
    write_files(tree, {"real/server.txt": SOURCE})
    (tree / "link.py").symlink_to("real/server.txt")
    assert OUTSIDE not in change(tree)[1]
    assert SOURCE != (tree / "real" / "server.txt").read_text()
    assert (tree / "link.py").is_symlink()


def test_another_name_of_the_same_file_keeps_its_content(tree: Path, change: Callable[..., tuple[int, str]]) -> None:
    """A file with a hard link outside of the tree is replaced, so that the other one stays as it was."""
    os.link(tree.parent / "outside.py", tree / "own.py")
    change(tree)
    assert SOURCE == (tree.parent / "outside.py").read_text()
    assert SOURCE != (tree / "own.py").read_text()


def test_the_mode_stays_and_a_read_only_file_is_left(tree: Path, change: Callable[..., tuple[int, str]]) -> None:
    """An executable file stays one; a file that nobody may write is left, and named."""
    (tree / "own.py").write_text(SOURCE)
    (tree / "own.py").chmod(0o754)
    (tree / "kept.py").write_text(SOURCE)
    (tree / "kept.py").chmod(0o444)
    code, said = change(tree)
    assert 0o754 == (tree / "own.py").stat().st_mode & 0o7777
    assert SOURCE == (tree / "kept.py").read_text()
    assert code == 2
    assert "the file is read-only" in said
    assert sorted(path.name for path in tree.iterdir()) == ["kept.py", "own.py"]


def test_a_folder_that_becomes_a_link_is_not_followed(
    tree: Path, change: Callable[..., tuple[int, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The place is settled once: a folder that someone replaces by a link right then is left."""
    write_files(tree, {"inner/outside.py": SOURCE})
    opened = files._opened

    def swapped(folder: str) -> int | None:
        if folder.endswith("inner") and not (tree / "inner").is_symlink():
            (tree / "inner").rename(tree.parent / "moved")
            (tree / "inner").symlink_to("..")
        return opened(folder)

    monkeypatch.setattr(files, "_opened", swapped)
    code, said = change(tree)
    assert SOURCE == (tree.parent / "outside.py").read_text()
    assert code == 2
    assert "changed by someone else meanwhile" in said or OUTSIDE in said  # after another pass


def test_a_file_that_becomes_a_link_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A link that replaces the file while it is written is left, and its target too."""
    write_files(tmp_path, {"a.py": "old", "other.py": "old"})
    opened = files._opened

    def swapped(folder: str) -> int | None:
        (tmp_path / "a.py").unlink()
        (tmp_path / "a.py").symlink_to("other.py")
        return opened(folder)

    monkeypatch.setattr(files, "_opened", swapped)
    with pytest.raises(files.ChangedMeanwhileError):
        files.put_in_place(str(tmp_path / "a.py"), b"new", expected=b"old", named=(str(tmp_path),))
    assert (tmp_path / "other.py").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.py", "other.py"]
