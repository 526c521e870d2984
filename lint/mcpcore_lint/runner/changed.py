"""`--changed-since`: findings in files that changed since a git revision, and new findings in other files.

A changed service can break the contract of a tool in a file that nobody touched. So findings in unchanged files are
compared with those at the revision, whose files are read from git's own store. The working tree is not touched.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from mcpcore_lint.diagnostics import Diagnostic
from mcpcore_lint.output import CannotRunError
from mcpcore_lint.paths import is_below, upwards
from mcpcore_lint.report.fingerprints import content_marks
from mcpcore_lint.runner.groups import Group, Walk
from mcpcore_lint.runner.results import Result
from mcpcore_lint.runner.runner import lint_groups

_OF_A_HOOK: Final = frozenset(
    {"GIT_DIR", "GIT_WORK_TREE", "GIT_PREFIX", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_NAMESPACE"}
)
"""Variables that git sets for its hooks, and which point to the repository of the hook."""
_CHECKED: Final = (".py", ".pyi", ".md", ".markdown", "pyproject.toml")


class Change:
    """The difference between the working tree and a revision, in each repository of a run."""

    def __init__(self, revision: str) -> None:
        self.revision = revision.strip()
        if self.revision.startswith("-"):
            raise CannotRunError(f"--changed-since {revision}: not a revision; give a branch, a tag or a commit")
        self._repositories: dict[str, _Repository] = {}

    def concerned(self, groups: Sequence[Group], result: Result) -> list[Diagnostic]:
        """The findings that the change concerns.

        Raises:
            CannotRunError: If git is not installed, or does not know the repository or the revision.
        """
        repositories = [self._repository(group.config.root) for group in groups]
        changed = frozenset[str]().union(*(repository.changed for repository in repositories))
        # Resolving links is slow, and many findings are in the same file. A repository inside another one, such as a
        # submodule, changes as a whole.
        paths = {
            path: os.path.realpath(result.absolute(path))
            for path in {diagnostic.path for diagnostic in result.diagnostics}
        }
        touched = {path for path, real in paths.items() if not changed.isdisjoint(upwards(real))}
        untouched = [diagnostic for diagnostic in result.diagnostics if diagnostic.path not in touched]
        new: set[int] = set()
        if untouched and any(repository.changed or repository.deleted for repository in repositories):
            new = self._new(untouched, groups, result)
        return [diagnostic for diagnostic in result.diagnostics if diagnostic.path in touched or id(diagnostic) in new]

    def _repository(self, root: str) -> _Repository:
        if root not in self._repositories:
            top = os.path.realpath(_git(["rev-parse", "--show-toplevel"], root).rstrip("\n"))
            known = (repository for repository in self._repositories.values() if repository.top == top)
            self._repositories[root] = next(known, None) or _Repository(top, self.revision)
        return self._repositories[root]

    def _new(self, untouched: Sequence[Diagnostic], groups: Sequence[Group], result: Result) -> set[int]:
        """The findings in unchanged files that did not exist at the revision, by identity."""
        places = {path for finding in untouched for path in (finding.path, *(place.path for place in finding.related))}
        wanted = set(map(result.absolute, places))
        with tempfile.TemporaryDirectory(prefix="mcpcore-") as temporary:
            # Each file is restored below this folder under its whole path.
            folder = os.path.realpath(temporary)
            for repository in set(self._repositories.values()):
                repository.restore(folder)

            def restored(paths: Iterable[str]) -> tuple[str, ...]:
                return tuple(filter(os.path.isfile, (folder + _whole(path) for path in paths if path in wanted)))

            old = []
            for group in groups:
                config = group.config._replace(root=folder + _whole(group.config.root))
                code = restored(group.walk.files)
                walk = Walk(config.settings, config.root).run(code)
                old.append(Group(config, code, walk, restored(group.documents)))
            then = lint_groups(old, cache=False)
            before = Counter(_marks(then, lambda path: then.absolute(path).removeprefix(folder)))
            known = {path for path in places if os.path.isfile(folder + _whole(result.absolute(path)))}
        new: set[int] = set()
        marks = _marks(result, lambda path: _whole(result.absolute(path)))
        for diagnostic, mark in zip(result.diagnostics, marks, strict=True):
            before[mark] -= 1
            if before[mark] < 0 and diagnostic.path in known:
                new.add(id(diagnostic))
        return new


def _whole(path: str) -> str:
    """The real path of a file without the drive."""
    return os.path.splitdrive(os.path.realpath(path))[1]


def _marks(result: Result, place: Callable[[str], str]) -> list[str]:
    """Identifies each finding. The message counts, since a service that fails differently causes another finding."""
    marks = content_marks(result.diagnostics, result.source, place)
    return [f"{mark}\0{diagnostic.message}" for diagnostic, mark in zip(result.diagnostics, marks, strict=True)]


class _Repository:
    """A repository, compared with a revision."""

    def __init__(self, top: str, revision: str) -> None:
        self.top = top
        commit = _git(["rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}"], top, check=False).strip()
        if not commit:
            raise CannotRunError(
                f"--changed-since {revision}: unknown revision; name a branch, a tag or a commit of this repository"
                " (a shallow clone has no others: fetch it first)"
            )
        # Only the branch's own changes count, so it is compared with the commit where it left the revision.
        self.base = _git(["merge-base", commit, "HEAD"], top, check=False).strip() or commit
        diff = ["-c", "core.quotePath=false", "diff", "--no-ext-diff", "--no-renames", "--name-only", "-z"]
        names = _git([*diff, "--diff-filter=d", self.base, "--"], top)
        names += _git(["ls-files", "--others", "--exclude-standard", "-z"], top)
        self.changed = frozenset(os.path.realpath(os.path.join(top, name)) for name in names.split("\0") if name)
        self.deleted = bool(_git([*diff, "--diff-filter=D", self.base, "--"], top))

    def restore(self, folder: str) -> None:
        """Write the files of the revision that the linter checks below a folder, without running git's filters."""
        folder += _whole(self.top)
        wanted: list[tuple[str, str]] = []
        for line in _git(["ls-tree", "-r", "-z", "--full-tree", self.base], self.top).split("\0"):
            head, _, name = line.partition("\t")
            if name.endswith(_CHECKED) and not head.startswith("120000"):  # a symbolic link
                wanted.append((head.split(" ")[2], name))
        raw = _run(["cat-file", "--batch"], self.top, "".join(f"{sha}\n" for sha, _ in wanted).encode())
        place = 0
        for _, name in wanted:
            start = raw.index(b"\n", place) + 1
            end = start + int(raw[place:start].split(b" ")[2])
            path = os.path.normpath(os.path.join(folder, name))
            if is_below(path, folder):
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "wb") as file:
                    file.write(raw[start:end])
            place = end + 1


def _git(arguments: list[str], folder: str, *, check: bool = True) -> str:
    return _run(arguments, folder, check=check).decode("utf-8", "surrogateescape")


def _run(arguments: list[str], folder: str, content: bytes = b"", *, check: bool = True) -> bytes:
    environment = {name: value for name, value in os.environ.items() if name not in _OF_A_HOOK}
    try:
        done: subprocess.CompletedProcess[bytes] = subprocess.run(  # noqa: S603 - a fixed program with a list of arguments
            ["git", "-C", folder, *arguments],  # noqa: S607 - git is found on the user's own path
            capture_output=True,
            check=False,
            input=content,
            env={**environment, "LC_ALL": "C"},
        )
    except OSError as error:
        raise CannotRunError(f"--changed-since needs git, which cannot be run: {error.strerror}") from error
    if not done.returncode:
        return done.stdout
    if not check:
        return b""
    # The lines after the first one say what to do, such as trusting the repository of another user.
    why, *steps = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no reason given"]
    steps = [step.strip() for step in steps if step.strip()]
    raise CannotRunError(f"--changed-since: {folder}: git says: {why.removeprefix('fatal: ')}", *steps)
