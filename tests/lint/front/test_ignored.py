"""Ignore files exclude the same files as in git."""

from __future__ import annotations

import os
import subprocess
import time

import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st
from mcpcore_lint.runner.groups import Walk
from mcpcore_lint.settings import Settings

from tests.files import write_files
from tests.lint.front.samples import SERVER

FOLDERS = ["", "a", "ab/a", "ab/b/c.d", "x y/[z]/ab", "!q/#h", "a/q ", "ba*r/b/ab/a"]
NAMES = ["a", "b", "ab", "c.d", "x y", "[z]", "!q", "#h", "q ", "]", "-", "A"]
ATOMS = [
    *("a", "b", "ab", "c.d", "*", "**", "?", "a*", "*a", "*.py", "a.py", "*.p?", "a.p[y]", "?.py", "??.py", "*a*b*"),
    *(
        "[ab]",
        "[!a]",
        "[^a]",
        "[a-c]",
        "[]a]",
        "[!]]",
        "\\!q",
        "\\#h",
        "!q",
        "#h",
        "x y",
        "x\\ y",
        "q ",
        "\\a",
        "ba\\*r",
    ),
]
LINES = st.builds(
    lambda bang, lead, atoms, tail: bang + lead + "/".join(atoms) + tail,
    st.sampled_from(["", "", "!"]),
    st.sampled_from(["", "", "/"]),
    st.lists(st.sampled_from(ATOMS), min_size=1, max_size=3),
    st.sampled_from(["", "", "/", " ", "  ", "\r"]),
)
# pathspec lets `a/**/` match the folder `a` itself, unlike git.
FILES = st.lists(LINES.filter(lambda line: not line.rstrip().endswith("**/")), max_size=4)


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A repository with unusual file names."""
    root = tmp_path_factory.mktemp("ignored")
    subprocess.run(["git", "init", "-q", root], check=True)
    write_files(root, {os.path.join(folder, f"{name}.py"): "" for folder in FOLDERS for name in NAMES})
    return root


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(FILES, FILES, FILES)
@example(["*.py", "!/ab/", "!ab/a/**"], ["!b.py"], [])
def test_the_same_files_as_git(tree, top, below, excluded):
    """Common patterns, at the top, in a folder and in `info/exclude`, exclude the same files as in git."""
    for path, lines in ((".gitignore", top), ("ab/.gitignore", below), (".git/info/exclude", excluded)):
        (tree / path).write_bytes("\n".join(lines).encode())
    asked = ["git", "-C", tree, "ls-files", "-z", "--others", "--exclude-standard"]
    listed = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    walk = Walk(Settings(), str(tree)).run([tree])
    assert {name for name in listed.split("\0") if name.endswith(".py")} == {
        os.path.relpath(path, tree).replace(os.sep, "/") for path in walk.files
    }


def test_patterns_with_many_stars(empty):
    """A pattern that could match in very many ways does not slow the run down."""
    empty.write(("a" * 120) + ".py", SERVER)
    empty.write("/".join(["a"] * 40) + "/a.py", SERVER)
    empty.write(".gitignore", f"{'*a' * 40}*b\n{'**/a/' * 25}b\n/{'**/' * 60}x\n")
    empty.git("init", "-q")
    before = time.process_time()
    assert 2 == len(Walk(Settings(), str(empty.root)).run([empty.root]).files)
    assert time.process_time() - before < 2


def test_invalid_patterns_are_skipped(empty):
    """A bracket without a valid range or class excludes nothing, and causes no crash or warning."""
    empty.write("a.py", SERVER)
    empty.write("b.py", SERVER)
    empty.write(".gitignore", "[b-a].py\n[a\n[[:alpha:]]x\n!\nb.py\n")
    empty.git("init", "-q")
    assert [str(empty.root / "a.py")] == list(Walk(Settings(), str(empty.root)).run([empty.root]).files)


def test_packages_with_the_name_of_what_is_built(empty):
    """A folder called build or dist is read if it is a package."""
    for path in ("tools/build/__init__.py", "tools/build/run.py", "build/lib/tools/__init__.py", "dist/run.py"):
        empty.write(path, SERVER)
    walk = Walk(Settings(), str(empty.root)).run([empty.root])
    inner = empty.root / "tools" / "build"
    assert {str(inner / "__init__.py"), str(inner / "run.py")} == {*walk.files}
    assert walk.finds(str(inner / "run.py"))
    assert not walk.finds(str(empty.root / "dist" / "run.py"))


def test_settings_of_the_outermost_folder(empty):
    """Globs work below a root that ends with a separator, such as a drive."""
    empty.write("a/x.py", "")
    empty.write("b/x.py", "")
    top = empty.root.anchor
    excluded = (empty.root / "a").relative_to(top).as_posix()
    assert [str(empty.root / "b" / "x.py")] == list(Walk(Settings(exclude=(excluded,)), top).run([empty.root]).files)


def test_nested_repositories(repository):
    """A nested repository uses only its own patterns."""
    repository.write(".git/info/exclude", "store.py\n/inner/server.py\n")
    repository.write("inner/server.py", SERVER)
    repository.git("init", "-q", "inner")
    assert {"server.py", "inner/server.py"} == {path for path, _, _ in repository.findings()}
    repository.write("inner/.git/info/exclude", "server.py\n")
    assert {"server.py"} == {path for path, _, _ in repository.findings()}
