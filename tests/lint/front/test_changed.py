"""`--changed-since`: which findings a change affects, in real repositories."""

from __future__ import annotations

import os

import pytest

from tests.lint.front.samples import CLEAN, CONFLICT, DIRECT, SERVER, STORE


def test_nothing_changed(repository):
    """Without changes there are no findings."""
    assert [] == repository.findings("--changed-since", "HEAD", code=0)


def test_changed_untracked_and_renamed_files(repository):
    """All findings in edited, staged, untracked and renamed files are reported."""
    repository.write("server.py", "# edited\n" + SERVER)
    assert [11, 12] == [line for _, line, _ in repository.findings("--changed-since", "HEAD")]
    repository.git("checkout", "-q", ".")
    repository.write("new server.py", SERVER)
    assert {"new server.py"} == {path for path, _, _ in repository.findings("--changed-since", "HEAD")}
    (repository.root / "new server.py").unlink()
    repository.git("mv", "server.py", "naïve.py")
    assert {"naïve.py"} == {path for path, _, _ in repository.findings("--changed-since", "HEAD")}


def test_a_service_that_changed(repository):
    """In an unchanged file only the findings that the change caused are reported."""
    repository.write(
        "store.py", STORE.replace("raise conflict(", "raise forbidden(").replace("conflict,", "forbidden,")
    )
    assert [CONFLICT] == repository.findings("--changed-since", "HEAD", code=1)
    repository.write("store.py", STORE + "# a comment\n")
    assert [] == repository.findings("--changed-since", "HEAD", code=0)


def test_a_deleted_file(repository):
    """Findings that a deletion causes in other files are reported."""
    contract = 'recovery="Call search_keys to find one."'
    repository.write("server.py", SERVER.replace(contract, f'{contract}, fallback_tool="ping"'))
    repository.write("ping.py", CLEAN)
    repository.git("add", ".")
    repository.git("commit", "-qm", "second")
    (repository.root / "ping.py").unlink()
    rules = [rule for _, _, rule in repository.findings("--changed-since", "HEAD", code=1)]
    assert ["error-contract-recovery-unknown-tool"] == rules


def test_branches_are_compared_at_the_merge_base(repository):
    """Changes on the base branch do not count as changes of this branch."""
    repository.git("checkout", "-qb", "topic")
    repository.write("ping.py", CLEAN.replace("ping()", "ping(host: str)"))
    repository.git("add", ".")
    repository.git("commit", "-qm", "topic")
    repository.git("checkout", "-q", "main")
    repository.write("server.py", "# main went on\n" + SERVER)
    repository.git("commit", "-qam", "main")
    repository.git("checkout", "-q", "topic")
    assert [("ping.py", 5, "field-description")] == repository.findings("--changed-since", "main")


def test_subfolders(repository):
    """The option works from a subfolder, for part of a repository, and with a nested configuration."""
    repository.write("inner/server.py", SERVER)
    repository.write("inner/store.py", STORE)
    repository.settings("", "inner")
    repository.git("add", ".")
    repository.git("commit", "-qm", "second")
    repository.write(
        "inner/store.py", STORE.replace("raise conflict(", "raise forbidden(").replace("conflict,", "forbidden,")
    )
    assert [CONFLICT] == repository.findings("--changed-since", "HEAD", cwd=repository.root / "inner")
    assert [("inner/server.py", *CONFLICT[1:])] == repository.findings("--changed-since", "HEAD")


def test_configuration_of_git_does_not_matter(repository):
    """Repository settings that change git's output have no effect."""
    for name, value in (
        ("diff.relative", "true"),
        ("diff.noprefix", "true"),
        ("color.ui", "always"),
        ("diff.external", "false"),
    ):
        repository.git("config", name, value)
    repository.write("server.py", "# edited\n" + SERVER)
    assert 2 == len(repository.findings("--changed-since", "HEAD", cwd=repository.root))


def test_a_nested_repository(repository):
    """Findings in a nested repository, such as a submodule, are reported if it changed or is new."""
    repository.write("inner/server.py", SERVER)
    repository.write("inner/store.py", STORE)
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "inner"]):
        repository.git("-C", "inner", *arguments)
    assert {"inner/server.py"} == {path for path, _, _ in repository.findings("--changed-since", "HEAD")}
    repository.git("-c", "advice.addEmbeddedRepo=false", "add", "inner")
    repository.git("commit", "-qm", "with a submodule")
    assert [] == repository.findings("--changed-since", "HEAD")
    repository.write("store.py", STORE + "# touched\n")
    assert [] == repository.findings("--changed-since", "HEAD")
    repository.write("inner/store.py", STORE + "# touched\n")
    assert {"inner/server.py"} == {path for path, _, _ in repository.findings("--changed-since", "HEAD")}


def test_errors_of_git(repository, tmp_path, monkeypatch):
    """A missing revision, an option as the revision, no repository and no git are each reported with the next step."""
    said = repository.lint("--changed-since", "no-such", code=2).stderr
    assert "--changed-since no-such: unknown revision; name a branch, a tag or a commit of this repository" in said
    assert "not a revision" in repository.lint("--changed-since", "--output=x", code=2).stderr
    assert "unknown revision" in repository.lint("--changed-since", "main...HEAD", code=2).stderr
    assert [] == repository.findings("--changed-since", " HEAD\n", code=0)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "server.py").write_text(SERVER)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    assert "not a git repository" in repository.lint("--changed-since", "HEAD", code=2, cwd=outside).stderr
    monkeypatch.setenv("PATH", "")
    assert "needs git" in repository.lint("--changed-since", "HEAD", code=2).stderr


def test_in_a_hook_of_git(repository, monkeypatch):
    """Variables that git sets for a hook, such as the index of `git commit -a`, have no effect."""
    repository.write("inner/server.py", SERVER)
    for name, value in (("GIT_DIR", ".git"), ("GIT_INDEX_FILE", ".git/index.lock"), ("GIT_PREFIX", "inner/")):
        monkeypatch.setenv(name, value)
    inner = repository.root / "inner"
    assert {"server.py"} == {path for path, _, _ in repository.findings("--changed-since", "HEAD", cwd=inner)}


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
def test_a_repository_of_another_user(repository):
    """If git mistrusts the repository, as in containers, the message says how to allow it."""
    for path in (repository.root, repository.root / ".git"):
        os.chown(path, 12345, 12345)
    said = repository.lint("--changed-since", "HEAD", code=2).stderr
    assert f"git config --global --add safe.directory {repository.root}" in said


def test_against_the_empty_tree_everything_is_new(repository):
    """Compared with the empty tree, every finding is reported."""
    repository.git("checkout", "-q", "--orphan", "other")
    repository.git("rm", "-rqf", ".")
    repository.git("commit", "-q", "--allow-empty", "-m", "empty")
    repository.git("checkout", "-q", "main")
    assert [CONFLICT, DIRECT] == repository.findings("--changed-since", "other")
