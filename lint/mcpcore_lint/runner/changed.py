"""What concerns a change since a revision of git: findings in changed files, and those that it brought elsewhere.

A changed service can break the contract of a tool in a file that nobody touched. So findings in unchanged files are
compared with those that the same files had at the revision, read from git's own store; the working tree is left alone.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from mcpcore_lint.runner import runner
from mcpcore_lint.runner.baseline import content_marks
from mcpcore_lint.runner.discover import Walk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpcore_lint.diagnostics import Diagnostic
    from mcpcore_lint.runner.runner import Group, Result


_OF_A_HOOK: Final = frozenset(
    {"GIT_DIR", "GIT_WORK_TREE", "GIT_PREFIX", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_NAMESPACE"}
)


class ChangedError(Exception):
    """Git cannot tell; the text says why and what next."""


class Change:
    """The difference between the working tree and a revision, in each repository that a run touches."""

    def __init__(self, revision: str) -> None:
        self.revision = revision.strip()
        self._repositories: dict[str, _Repository] = {}
        self._tops: dict[str, str] = {}

    def concerned(self, made: Sequence[Group], result: Result) -> list[Diagnostic]:
        """The findings that the change concerns.

        Raises:
            ChangedError: If git is missing, a folder is in no repository, or there is no such revision.
        """
        changed: set[str] = set()
        for group in made:
            changed |= self._repository(group.config.root).changed
        # Resolving links is dear for many; most paths repeat.
        real = {each.path: os.path.realpath(result.absolute(each.path)) for each in result.diagnostics}
        tops = {repository.top for repository in self._repositories.values()}
        inner = {path: _repository_inside(os.path.dirname(path), tops) for path in set(real.values())}
        touched = {path for path, where in inner.items() if path in changed or where in changed}
        # What lies in a repository inside changes when that one as a whole does, and has no past in this one.
        elsewhere = [
            each for each in result.diagnostics if real[each.path] not in touched and inner[real[each.path]] is None
        ]
        gone = any(self._repository(group.config.root).gone for group in made)
        if not elsewhere or not (changed or gone):
            return [each for each in result.diagnostics if real[each.path] in touched]
        new = self._new(elsewhere, made, result)
        return [each for each in result.diagnostics if real[each.path] in touched or id(each) in new]

    def _repository(self, root: str) -> _Repository:
        if root not in self._tops:
            if self.revision.startswith("-") or not self.revision:
                raise ChangedError(f"--changed-since {self.revision}: not a revision; give a branch, a tag or a commit")
            if ".." in self.revision:
                first = self.revision.partition("..")[0] or "main"
                raise ChangedError(
                    f"--changed-since {self.revision}: a range; give the revision that it starts from, such as {first}:"
                    " what happened there since this branch left it does not count anyway"
                )
            self._tops[root] = os.path.realpath(_git(["rev-parse", "--show-toplevel"], root).rstrip("\n"))
        top = self._tops[root]
        if top not in self._repositories:
            self._repositories[top] = _Repository(top, self.revision)
        return self._repositories[top]

    def _new(self, elsewhere: Sequence[Diagnostic], made: Sequence[Group], result: Result) -> set[int]:
        """Which findings in unchanged files were not there at the revision, by identity."""
        paths = {result.absolute(each.path) for each in elsewhere}
        before: Counter[str] = Counter()
        with tempfile.TemporaryDirectory(prefix="mcpcore-") as folder:
            for number, group in enumerate(made):
                repository = self._repository(group.config.root)
                old = os.path.join(folder, str(list(self._repositories).index(repository.top)))
                if not os.path.isdir(old):
                    repository.restore(old)
                inside = os.path.relpath(os.path.realpath(group.config.root), repository.top)
                root = os.path.normpath(os.path.join(old, inside))
                mine = [
                    os.path.relpath(path, group.config.root) for path in sorted(paths) if _owner(path, made) == number
                ]
                there = tuple(path for each in mine if os.path.isfile(path := os.path.join(root, each)))
                if not there:
                    continue
                settings = group.config.settings._replace(cache_dir=None)
                group_then = runner.Group(
                    group.config._replace(root=root, settings=settings, unknown=()),
                    there,
                    Walk(settings, root).run([each for each in there if not each.lower().endswith(runner.DOCUMENTS)]),
                    tuple(each for each in there if each.lower().endswith(runner.DOCUMENTS)),
                )
                then = runner.lint_groups([group_then], cache=False)
                below = runner.Result(result.base)
                lead = os.path.join(group.config.root, "")
                for each in then.diagnostics:
                    absolute = lead + os.path.relpath(then.absolute(each.path), root)
                    path = os.path.relpath(absolute, below.base).replace(os.sep, "/")
                    below.texts.setdefault(path, then.source(each.path))
                    below.diagnostics.append(each._replace(path=path))
                before.update(_marks(below))
        new: set[int] = set()
        marks = {id(each): mark for each, mark in zip(result.diagnostics, _marks(result), strict=True)}
        for each in elsewhere:
            mark = marks[id(each)]
            if before[mark]:
                before[mark] -= 1
            else:
                new.add(id(each))
        return new


def _repository_inside(folder: str, tops: set[str]) -> str | None:
    """The repository inside another one, such as a submodule, that a folder lies in."""
    while folder not in tops:
        if os.path.exists(os.path.join(folder, ".git")):
            return folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return None


def _marks(result: Result) -> list[str]:
    """What stands for each finding: with its message, since a service that fails otherwise makes another finding."""
    marks = content_marks(result.diagnostics, result.source)
    return [f"{mark}\0{each.message}" for each, mark in zip(result.diagnostics, marks, strict=True)]


def _owner(path: str, made: Sequence[Group]) -> int:
    inside = [
        (len(each.config.root), number)
        for number, each in enumerate(made)
        if path.startswith(os.path.join(each.config.root, ""))
    ]
    return max(inside)[1] if inside else 0


class _Repository:
    """One repository, seen from a revision."""

    def __init__(self, top: str, revision: str) -> None:
        self.top = top
        # What a branch changed, not what its base has changed since: compare with where the two parted.
        named = _git(["rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}"], top, told=False).strip()
        if not named:
            raise ChangedError(
                f"--changed-since {revision}: git knows no such revision; name a branch, a tag or a commit that is here"
                " (a shallow clone has no others: fetch it first)"
            )
        parted = _git(["merge-base", named, "HEAD"], top, told=False).strip()
        self.base = parted or named
        quiet = ["-c", "core.quotePath=false", "diff", "--no-ext-diff", "--no-renames", "--name-only", "-z"]
        names = _git([*quiet, "--diff-filter=d", self.base, "--"], top)
        names += _git(["ls-files", "--others", "--exclude-standard", "-z"], top)
        self.changed = frozenset(os.path.realpath(os.path.join(top, name)) for name in names.split("\0") if name)
        self.gone = bool(_git([*quiet, "--diff-filter=D", self.base, "--"], top))

    def restore(self, folder: str) -> None:
        """Write the Python files of the revision below a folder; no filter that git may be set to run is run."""
        listed = _git(["ls-tree", "-r", "-z", "--full-tree", self.base], self.top)
        wanted: list[tuple[str, str]] = []
        for line in listed.split("\0"):
            head, _, name = line.partition("\t")
            if name.endswith((".py", ".pyi", ".md", ".markdown", "pyproject.toml")) and head.split(" ")[0] != "120000":
                wanted.append((head.split(" ")[2], name))
        os.makedirs(folder)
        asked = "".join(f"{sha}\n" for sha, _ in wanted).encode()
        raw = _run(["cat-file", "--batch"], self.top, asked)
        place = 0
        for _, name in wanted:
            end = raw.index(b"\n", place)
            size = int(raw[place:end].split(b" ")[2])
            path = os.path.normpath(os.path.join(folder, name))
            if path.startswith(os.path.join(folder, "")):
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "wb") as file:
                    file.write(raw[end + 1 : end + 1 + size])
            place = end + 1 + size + 1


def _git(arguments: list[str], folder: str, *, told: bool = True) -> str:
    return _run(arguments, folder, told=told).decode("utf-8", "surrogateescape")


def _run(arguments: list[str], folder: str, given: bytes = b"", *, told: bool = True) -> bytes:
    try:
        done: subprocess.CompletedProcess[bytes] = subprocess.run(  # noqa: S603 - a fixed program, its arguments a list
            ["git", "-C", folder, *arguments],  # noqa: S607 - found on the user's own path
            capture_output=True,
            check=False,
            input=given,
            env=_environment(),
        )
    except OSError as error:
        raise ChangedError(f"--changed-since needs git, which cannot be run: {error.strerror}") from error
    if done.returncode:
        if not told:
            return b""
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        why = next((line for line in said if line.startswith("fatal:")), said[-1] if said else "no reason given")
        then = f"; if it is yours, run: git config --global --add safe.directory {folder}" if _foreign(why) else ""
        raise ChangedError(f"--changed-since: {folder}: git says: {why.removeprefix('fatal: ')}{then}")
    return done.stdout


def _foreign(said: str) -> bool:
    """Whether git mistrusts a repository because it belongs to somebody else, as in many containers."""
    return "dubious ownership" in said


def _environment() -> dict[str, Any]:
    """The environment, without what a hook of git sets for its own repository."""
    keep = {name: value for name, value in os.environ.items() if name not in _OF_A_HOOK}
    return {**keep, "LC_ALL": "C"}
