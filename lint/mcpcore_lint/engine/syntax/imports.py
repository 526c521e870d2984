"""Searches a file and its imports without parsing them: a cheap test before a costly analysis."""

from collections.abc import Callable, Collection, Iterator
from typing import Final

from mcpcore_lint.dataclasses import cached_method
from mcpcore_lint.engine.syntax.project import Project, is_outside
from mcpcore_lint.patterns import regex

_IMPORT: Final = regex(r"import(?<!\wimport)[ \t(]")
"""Where an import may stand: to begin with a plain text makes the search many times faster."""
_FROM: Final = regex(r"[ \t]*from[ \t]+(?P<dots>[. \t]*)(?P<package>[\w.]*)[ \t]+\Z")
_NAMES: Final = regex(r"[ \t]*(?:\([^)]*\)|[^\n;]*)")
_COMMENT: Final = regex(r"#[^\n]*")


class ImportSearch:
    """Searches files and their imports; every file is read once."""

    def __init__(self, project: Project, matches: Callable[[str], bool]) -> None:
        self.project = project
        self.matches = matches
        self._known: dict[str, bool] = {}

    def found_from(self, absolute: str) -> bool:
        """Whether a file matches, or any file of the project that it imports, directly or not."""
        known = self._known.get(absolute)
        if known is None:
            known = self._known[absolute] = self._search(absolute)
        return known

    def reaches(self, absolute: str, targets: Collection[str]) -> bool:
        """Whether a file imports one of some files, directly or not."""
        seen = {absolute}
        waiting = [absolute]
        while waiting:
            imported = self._file(waiting.pop())[1]
            if any(path in targets for path in imported):
                return True
            waiting += (path for path in imported if path not in seen)
            seen.update(imported)
        return False

    def _search(self, absolute: str) -> bool:
        seen = {absolute}
        waiting = [absolute]
        while waiting:
            path = waiting.pop()
            has_text, imported = self._file(path)
            if has_text or self._known.get(path):
                return True
            for target in imported:
                if target not in seen:
                    seen.add(target)
                    if self._known.get(target) is not False:
                        waiting.append(target)
        self._known.update(dict.fromkeys(seen, False))
        return False

    @cached_method
    def _file(self, absolute: str) -> tuple[bool, tuple[str, ...]]:
        """Whether a file matches, and the files that it imports."""
        text = self.project.text_of(absolute)
        imported = dict.fromkeys(self._imports(absolute, text))
        return self.matches(text), tuple(imported)

    def _imports(self, absolute: str, text: str) -> Iterator[str]:
        for match in _IMPORT.finditer(text):
            before = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
            source = _FROM.match(before)
            if source is not None and not source["dots"].strip() and is_outside(source["package"]):
                continue
            names = _NAMES.match(text, match.end() - 1)
            assert names is not None
            words = [name.partition(" as ")[0].strip("() \t\r\n") for name in _COMMENT.sub("", names[0]).split(",")]
            if not before.strip():
                for name in words:
                    yield from self._located(absolute, name, 0)
            elif source is not None:
                level, package = source["dots"].count("."), source["package"]
                yield from self._located(absolute, package, level)
                for name in filter(str.isidentifier, words):
                    yield from self._located(absolute, f"{package}.{name}" if package else name, level)

    def _located(self, absolute: str, name: str, level: int) -> Iterator[str]:
        if not name and not level:
            return
        path = self.project.locate_from(absolute, name, level)
        if path is not None:
            yield path
