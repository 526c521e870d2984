"""The settings of a run. `config` reads them from files, and `command` applies the options."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from mcpcore_lint.diagnostics import Severity

NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
"""An empty table that cannot be changed."""


class PerFile(NamedTuple):
    """Settings for the files that match a glob.

    Globs are relative to the project and separate folders by `/`. A star also matches slashes. A glob without a slash
    matches files and folders of that name anywhere. A glob that matches a folder means all files below it. A glob after
    `!` means all other files.
    """

    pattern: str
    select: frozenset[str] | None = None
    ignore: frozenset[str] = frozenset()
    severities: Mapping[str, Severity] = NOTHING

    def matches(self, path: str) -> bool:
        """Whether the settings apply to a file."""
        return _applies(self.pattern.removeprefix("!").removeprefix("./"), path) is not self.pattern.startswith("!")


def _applies(glob: str, path: str) -> bool:
    from fnmatch import fnmatch  # most runs have no such settings

    # `**/` also matches no folder at all.
    if any(fnmatch(path, pattern) for pattern in (glob, glob.removeprefix("**/"), glob.replace("/**/", "/"))):
        return True
    folder = glob.removesuffix("/")
    if "/" in folder:
        return fnmatch(path, f"{folder.removeprefix('/')}/*")
    *folders, name = path.split("/")
    return any(fnmatch(part, folder) for part in (folders if glob.endswith("/") else (*folders, name)))


class Settings(NamedTuple):
    """The settings of a run.

    Attributes:
        select: Rule ids, families or prefixes (`error-contract`); None means every rule that is on by default.
        extend_select: More rules, in addition to `select`.
        ignore: Rules that are removed from both.
        severities: Rule id to the severity that replaces the default.
        per_file: Applied in order to the files whose path matches.
        exclude: Globs of files and folders to skip, in addition to `.gitignore`.
        respect_gitignore: Whether to skip what `.gitignore` files and `.git/info/exclude` ignore.
        include_tests: Whether to check files of tests too, which are otherwise read only where something imports them.
        source_roots: Folders, relative to the project, that imports start from; detected if empty.
        raises: The exceptions of third-party functions, all by qualified name.
        exceptions: Base classes of third-party exceptions, by qualified name.
        handlers: Functions that are tools although no registration is visible: `module:function`, with stars.
        tools: Names of tools that exist outside of the project.
        min_recovery_words: The least number of words in a recovery hint.
        syntax_limit: In trees with at most this many files, even files that have nothing to do with MCP are checked for
            syntax errors.
        options: Rule id to the options of the rule.
        cache_dir: The folder of the cache; None means the user's cache folder.
        jobs: The number of processes; 0 means one for each core.
    """

    select: frozenset[str] | None = None
    extend_select: frozenset[str] = frozenset()
    ignore: frozenset[str] = frozenset()
    severities: Mapping[str, Severity] = NOTHING
    per_file: tuple[PerFile, ...] = ()
    exclude: tuple[str, ...] = ()
    respect_gitignore: bool = True
    include_tests: bool = False
    source_roots: tuple[str, ...] = ()
    raises: Mapping[str, tuple[str, ...]] = NOTHING
    exceptions: Mapping[str, tuple[str, ...]] = NOTHING
    handlers: tuple[str, ...] = ()
    tools: frozenset[str] = frozenset()
    min_recovery_words: int = 5
    syntax_limit: int = 500
    options: Mapping[str, Mapping[str, Any]] = NOTHING
    cache_dir: str | None = None
    jobs: int = 0


def fingerprint(settings: Settings) -> str:
    """The same text for settings that give the same findings, in whatever order sets and mappings are."""

    def plain(value: Any) -> Any:
        if isinstance(value, (set, frozenset)):
            return sorted(value)
        if isinstance(value, (list, tuple)):
            return [plain(item) for item in value]
        return (
            sorted((str(key), repr(plain(item))) for key, item in value.items()) if hasattr(value, "items") else value
        )

    # These decide which files are checked, and how, but not which findings a file has.
    skipped = {"cache_dir", "jobs", "exclude", "respect_gitignore", "include_tests"}
    names = [name for name in Settings._fields if name not in skipped]
    return repr([(name, plain(getattr(settings, name))) for name in names])
