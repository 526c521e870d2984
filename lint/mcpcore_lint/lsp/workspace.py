"""The open documents and the projects that they belong to: what is checked, and under which settings."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from pygls.uris import from_fs_path

from mcpcore_lint import config
from mcpcore_lint.config import Config
from mcpcore_lint.diagnostics import Diagnostic
from mcpcore_lint.engine.syntax.source import Source, SourceError
from mcpcore_lint.lsp.positions import Document
from mcpcore_lint.paths import is_below, upwards
from mcpcore_lint.runner.check import FilesRun
from mcpcore_lint.runner.checker import Checker
from mcpcore_lint.runner.discover import Walk
from mcpcore_lint.runner.files import content_of
from mcpcore_lint.runner.groups import Group, documents_of, is_document
from mcpcore_lint.runner.runner import lint_groups
from mcpcore_lint.settings import Settings


class Analysis(NamedTuple):
    """The findings in a document."""

    document: Document
    diagnostics: Sequence[Diagnostic] = ()
    root: str = ""
    """The folder that the paths of related places are relative to."""
    problems: tuple[str, ...] = ()
    """The reasons why the check is incomplete, such as a rule that crashed."""
    depends: frozenset[str] = frozenset()
    """Absolute paths of the files that the findings depend on. A module that does not exist has no suffix."""


class Workspace:
    """The open documents by absolute path, and the configurations of their projects."""

    def __init__(self, change: Callable[[Settings], Settings], config_path: str | None) -> None:
        """Start empty; `change` applies the options of the command line to the settings of each project."""
        self.documents: dict[str, Document] = {}
        self.uris: dict[str, str] = {}
        """The URI of each open document as its client writes it."""
        self.folders: tuple[str, ...] = ()
        """The folders that are open in the editor."""
        self._change = change
        self._config_path = config_path
        self.reset()

    def reset(self) -> None:
        """Forget all configurations, since some may have changed on disk."""
        self._finder = config.Finder()
        self._configs: dict[str, Config] = {}
        self._checked: dict[str, bool] = {}

    def config_of(self, path: str) -> Config:
        """The configuration of a file: the one that a command run in the folder of the workspace would use.

        Raises:
            CannotRunError: If the configuration is invalid.
        """
        folder = os.path.dirname(path)
        if folder not in self._configs:
            top = self._top(path)
            if self._config_path is not None:
                folder_config = config.load(self._config_path, top)
            else:
                inside = (place for place in upwards(folder) if place == top or is_below(place, top))
                own = (own_config for place in inside if (own_config := self._finder.own(place)) is not None)
                folder_config = next(own, None) or self._finder.find(top)
            self._configs[folder] = folder_config._replace(settings=self._change(folder_config.settings))
        return self._configs[folder]

    def _top(self, path: str) -> str:
        """The folder of the workspace that a file is in, or else the file's own folder."""
        return max(
            (folder for folder in self.folders if is_below(path, folder)), key=len, default=os.path.dirname(path)
        )

    def is_checked(self, path: str) -> bool:
        """Whether the command would check a file, in contrast to an excluded file or to a document it does not know."""
        if path not in self._checked:
            own = self.config_of(path)
            if is_document(path):
                self._checked[path] = path in documents_of(own, [own.root])
            else:
                configs = (own, self.config_of(os.path.join(self._top(path), config.FILE)))
                self._checked[path] = all(
                    Walk(folder_config.settings, folder_config.root).finds(path) for folder_config in configs
                )
        return self._checked[path]

    def uri_of(self, path: str) -> str:
        """The URI of a file."""
        return self.uris.get(path) or from_fs_path(path) or ""

    def texts(self) -> Mapping[str, str]:
        """The texts of the open Python documents, which replace those on disk."""
        return {path: document.source.text for path, document in [*self.documents.items()] if not is_document(path)}

    def document(self, path: str, encoding: str) -> Document | None:
        """The open document of a path, or else the file on disk; None if it cannot be read."""
        document = self.documents.get(path)
        if document is None and (raw := content_of(path)) is not None:
            try:
                source = Source.from_bytes(path, raw)
            except SourceError:
                return None
            document = Document(path, ("\ufeff" if source.bom else "") + source.text, encoding=encoding)
        return document

    def analyse(self, document: Document) -> Analysis:
        """Check a document.

        Raises:
            CannotRunError: If the configuration is invalid.
        """
        path = document.path
        if not self.is_checked(path):
            return Analysis(document)
        configuration = self.config_of(path)
        walk = Walk(configuration.settings, configuration.root)
        if is_document(path):
            group = Group(configuration, (), walk, (path,))
            result = lint_groups([group], contents={path: document.source.text.encode("utf-8", "replace")}, editor=True)
            own = [diagnostic for diagnostic in result.diagnostics if result.absolute(diagnostic.path) == path]
            return Analysis(document, own, result.base, tuple(failure.message for failure in result.failures))
        walk.hold(path)
        run = FilesRun(walk, contents={**self.texts(), path: document.source.text}, editor=True)
        report = run.report()
        project = run.checker().project
        consulted, missing = project.dependencies(path)
        project.forget()
        problems = tuple(f"{failure.path}: {failure.message}" for failure in report.failures)
        return Analysis(document, report.diagnostics, configuration.root, problems, frozenset({*consulted, *missing}))

    def checker(self, path: str) -> Checker:
        """A checker for the project of a file that reads the open documents."""
        configuration = self.config_of(path)
        checker = Checker(configuration.root, configuration.settings, files={path})
        for name, text in self.texts().items():
            checker.give(name, text)
        return checker
