"""Which files a command checks, and under which configuration."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from stat import S_ISREG
from typing import Final, NamedTuple

from mcpcore_lint import config
from mcpcore_lint.config import Config
from mcpcore_lint.diagnostics import Failure
from mcpcore_lint.paths import below, is_below, is_repository, upwards
from mcpcore_lint.records import in_test_file
from mcpcore_lint.runner.files import content_of
from mcpcore_lint.settings import Settings

_LISTING: Final = (
    (".github", "workflows"),
    (".azuredevops",),
    (".azure-pipelines",),
    (".circleci",),
    ("requirements",),
)
"""Folders below that of a project with files that say what is installed."""
_LARGE: Final = 1 << 20
"""The size of files that hold no command."""
DOCUMENTS: Final = (".md", ".markdown")
"""The suffixes of Markdown files, whose Python blocks are checked."""


def is_document(path: str) -> bool:
    """Whether a path is that of a Markdown file."""
    return path.lower().endswith(DOCUMENTS)


class Group(NamedTuple):
    """Paths that share a configuration."""

    config: Config
    paths: tuple[str, ...]
    walk: Walk
    """The Python files of the paths."""
    documents: tuple[str, ...] = ()
    """Absolute paths of Markdown files."""

    def inputs(self) -> Iterator[str]:
        """The files, and the files and folders that decided which files these are."""
        if self.config.path is not None:
            yield os.path.abspath(self.config.path)
        yield from self.walk.inputs
        yield from (os.path.join(folder, config.FILE) for folder in self.walk.configured)

    def holding(self, path: str) -> Group:
        """A group with the same configuration and one file, which need not exist on disk."""
        absolute = os.path.abspath(path)
        if is_document(path):
            return self._replace(paths=(), documents=(absolute,))
        self.walk.hold(absolute)
        return self._replace(paths=(path,))


def find_groups(
    paths: Sequence[str], change: Callable[[Settings], Settings], *, config_path: str | None = None, read: bool = True
) -> list[Group]:
    """Group paths by their nearest configuration.

    Args:
        paths: Files and folders.
        change: Applies the options of the command to the settings.
        config_path: A configuration that is used instead of all others.
        read: Whether to look into folders, for files and for nested configurations.

    Raises:
        ConfigError: If a configuration cannot be used.
    """
    finder = config.Finder()
    waiting: dict[str, tuple[Config, list[str]]] = {}
    for path in paths:
        nearest = finder.find(path) if config_path is None else config.load(config_path, paths[0])
        waiting.setdefault(nearest.root, (nearest, []))[1].append(path)
    groups: list[Group] = []
    while waiting:
        # The outermost project comes first, since its folders may turn out to have their own configuration.
        root = min(waiting, key=len)
        group, members = waiting.pop(root)
        group = group._replace(settings=change(group.settings))
        walk = Walk(group.settings, root)
        if not read:
            groups.append(Group(group, tuple(members), walk))
            continue
        code = [path for path in members if os.path.isdir(path) or not is_document(path)]
        walk.run(code)
        if config_path is None:
            for folder, inner in _nested(walk, root, finder, members):
                waiting.setdefault(inner.root, (inner, []))[1].append(folder)
        groups.append(Group(group, tuple(code), walk, tuple(dict.fromkeys(documents_of(group, members)))))
    _name_once(groups)
    return groups


def _name_once(groups: Sequence[Group]) -> None:
    """Remove the files that were found by another name too: of a link and its target, the target stays."""
    names: dict[Found, list[tuple[Walk, str]]] = {}
    for group in groups:
        for path, file in group.walk.files.items():
            names.setdefault(file, []).append((group.walk, path))
    # Only files with equal states can be the same one, so that few real paths need to be read.
    for same in names.values():
        if len(same) == 1:
            continue
        real = {path: os.path.realpath(path) for _, path in same}
        kept: dict[str, str] = {}
        for walk, path in sorted(same, key=lambda item: (real[item[1]] != item[1], item[1])):
            if kept.setdefault(real[path], path) != path:
                del walk.files[path]


def _nested(walk: Walk, root: str, finder: config.Finder, paths: Sequence[str]) -> Iterator[tuple[str, Config]]:
    """The folders below that have their own configuration. Their files are removed from the walk."""
    named = {os.path.abspath(path) for path in paths}
    removed: list[str] = []
    for folder in sorted(walk.configured, key=len):
        if folder == root or folder.startswith(tuple(removed)):
            continue
        own_config = finder.own(folder)
        if own_config is None or own_config.root == root:
            continue
        prefix = folder + os.sep
        removed.append(prefix)
        walk.files = {path: file for path, file in walk.files.items() if not path.startswith(prefix) or path in named}
        yield folder, own_config


def documents_of(settings: Config, paths: Sequence[str]) -> Iterator[str]:
    """The Markdown files among the paths, and those below them that the configuration lists."""
    for path in paths:
        absolute = os.path.abspath(path)
        if os.path.isdir(path):
            for pattern in settings.markdown:
                yield from (match for match in _matching(settings.root, pattern) if is_below(match, absolute))
        elif is_document(path):
            yield absolute


def _matching(root: str, pattern: str) -> list[str]:
    """The documents that a pattern matches, and those in folders that it matches."""
    import glob

    inside = os.path.join(pattern, "**", "*.md")
    matches = (*glob.glob(pattern, root_dir=root, recursive=True), *glob.glob(inside, root_dir=root, recursive=True))
    return sorted({os.path.normpath(os.path.join(root, match)) for match in matches if is_document(match)})


def base_of(groups: Sequence[Group]) -> str:
    """The folder that the paths of a report are relative to: the repository, or else the outermost project."""
    roots = [group.config.root for group in groups]
    try:
        top = os.path.commonpath(roots)
    except ValueError:  # several drives
        return roots[0]
    return next(filter(is_repository, upwards(top)), top)


def listing(group: Group, sources: Iterable[str]) -> list[str]:
    """The files that say what is installed, in the folders above some files of a project."""
    from mcpcore_lint.migrate.requirements import FILES

    root = group.config.root
    starts = {os.path.abspath(path) for path in group.paths if os.path.isdir(path)} | {root}
    starts.update(map(os.path.dirname, sources))
    starts.update(filter(os.path.isdir, [os.path.join(root, *folder) for folder in _LISTING]))
    folders = {folder for start in starts for folder in (start, *upwards(start)) if folder.startswith(root)}
    paths = (os.path.join(folder, name) for folder in sorted(folders) for name in sorted(os.listdir(folder)))
    return [path for path in paths if FILES.search(path.replace(os.sep, "/")) and os.path.isfile(path)]


def others(group: Group, name: re.Pattern[str]) -> Iterator[str]:
    """The files below the folder of a project that have some name, without those that a walk would not find."""
    for folder, folders, names in os.walk(group.config.root):
        folders[:] = sorted(inner for inner in folders if not _is_skipped(os.path.join(folder, inner)))
        paths = (os.path.join(folder, file) for file in sorted(names) if name.search(file))
        # A link leads to a file that has its own path, or to one outside.
        yield from (path for path in paths if group.walk.finds(path) and S_ISREG(os.lstat(path).st_mode))


def beside(root: str, lists: Collection[str]) -> list[bytes]:
    """What the other files of a folder hold that are neither code nor large, each with its name in the first line."""
    entries = [entry for entry in os.scandir(root) if entry.is_file() and entry.path not in lists]
    entries = [entry for entry in entries if entry.stat().st_size < _LARGE and not entry.name.endswith(".py")]
    return [os.fsencode(entry.name) + b"\n" + (content_of(entry.path) or b"") for entry in entries]


# -- the Python files below some folders, without those that are excluded ----------------------------------------------

SKIPPED: Final = frozenset(
    {"__pycache__", "node_modules", "site-packages", "venv", "_build", "build", "dist", "buck-out", "__pypackages__"}
)
"""Folders without code that people wrote, unless they are packages. Names that start with a dot are skipped too."""

_EXCLUDE: Final = os.path.join(".git", "info", "exclude")
_MOST_STARS: Final = 8
"""Patterns with more stars are ignored: matching them by a regular expression could take forever."""


class Found(NamedTuple):
    """The state of a file, which tells whether it has changed."""

    mtime_ns: int
    size: int
    inode: int

    @classmethod
    def of(cls, stat: os.stat_result) -> Found:
        """The state in a result of `os.stat`."""
        return cls(stat.st_mtime_ns, stat.st_size, stat.st_ino)


def state_of(path: str) -> Found | None:
    """The state of a file or a folder; None if it does not exist."""
    try:
        return Found.of(os.stat(path))
    except OSError:
        return None


def regular(path: str) -> os.stat_result:
    """The state of a file.

    Raises:
        OSError: If it does not exist, or is a pipe or a device: reading one may never end.
    """
    stat = os.stat(path)
    if not S_ISREG(stat.st_mode):
        raise OSError(None, "not a regular file; `-` reads standard input")
    return stat


# -- ignore files ------------------------------------------------------------------------------------------------------


class _Pattern(NamedTuple):
    """One line of an ignore file."""

    expression: str
    """Matches a whole path or a whole name, which end in a slash if they are a folder's."""
    whole: bool
    """Whether it matches the path, not the name."""
    excludes: bool


def _pattern(line: str) -> _Pattern | None:
    """The pattern of a line; None for comments, blank lines and lines that match nothing."""
    if not line.strip() or line.startswith("#") or line.count("*") > _MOST_STARS:
        return None
    from pathspec.patterns.gitignore.base import GitIgnorePatternError
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    try:
        expression, include = GitIgnoreSpecPattern.pattern_to_regex(line)
        if expression is None:
            return None
        if "[" in line:
            _compile([expression])
    except (GitIgnorePatternError, re.error):  # such as `[b-a]`
        return None
    # pathspec also matches what is below a folder. The walk never gets there, and `!a/` must not bring back `a/b`.
    if not expression.startswith("^"):
        expression = f".*{expression}"
    elif "(?P<ps_d>" not in expression:
        expression += ".+"
    expression = expression.replace("(?P<ps_d>", "(?:")
    name = expression.removeprefix("^(?:.+/)?")
    whole = name == expression or "/" in name.replace("[^/]", "").removesuffix("(?:(?:/)|$)").removesuffix("(?:/)")
    return _Pattern(expression if whole else name, whole, bool(include))


def _compile(expressions: Iterable[str]) -> re.Pattern[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # `[[` makes `re` warn about future syntax
        return re.compile("|".join(expressions) or "(?!)", re.DOTALL)


class _Patterns:
    """The patterns of one ignore file."""

    def __init__(self, lines: Iterable[str]) -> None:
        self.lines = [pattern for line in lines if (pattern := _pattern(line)) is not None]
        # Most paths match no pattern, which two large expressions find out faster than many small ones.
        self._names = _compile(pattern.expression for pattern in self.lines if not pattern.whole)
        self._paths = _compile(pattern.expression for pattern in self.lines if pattern.whole)

    def verdict(self, path: str, *, folder: bool) -> bool | None:
        """Whether the last pattern that matches a path excludes it; None if no pattern matches."""
        full = f"{path}/" if folder else path
        name = full[path.rfind("/") + 1 :]
        if self._names.fullmatch(name) or self._paths.fullmatch(full):
            for pattern in reversed(self.lines):
                if _compile([pattern.expression]).fullmatch(full if pattern.whole else name):
                    return pattern.excludes
        return None


_patterns = lru_cache(maxsize=256)(_Patterns)
"""The patterns of some lines. Many folders of a large repository have the same ignore file."""


class _Level(NamedTuple):
    """The patterns that hold below a folder."""

    base: str
    patterns: _Patterns


def _ignored(path: str, levels: Sequence[_Level], *, folder: bool) -> bool:
    """Whether patterns exclude a path. The last match in the nearest ignore file decides."""
    verdicts = (level.patterns.verdict(below(path, level.base), folder=folder) for level in reversed(levels))
    return next((verdict for verdict in verdicts if verdict is not None), False)


def _read_level(base: str, file: str, inputs: list[str]) -> list[_Level]:
    """The patterns that an ignore file has for a folder, if any."""
    inputs.append(os.path.join(base, file))
    text = (content_of(inputs[-1]) or b"").decode("utf-8-sig", "surrogateescape")
    patterns = _patterns(tuple(line.removesuffix("\r") for line in text.split("\n")))
    return [_Level(base, patterns)] if patterns.lines else []


def _levels_above(folder: str, inputs: list[str]) -> list[_Level]:
    """The ignore files of the repository that apply to a folder from above."""
    top = next(filter(is_repository, upwards(folder)), None)
    if top is None:
        return []
    levels = _read_level(top, _EXCLUDE, inputs)
    for place in reversed([place for place in upwards(folder) if place != folder and len(place) >= len(top)]):
        levels += _read_level(place, ".gitignore", inputs)
    return levels


# -- folders -----------------------------------------------------------------------------------------------------------


class Walk:
    """Finds files. Paths that cannot be read are in `failures`."""

    def __init__(self, settings: Settings, root: str) -> None:
        self.settings = settings
        self.root = root
        exclude = _patterns(settings.exclude)
        self._exclude = [_Level(root, exclude)] if exclude.lines else []
        self.files: dict[str, Found] = {}
        self.failures: list[Failure] = []
        self.configured: list[str] = []
        """Folders with a `pyproject.toml`, which may configure the files below them."""
        self.inputs: list[str] = []
        """Absolute paths of the folders and ignore files that decided which files are found."""

    def run(self, paths: Sequence[str | os.PathLike[str]]) -> Walk:
        """Find the files of some paths. A file that is named directly is read even if it is excluded."""
        for named in paths:
            path = os.path.abspath(os.fspath(named))
            if os.path.isdir(path):
                self._folder(path, _levels_above(path, self.inputs) if self.settings.respect_gitignore else [])
                continue
            try:
                self.files[path] = Found.of(regular(path))
            except OSError as error:
                self._fail(path, error)
        return self

    def hold(self, path: str) -> str:
        """Add a file that need not exist on disk; its absolute path."""
        path = os.path.normpath(os.path.join(self.root, path))
        self.files[path] = Found(0, 0, 0)
        return path

    def _fail(self, path: str, error: OSError) -> None:
        self.failures.append(Failure(below(path, self.root), f"cannot be read: {error.strerror or error}"))

    def _folder(self, top: str, levels: list[_Level]) -> None:
        stack: list[tuple[str, list[_Level]]] = [(top, levels)]
        while stack:
            folder, levels = stack.pop()
            self.inputs.append(folder)
            try:
                with os.scandir(folder) as scan:
                    entries = sorted(scan, key=lambda entry: entry.name)
            except OSError as error:
                self._fail(folder, error)
                continue
            names = {entry.name for entry in entries}
            if folder != top and "pyvenv.cfg" in names:  # a virtual environment; the named folder is read anyway
                continue
            if "pyproject.toml" in names:
                self.configured.append(folder)
            levels = self._levels(folder, levels, names.__contains__, top)
            stack.extend((path, levels) for path in reversed(list(self._entries(entries, levels))))

    def _levels(self, folder: str, levels: list[_Level], has: Callable[[str], bool], top: str) -> list[_Level]:
        """The patterns that hold in a folder, from those of the folder above."""
        if self.settings.respect_gitignore and folder != top and has(".git"):
            levels = _read_level(folder, _EXCLUDE, self.inputs)  # a nested repository uses only its own patterns
        if self.settings.respect_gitignore and has(".gitignore"):
            levels = [*levels, *_read_level(folder, ".gitignore", self.inputs)]
        return levels

    def finds(self, path: str) -> bool:
        """Whether a walk of the root would find a file, which need not exist yet, whatever its suffix."""
        if not is_below(path, self.root):
            return True
        levels = _levels_above(self.root, self.inputs) if self.settings.respect_gitignore else []
        folder = self.root
        *folders, name = os.path.relpath(path, self.root).split(os.sep)
        for inner in [*folders, name]:

            def has(wanted: str, folder: str = folder) -> bool:
                return os.path.lexists(os.path.join(folder, wanted))

            levels = self._levels(folder, levels, has, self.root)
            below_it = os.path.join(folder, inner)
            is_folder = below_it != path
            if (
                (folder != self.root and has("pyvenv.cfg"))
                or (is_folder and _is_skipped(below_it))
                or self._excludes(below_it, levels, folder=is_folder)
            ):
                return False
            folder = below_it
        return True

    def _excludes(self, path: str, levels: Sequence[_Level], *, folder: bool) -> bool:
        """Whether an ignore file or the settings exclude a path."""
        name = os.path.basename(path)
        # No model uses a server that a test creates. This is no pattern, since most runs need not load pathspec.
        is_test = not self.settings.include_tests and in_test_file(f"{name}/_.py" if folder else name)
        is_test = is_test and (folder or in_test_file(name, (content_of(path) or b"").decode(errors="replace")))
        if is_test or (levels and _ignored(path, levels, folder=folder)):
            return True
        return bool(self._exclude) and is_below(path, self.root) and _ignored(path, self._exclude, folder=folder)

    def _entries(self, entries: Sequence[os.DirEntry[str]], levels: Sequence[_Level]) -> Iterator[str]:
        """Collect the files of a folder; the folders to look into."""
        for entry in entries:
            name = entry.name
            try:
                # Links to folders are not followed: their target is found at its real path, or lies outside.
                folder = entry.is_dir(follow_symlinks=False)
                if _is_skipped(entry.path) if folder else ("{{" in name or not name.endswith(".py")):
                    continue
                if self._excludes(entry.path, levels, folder=folder):
                    continue
                if folder:
                    yield entry.path
                elif entry.is_file():
                    self.files[entry.path] = Found.of(entry.stat())
            except OSError as error:
                self._fail(entry.path, error)


def _is_skipped(path: str) -> bool:
    """Whether a folder has no code that people wrote, or is a template (`{{`), whose code is not Python yet."""
    folder = os.path.basename(path)
    built = folder in SKIPPED and not os.path.exists(os.path.join(path, "__init__.py"))
    return built or folder[0] == "." or "{{" in folder
