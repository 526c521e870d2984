"""`--changed-since`: findings in files that changed since a git revision, and new findings in other files.

A changed service can break the contract of a tool in a file that nobody touched. So findings in unchanged files are
compared with those at the revision, whose files are read from git's own store. The working tree is not touched.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections import Counter
from typing import TYPE_CHECKING, Final

from mcpcore_lint.output import CannotRunError
from mcpcore_lint.paths import is_below, is_repository, upwards
from mcpcore_lint.report.fingerprints import content_marks
from mcpcore_lint.runner.discover import Walk
from mcpcore_lint.runner.groups import Group, is_document
from mcpcore_lint.runner.results import Result
from mcpcore_lint.runner.runner import lint_groups

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpcore_lint.diagnostics import Diagnostic

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
        if ".." in self.revision:
            first = self.revision.partition("..")[0] or "main"
            raise CannotRunError(
                f"--changed-since {revision}: this is a range; give only its start, such as {first}. "
                "Changes there since this branch was made do not count anyway"
            )
        self._repositories: dict[str, _Repository] = {}
        self._tops: dict[str, str] = {}

    def concerned(self, groups: Sequence[Group], result: Result) -> list[Diagnostic]:
        """The findings that the change concerns.

        Raises:
            CannotRunError: If git is not installed, or does not know the repository or the revision.
        """
        repositories = [self._repository(group.config.root) for group in groups]
        changed = frozenset[str]().union(*(repository.changed for repository in repositories))
        tops = {repository.top for repository in repositories}
        # Resolving links is slow, and many findings are in the same file.
        real = {path: os.path.realpath(result.absolute(path)) for path in {each.path for each in result.diagnostics}}
        nested = {path: _nested_repository(os.path.dirname(path), tops) for path in real.values()}
        touched = {path for path, inner in nested.items() if path in changed or inner in changed}
        # A nested repository changes as a whole, and its files have no history in the outer one.
        elsewhere = [
            each for each in result.diagnostics if real[each.path] not in touched and nested[real[each.path]] is None
        ]
        new: set[int] = set()
        if elsewhere and (changed or any(repository.deleted for repository in repositories)):
            new = self._new(elsewhere, groups, result)
        return [each for each in result.diagnostics if real[each.path] in touched or id(each) in new]

    def _repository(self, root: str) -> _Repository:
        if root not in self._tops:
            self._tops[root] = os.path.realpath(_git(["rev-parse", "--show-toplevel"], root).rstrip("\n"))
        top = self._tops[root]
        if top not in self._repositories:
            self._repositories[top] = _Repository(top, self.revision)
        return self._repositories[top]

    def _new(self, elsewhere: Sequence[Diagnostic], groups: Sequence[Group], result: Result) -> set[int]:
        """The findings in unchanged files that did not exist at the revision, by identity."""
        paths = sorted({result.absolute(each.path) for each in elsewhere})
        before: Counter[str] = Counter()
        with tempfile.TemporaryDirectory(prefix="mcpcore-") as folder:
            for number, group in enumerate(groups):
                repository = self._repository(group.config.root)
                old = os.path.join(folder, str(list(self._repositories).index(repository.top)))
                if not os.path.isdir(old):
                    repository.restore(old)
                inside = os.path.relpath(os.path.realpath(group.config.root), repository.top)
                root = os.path.normpath(os.path.join(old, inside))
                names = [os.path.relpath(path, group.config.root) for path in paths if _owner(path, groups) == number]
                restored = tuple(path for name in names if os.path.isfile(path := os.path.join(root, name)))
                if restored:
                    before.update(_marks(_at_revision(group, root, restored, result.base)))
        new: set[int] = set()
        marks = {id(each): mark for each, mark in zip(result.diagnostics, _marks(result), strict=True)}
        for diagnostic in elsewhere:
            mark = marks[id(diagnostic)]
            if before[mark]:
                before[mark] -= 1
            else:
                new.add(id(diagnostic))
        return new


def _at_revision(group: Group, root: str, paths: Sequence[str], base: str) -> Result:
    """The findings in a group's files at the revision, which were restored below `root`, with their present paths."""
    settings = group.config.settings._replace(cache_dir=None)
    walk = Walk(settings, root).run([path for path in paths if not is_document(path)])
    documents = tuple(path for path in paths if is_document(path))
    config = group.config._replace(root=root, settings=settings, unknown=())
    then = lint_groups([Group(config, tuple(paths), walk, documents)], cache=False)
    result = Result(base)
    for diagnostic in then.diagnostics:
        name = os.path.relpath(then.absolute(diagnostic.path), root)
        path = os.path.relpath(os.path.join(group.config.root, name), base).replace(os.sep, "/")
        result.texts.setdefault(path, then.source(diagnostic.path))
        result.diagnostics.append(diagnostic._replace(path=path))
    return result


def _nested_repository(folder: str, tops: set[str]) -> str | None:
    """The repository inside another one, such as a submodule, that contains a folder."""
    nearest = next((place for place in upwards(folder) if place in tops or is_repository(place)), None)
    return None if nearest in tops else nearest


def _marks(result: Result) -> list[str]:
    """Identifies each finding. The message counts, since a service that fails differently causes another finding."""
    marks = content_marks(result.diagnostics, result.source)
    return [f"{mark}\0{each.message}" for each, mark in zip(result.diagnostics, marks, strict=True)]


def _owner(path: str, groups: Sequence[Group]) -> int:
    """The number of the innermost group that contains a file."""
    inside = [
        (len(group.config.root), number) for number, group in enumerate(groups) if is_below(path, group.config.root)
    ]
    return max(inside)[1] if inside else 0


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
        wanted: list[tuple[str, str]] = []
        for line in _git(["ls-tree", "-r", "-z", "--full-tree", self.base], self.top).split("\0"):
            head, _, name = line.partition("\t")
            if name.endswith(_CHECKED) and not head.startswith("120000"):  # a symbolic link
                wanted.append((head.split(" ")[2], name))
        os.makedirs(folder)
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
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    why = next((line for line in lines if line.startswith("fatal:")), lines[-1] if lines else "no reason given")
    # git mistrusts repositories of another user, as in many containers.
    dubious = "dubious ownership" in why
    hint = f"; if it is yours, run: git config --global --add safe.directory {folder}" if dubious else ""
    raise CannotRunError(f"--changed-since: {folder}: git says: {why.removeprefix('fatal: ')}{hint}")
