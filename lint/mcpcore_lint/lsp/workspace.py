"""The open documents with their positions, and their projects: what is checked, and under which settings."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from lsprotocol import types
from pygls.uris import from_fs_path

from mcpcore_lint import config
from mcpcore_lint.config import Config
from mcpcore_lint.diagnostics import Diagnostic, Edit, Span
from mcpcore_lint.engine.syntax.source import Source, SourceError
from mcpcore_lint.paths import is_below, upwards
from mcpcore_lint.runner.checker import Checker
from mcpcore_lint.runner.files import content_of
from mcpcore_lint.runner.groups import Walk
from mcpcore_lint.runner.patch import Matcher
from mcpcore_lint.runner.runner import FilesRun
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
        """Whether the command would check a file, in contrast to an excluded file."""
        if path not in self._checked:
            configs = (self.config_of(path), self.config_of(os.path.join(self._top(path), config.FILE)))
            self._checked[path] = all(
                Walk(folder_config.settings, folder_config.root).finds(path) for folder_config in configs
            )
        return self._checked[path]

    def uri_of(self, path: str) -> str:
        """The URI of a file."""
        return self.uris.get(path) or from_fs_path(path) or ""

    def texts(self) -> Mapping[str, str]:
        """The texts of the open documents, which replace those on disk."""
        # A copy: the engine's thread reads this while the event loop opens and closes documents.
        return {path: document.source.text for path, document in [*self.documents.items()]}

    def document(self, path: str, encoding: str) -> Document | None:
        """The open document of a path, or else the file on disk; None if it cannot be read."""
        document = self.documents.get(path)
        if document is None and (raw := content_of(path)) is not None:
            try:
                source = Source.from_bytes(path, raw)
            except SourceError:
                return None
            # Clients count the byte-order mark as a character of the first line, so `Document` has to know about it.
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
        walk.hold(path)
        # The open document may have changed meanwhile; the findings have to fit the one that was passed.
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


_BOM: Final = "\ufeff"
_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
"""A line as the protocol and Python count lines: a form feed does not end one."""


class Document:
    """A text with the positions of a client, which counts columns in UTF-16 units unless it negotiated otherwise.

    `source` is the text without a byte-order mark. All offsets are offsets into its text.
    """

    def __init__(self, path: str, text: str, *, encoding: str = "utf-16", version: int | None = None) -> None:
        self.path = path
        self.encoding = encoding
        self.version = version
        self.source = Source(path, text.removeprefix(_BOM), bom=text.startswith(_BOM))
        self._lead = self._units(_BOM) if self.source.bom else 0

    def changed(self, changes: Iterable[types.TextDocumentContentChangeEvent], version: int) -> Document:
        """The document after changes, each of which is relative to the text after the one before it."""
        document = self
        for change in changes:
            text = change.text
            if isinstance(change, types.TextDocumentContentChangePartial):
                old = document.source.text
                start, end = sorted((document.offset(change.range.start), document.offset(change.range.end)))
                text = (_BOM if document.source.bom else "") + old[:start] + text + old[end:]
            document = Document(self.path, text, encoding=self.encoding, version=version)
        return document

    def offset(self, position: types.Position) -> int:
        """The offset of a position. A position outside of the text is moved to the end of the line or of the text."""
        starts = self.source.line_starts
        if position.line >= len(starts):
            return len(self.source.text)
        left = position.character - (0 if position.line else self._lead)
        line = self.source.line(position.line + 1)
        for column, char in enumerate(line):
            if left <= 0:
                return starts[position.line] + column
            left -= self._units(char)
        return starts[position.line] + len(line)

    def position(self, offset: int) -> types.Position:
        """The position of an offset."""
        line, column = self.source.position(offset)
        before = self.source.text[offset - column + 1 : offset]
        return types.Position(line - 1, self._units(before) + (self._lead if line == 1 else 0))

    def range(self, start: int, end: int) -> types.Range:
        """The range between two offsets."""
        return types.Range(self.position(start), self.position(end))

    def range_of(self, span: Span) -> types.Range:
        """The range of a span."""
        offset_at = self.source.offset_at
        return self.range(offset_at(span.line, span.column), offset_at(span.end_line, span.end_column))

    def text_edits(self, edits: Iterable[Edit]) -> list[types.TextEdit]:
        """Edits as the protocol has them."""
        return [types.TextEdit(self.range(edit.start, edit.end), edit.text) for edit in edits]

    def edits_to(self, after: str) -> list[types.TextEdit]:
        """The edits that turn the document into another text, line by line."""
        old, new = _LINE.findall(self.source.text), _LINE.findall(after)
        starts = [*self.source.line_starts[: len(old)], len(self.source.text)]
        return [
            types.TextEdit(self.range(starts[first], starts[last]), "".join(new[begin:end]))
            for tag, first, last, begin, end in Matcher(old, new).get_opcodes()
            if tag != "equal"
        ]

    def _units(self, text: str) -> int:
        if self.encoding == "utf-32" or text.isascii():
            return len(text)
        if self.encoding == "utf-8":
            # A client may send half of a surrogate pair, which JSON can escape.
            return len(text.encode("utf-8", "surrogatepass"))
        # UTF-16 has two units for each character above U+FFFF.
        return len(text) + sum(char > "\uffff" for char in text)
