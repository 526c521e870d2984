"""Which files a command checks, and under which configuration."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from mcpcore_lint import config
from mcpcore_lint.config import Config
from mcpcore_lint.migrate.requirements import FILES
from mcpcore_lint.paths import is_below, is_repository, upwards
from mcpcore_lint.runner.discover import Found, Walk
from mcpcore_lint.settings import Settings

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
    root = group.config.root
    starts = {os.path.abspath(path) for path in group.paths if os.path.isdir(path)} | {root}
    starts.update(map(os.path.dirname, sources))
    starts.update(filter(os.path.isdir, [os.path.join(root, ".github", "workflows")]))
    folders = {folder for start in starts for folder in (start, *upwards(start)) if folder.startswith(root)}
    paths = (os.path.join(folder, name) for folder in sorted(folders) for name in sorted(os.listdir(folder)))
    return [path for path in paths if FILES.fullmatch(os.path.basename(path)) and os.path.isfile(path)]
