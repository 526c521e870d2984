"""What a run is asked to do, as one frozen value; where it comes from (files, options) is the front's matter."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from mcpcore_lint.diagnostics import Severity

if TYPE_CHECKING:
    from collections.abc import Mapping

RaisesTable: TypeAlias = "Mapping[str, tuple[str, ...]]"
"""Qualified name of a function or method, to the qualified names of the exceptions that it raises."""
NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
"""A table without entries, which stays so."""


class PerFile(NamedTuple):
    """What differs for the files that a glob matches (relative to the project, `/` as the separator).

    A star stands for folders too. A glob without a slash is the name of a file or of a folder, wherever it is; one that
    names a folder means all below it; one behind `!` means all other files.
    """

    pattern: str
    select: frozenset[str] | None = None
    ignore: frozenset[str] = frozenset()
    severities: Mapping[str, Severity] = NOTHING

    def matches(self, path: str) -> bool:
        """Whether a file is one of those meant."""
        glob = self.pattern.removeprefix("!")
        return self._meant(glob.removeprefix("./"), path) is not self.pattern.startswith("!")

    @staticmethod
    def _meant(glob: str, path: str) -> bool:
        from fnmatch import fnmatch  # most runs have no such settings

        # `**/` may also stand for no folder at all.
        if any(fnmatch(path, each) for each in (glob, glob.removeprefix("**/"), glob.replace("/**/", "/"))):
            return True
        folder = glob.removesuffix("/")
        if "/" not in folder:
            *folders, name = path.split("/")
            return (folder == glob and fnmatch(name, folder)) or any(fnmatch(each, folder) for each in folders)
        return fnmatch(path, f"{folder.removeprefix('/')}/*")


class Settings(NamedTuple):
    """The settings of a run.

    Attributes:
        select: Rule ids, family names or prefixes (`error-contract`); None is every rule that is on by default.
        extend_select: Added to `select`.
        ignore: Taken away from both.
        severities: Rule id to the severity that replaces its own.
        per_file: Applied in order to the files whose path matches.
        exclude: Globs of files and folders that are not read at all, beside `.gitignore`.
        respect_gitignore: Whether `.gitignore`, `.git/info/exclude` and nested ones decide what is read.
        source_roots: Folders, relative to the project, that imports start from; found by themselves where empty.
        raises: What further third-party functions raise, in addition to the tables that come with the linter.
        exceptions: Base classes of further third-party exceptions: qualified name to its bases.
        handlers: Functions that are tools although no registration shows it: `module:function`, with stars.
        tools: Names of tools that exist although no file of the project defines them.
        min_recovery_words: A recovery hint with fewer words is not one.
        syntax_limit: Files that have nothing to do with MCP are checked for syntax alone, in trees with at most
            this many of them.
        options: Rule id to options of its own.
        cache_dir: Where the cache lies; None is the user's cache folder.
        jobs: Processes; 0 is one for each core.
    """

    select: frozenset[str] | None = None
    extend_select: frozenset[str] = frozenset()
    ignore: frozenset[str] = frozenset()
    severities: Mapping[str, Severity] = NOTHING
    per_file: tuple[PerFile, ...] = ()
    exclude: tuple[str, ...] = ()
    respect_gitignore: bool = True
    source_roots: tuple[str, ...] = ()
    raises: RaisesTable = NOTHING
    exceptions: RaisesTable = NOTHING
    handlers: tuple[str, ...] = ()
    tools: frozenset[str] = frozenset()
    min_recovery_words: int = 5
    syntax_limit: int = 500
    options: Mapping[str, Mapping[str, Any]] = NOTHING
    cache_dir: str | None = None
    jobs: int = 0


def fingerprint(settings: Settings) -> str:
    """The same text for the same settings, whatever order sets and mappings have. Speed and places do not count."""

    def plain(value: Any) -> Any:
        if isinstance(value, Severity):
            return value.label
        if isinstance(value, (set, frozenset)):
            return sorted(plain(each) for each in value)
        if isinstance(value, (list, tuple)):
            return [plain(each) for each in value]
        if hasattr(value, "items"):
            return sorted((str(key), repr(plain(each))) for key, each in value.items())
        return value

    skipped = {"cache_dir", "jobs", "exclude", "respect_gitignore"}
    names = [name for name in Settings._fields if name not in skipped]
    return repr([(name, plain(getattr(settings, name))) for name in names])
