"""Reads a document for a request at a position, even while it is not valid Python, and finds the reasons in it."""

import ast
import contextlib
import re
from collections.abc import Iterable, Iterator
from typing import Final, Literal, NamedTuple

from mcpcore_lint.diagnostics import Span
from mcpcore_lint.engine.semantics.evaluate import Resolver
from mcpcore_lint.engine.syntax.imports import ImportSearch
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.source import Source, SourceError, parse
from mcpcore_lint.lsp.workspace import Document, Workspace
from mcpcore_lint.model import Const, ContractEntry, FunctionNode, ToolDef, Value, options
from mcpcore_lint.runner.checker import Checker
from mcpcore_lint.runner.discover import Walk
from mcpcore_lint.runner.files import content_of

_ATTEMPTS: Final = 8
"""How many lines of a document that is not valid Python are replaced at most. Each attempt parses it again."""
_MOST_FILES: Final = 200
"""How many files are searched for tools at most."""
_WORD: Final = re.compile(r"([\"'])([^\"'\n]*)\1")

Role = Literal["declared", "named", "raised"]
"""declared: in a `FailureMode`; named: in `Context[Literal[...]]`, or a constant; raised: where a failure is made."""


def repaired(source: Source, line: int, insertions: Iterable[tuple[int, str]] = ()) -> Source | None:
    """A document that can be parsed, with the same lines; None if none is found.

    First come the insertions, each an offset and a text to try. Then lines with errors, the edited line first, become
    `pass` or blank, which keeps every offset.
    """
    text = source.text
    for tried in (text, *(text[:offset] + closing + text[offset:] for offset, closing in insertions)):
        if _error_in(tried) is None:
            return Source(source.path, tried)
    at, passed = line, set[int]()
    for _ in range(_ATTEMPTS):
        current = Source(source.path, text)
        old = current.line(at)
        indent = old[: len(old) - len(old.lstrip())]
        new = f"{indent}pass" if at not in passed and len(old) >= len(indent) + 4 else ""
        passed.add(at)
        start = current.line_starts[min(at, len(current.line_starts)) - 1]
        text = text[:start] + new.ljust(len(old)) + text[start + len(old) :]
        error = _error_in(text)
        if error is None:
            return Source(source.path, text)
        at = error.span.line
    return None


def _error_in(text: str) -> SourceError | None:
    try:
        parse(Source("", text))
    except SourceError as error:
        return error
    return None


class Place(NamedTuple):
    """A reason in a file."""

    path: str
    start: int
    end: int
    reason: str
    role: Role
    literal: bool
    """Whether it is a string literal, in contrast to a name or a call that leads to one."""


class Declaration(NamedTuple):
    """The entry of a contract that declares a reason; without an entry, a tool that raises it undeclared."""

    path: str
    start: int
    reason: str


class Reasons:
    """The reasons that some tools declare and raise, with their places in all files."""

    def __init__(self, checker: Checker) -> None:
        self.checker = checker
        self.places: dict[Place, set[Declaration]] = {}
        self._places: dict[tuple[str, int, int], Place] = {}
        self.entries: dict[Declaration, tuple[ContractEntry, ToolDef]] = {}

    def add(self, tool: ToolDef) -> None:
        """Add the reasons of a tool."""
        module = tool.handler.module
        declared: dict[str, Declaration] = {}
        for entry in tool.contract.entries if tool.contract is not None else ():
            if entry.reason_text is not None and entry.reason_text not in declared:
                node = entry.reason.node or entry.node
                key = Declaration(entry.module.absolute, entry.module.source.node_range(node)[0], entry.reason_text)
                declared[entry.reason_text] = key
                self.entries.setdefault(key, (entry, tool))
                self._note(declared, "declared", entry.reason.value, node, entry.module)
        for error in tool.handler.errors:
            keywords = [keyword.value for keyword in getattr(error.node, "keywords", ()) if keyword.arg == "reason"]
            arguments = getattr(error.node, "args", ()) if error.form == "fail" else ()
            node = next(iter((*keywords, *arguments)), error.node)
            self._note(declared, "raised", error.reason, node, error.module)
        for named in tool.handler.named_reasons:
            call = named.node if named.method == "recovery_for" else None
            node = call.args[0] if isinstance(call, ast.Call) and call.args else named.node
            self._note(declared, "named" if call is not None else "raised", named.reason, node, module)
        self._of_annotations(tool.handler.node, module, declared)
        context = tool.handler.context
        alias = context.argument if context is not None else None
        if isinstance(alias, (ast.Name, ast.Attribute)):
            scope = module.scope_of(tool.handler.node)
            followed = Resolver().alias_of(alias, scope.parent or scope)
            if followed is not None:
                self._of_literals(followed[0], followed[1].module, declared)
        for thrown in self.checker.reach(tool).throws:
            site = self.checker.project.module_at(thrown.site.path)
            for reason in thrown.reasons or ():
                if site is not None:
                    self._of_site(reason, site, thrown.site.span, declared)

    def _of_site(self, reason: str, module: Module, span: Span, declared: dict[str, Declaration]) -> None:
        """Note a reason that a function raises for the tool, and the annotations of that function."""
        source = module.source
        start = source.offset_at(span.line, span.column)
        end = source.offset_at(span.end_line, span.end_column)
        literal = re.search(rf"([\"']){re.escape(reason)}\1", source.text[start:end])
        if literal is not None:
            start, end = start + literal.start(), start + literal.end()
        key = declared.get(reason) or Declaration(module.absolute, start, reason)
        self._place(Place(module.absolute, start, end, reason, "raised", literal is not None), key)
        for function in module.functions:
            if function.lineno <= span.line <= (function.end_lineno or 0):
                self._of_annotations(function, module, {reason: key})

    def _of_annotations(self, function: ast.AST, module: Module, declared: dict[str, Declaration]) -> None:
        arguments = getattr(function, "args", None)
        for node in ast.walk(arguments) if isinstance(arguments, ast.arguments) else ():
            annotation = node.annotation if isinstance(node, ast.arg) else None
            if isinstance(annotation, ast.Subscript) and "Context[" in module.source.segment(annotation):
                self._of_literals(annotation, module, declared)

    def _of_literals(self, annotation: ast.expr, module: Module, declared: dict[str, Declaration]) -> None:
        for node in ast.walk(annotation):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                self._note(declared, "named", Const(node, module, node.value), node, module)

    def _note(self, declared: dict[str, Declaration], role: Role, value: Value, node: ast.AST, module: Module) -> None:
        """Note the expression for a reason and, if a constant or another expression holds its text, that literal."""
        for option in options(value):
            if not isinstance(option, Const) or not isinstance(option.value, str):
                continue
            start, end = module.source.node_range(node)
            key = declared.get(option.value) or Declaration(module.absolute, start, option.value)
            self._place(Place(module.absolute, start, end, option.value, role, isinstance(node, ast.Constant)), key)
            if isinstance(option.node, ast.Constant) and option.node is not node and option.module is not None:
                start, end = option.module.source.node_range(option.node)
                self._place(Place(option.module.absolute, start, end, option.value, "named", literal=True), key)

    def _place(self, place: Place, key: Declaration) -> None:
        self.places.setdefault(self._places.setdefault(place[:3], place), set()).add(key)

    # -- questions -------------------------------------------------------------------------------------------------

    def at(self, path: str, offset: int) -> Place | None:
        """The smallest reason at an offset of a file."""
        around = (place for place in self.places if place.path == path and place.start <= offset <= place.end)
        return min(around, key=lambda place: place.end - place.start, default=None)

    def related(self, place: Place) -> tuple[set[Declaration], list[Place]]:
        """The declarations that a place leads to, and all places that lead to one of them, directly or not."""
        keys = set(self.places[place])
        while True:
            places = [other for other, own in self.places.items() if own & keys]
            more = set[Declaration]().union(*(self.places[other] for other in places))
            if more == keys:
                return keys, sorted(places)
            keys = more


class Reading:
    """A document with its tools, as a request at some line sees it."""

    def __init__(
        self, workspace: Workspace, document: Document, line: int, insertions: Iterable[tuple[int, str]] = ()
    ) -> None:
        self.workspace = workspace
        self.path = document.path
        self.line = line
        self.checker = workspace.checker(self.path)
        self.module: Module | None = None
        self.tools: list[ToolDef] = []
        source = repaired(document.source, line, insertions)
        if source is not None:
            self.checker.give(self.path, source.text)
            self.module = self.checker.project.read(self.path)
            self.tools = self.checker.find_tools(self.module)

    def around(self) -> list[ToolDef]:
        """The tools whose handlers contain the line."""
        return [
            tool for tool in self.tools if tool.handler.module is self.module and _holds(tool.handler.node, self.line)
        ]

    def functions(self) -> Iterator[FunctionNode]:
        """The functions around the line, the innermost first."""
        nodes = (
            [function for function in self.module.functions if _holds(function, self.line)]
            if self.module is not None
            else []
        )
        yield from sorted(nodes, key=lambda node: -node.lineno)

    def find(self, offset: int, *, everywhere: bool = False) -> tuple[Reasons, Place] | None:
        """The reason at an offset, with what is known about it; `everywhere` looks for it in the whole project."""
        reasons = Reasons(self.checker)
        around = self.around()
        for tool in around:
            reasons.add(tool)
        place = reasons.at(self.path, offset)
        if place is None or everywhere:
            for tool in self.tools:
                if tool not in around:
                    reasons.add(tool)
            place = reasons.at(self.path, offset)
        if (place is None or everywhere) and self.module is not None:
            self._search(reasons, offset, place.reason if place is not None else self._literal_at(offset))
            place = reasons.at(self.path, offset)
        return None if place is None else (reasons, place)

    def _literal_at(self, offset: int) -> str | None:
        """The text of the string literal at an offset."""
        assert self.module is not None
        line, column = self.module.source.position(offset)
        words = _WORD.finditer(self.module.source.line(line))
        return next((word[2] for word in words if word.start() < column <= word.end() + 1), None)

    def _search(self, reasons: Reasons, offset: int, reason: str | None) -> None:
        """Add the tools of other files that may share a reason with this one, since they import one of its places."""
        if not reason:
            return
        project = self.checker.project
        walk = Walk(self.checker.settings, project.root).run([project.root])
        files = [path for path in {**walk.files, **self.workspace.texts()} if path != self.path]
        files = [path for path in files if self.checker.is_relevant(path, self._content(path))]
        imports = ImportSearch(project, lambda _: False)
        places = {self.path}
        for _ in range(_MOST_FILES):
            path = next((file for file in files if imports.reaches(file, places)), None)
            if path is None:
                return
            files.remove(path)
            with contextlib.suppress(SourceError, OSError):
                for tool in self.checker.find_tools(project.read(path)):
                    reasons.add(tool)
            place = reasons.at(self.path, offset)
            if place is not None:
                places |= {site.path for site in reasons.related(place)[1]}

    def _content(self, path: str) -> bytes:
        return self.checker.contents.get(path) or content_of(path) or b""


def _holds(node: FunctionNode, line: int) -> bool:
    """Whether a line is inside a function or its decorators."""
    return first_line(node) <= line <= (node.end_lineno or 0)


def first_line(node: ast.stmt | ast.expr) -> int:
    """The line of a node, or of its first decorator."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min(part.lineno for part in (node, *decorators))
