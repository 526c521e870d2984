"""The reasons in a document, even while it is not valid Python: an editor shows, completes, finds and renames them."""

import ast
import contextlib
import os
import re
from collections.abc import Iterable, Iterator
from typing import Final, Literal, NamedTuple

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from mcpcore_lint.diagnostics import Span
from mcpcore_lint.engine.flow.bodies.parameters import parameters_of
from mcpcore_lint.engine.semantics.evaluate import Resolver
from mcpcore_lint.engine.syntax.imports import ImportSearch
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.parse import argument_of
from mcpcore_lint.engine.syntax.source import Source, SourceError, parse
from mcpcore_lint.lsp.workspace import Document, Workspace
from mcpcore_lint.model import Const, ContractEntry, FunctionNode, ToolDef, Value, options
from mcpcore_lint.rules._advice import advice_of, sent_advice
from mcpcore_lint.runner.checker import Checker
from mcpcore_lint.runner.files import content_of
from mcpcore_lint.runner.groups import Walk

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
        # `pass` comes first, since a blank line would leave the block above without a body. Inside brackets `pass` is
        # an error too, so a line that fails again becomes blank.
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
            place = 0 if error.form == "fail" else None
            written = argument_of(error.node, "reason", place) if isinstance(error.node, ast.Call) else None
            self._note(declared, "raised", error.reason, written or error.node, error.module)
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
        # The end counts: after typing the last character, the cursor is behind it.
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
        # Handlers at the line come first: all that a handler reaches is read, and most requests are answered by it.
        around = self.around()
        for tool in around:
            reasons.add(tool)
        place = reasons.at(self.path, offset)
        if place is None or everywhere:
            for tool in (tool for tool in self.tools if tool not in around):
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
        # One file in each round, since the tools of each may lead to places in further files that share the reason.
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


# -- hovers ------------------------------------------------------------------------------------------------------------

_MOST: Final = 8
"""How many places and entries are listed."""
_LONGEST: Final = 600
_MARKUP: Final = re.compile(r"([\\`*_\[\]<>|~&#!$:])")


def escaped(text: str) -> str:
    """A text of the source as one line of Markdown that looks the same."""
    line = " ".join(text.split())
    return _MARKUP.sub(r"\\\1", line if len(line) <= _LONGEST else line[:_LONGEST] + "…")


def facts(entry: ContractEntry, tool: ToolDef | None = None) -> list[tuple[str, str]]:
    """The facts that an entry declares, as far as they are known, each with its label.

    With its tool, the advice is the one that is sent.
    """
    code, arguments = entry.code_value, entry.arguments
    # Without a tool, its hints are unknown, which decide whether advice to retry is sent.
    advice, effects = (advice_of(arguments["retry"].value, code), None) if tool is None else sent_advice(entry, tool)
    number = f" ({code.number})" if code is not None and code.number is not None else ""
    values = [
        ("When", entry.when.text),
        ("Recovery", entry.recovery.text),
        ("Code", f"{code.name}{number}" if code is not None else None),
        ("Retry", advice.words if advice is not None else None),
        ("Fallback tool", arguments["fallback_tool"].text),
        ("Effects", effects or arguments["effects"].text),
        ("Data", entry.module.source.segment(node) if (node := arguments["data"].node) is not None else None),
    ]
    return [(label, value) for label, value in values if value]


def described(entry: ContractEntry, tool: ToolDef | None = None) -> str:
    """The facts of an entry as a Markdown list."""
    return "\n".join(f"- **{label}**: {escaped(value)}" for label, value in facts(entry, tool))


def hover(reading: Reading, document: Document, offset: int) -> types.Hover | None:
    """The hover at an offset."""
    match = reading.find(offset)
    if match is None:
        return None
    reasons, place = match
    name = f"**{escaped(place.reason)}**"
    entries = [reasons.entries[key] for key in sorted(reasons.places[place])[:_MOST] if key in reasons.entries]
    parts = [f"{name} of {escaped(tool.display_name)}\n\n{described(entry, tool)}" for entry, tool in entries]
    if not parts:
        parts.append(f"{name} is not declared by the contract of this tool")
    raised = [site for site in reasons.related(place)[1] if site.role == "raised"]
    if raised:
        links = [_link(reading.workspace, error, document.encoding) for error in raised[:_MOST]]
        more = f" and {len(raised) - _MOST} more" if len(raised) > _MOST else ""
        parts.append(f"Raised at {', '.join(links)}{more}")
    text = types.MarkupContent(types.MarkupKind.Markdown, "\n\n".join(parts))
    return types.Hover(text, document.range(place.start, place.end))


def _link(workspace: Workspace, place: Place, encoding: str) -> str:
    other = workspace.document(place.path, encoding)
    line = other.position(place.start).line + 1 if other is not None else 1
    # A bracket in the path would end the link.
    uri = workspace.uri_of(place.path).replace("(", "%28").replace(")", "%29")
    return f"[{escaped(os.path.basename(place.path))}:{line}]({uri}#L{line})"


# -- completion --------------------------------------------------------------------------------------------------------

TRIGGERS: Final = ('"', "'", "(", "[")
_WINDOW: Final = 4_000
"""How many characters before the cursor are read."""
_OPEN: Final = r"(?P<quote>[rRuU]?[\"'])?(?P<typed>(?(quote)[^\"'\n]*|))\Z"
_PLACES: Final = (
    re.compile(rf"\b(?P<context>\w+)\s*\.\s*(?:fail|recovery_for)\(\s*(?:reason\s*=\s*)?{_OPEN}"),
    re.compile(rf"\b(?P<context>\w+)\s*\.\s*guard\(\s*\{{[^{{}}]*:\s*{_OPEN}"),
    re.compile(rf"Context\[\s*(?:\w+\.)?Literal\[(?P<before>(?:\s*[\"'][^\"'\n]*[\"']\s*,)*)\s*{_OPEN}"),
)
_CLOSINGS: Final = ("", "]]", "]]):", "]]): ...")
_ENDINGS: Final = ("):", "): ...")
"""What may be missing after `Context[Literal["` in the signature of a function that is being written: at the cursor, or
at the end of the line if the editor closed the brackets."""
_REST: Final = re.compile(r"[\w.-]*")


def place_of(document: Document, offset: int) -> re.Match[str] | None:
    """The match of the text before an offset, if a reason belongs there."""
    before = document.source.text[max(0, offset - _WINDOW) : offset]
    return next((match for pattern in _PLACES if (match := pattern.search(before))), None)


def insertions(document: Document, offset: int, match: re.Match[str]) -> list[tuple[int, str]]:
    """What to insert at which offset, one after the other, until the document is valid Python."""
    if "before" not in match.groupdict():
        return []
    quote = match["quote"][-1] if match["quote"] else '""'
    line = document.source.position(offset)[0]
    end = document.source.offset_at(line, 1) + len(document.source.line(line))
    return [*((offset, quote + closing) for closing in _CLOSINGS), *((end, ending) for ending in _ENDINGS)]


def completion(
    reading: Reading, document: Document, offset: int, *, before: re.Match[str]
) -> list[types.CompletionItem]:
    """The reasons that belong at an offset."""
    named = set(re.findall(r"[\"']([^\"'\n]*)[\"']", before.groupdict().get("before") or ""))
    rest = _REST.match(document.source.text, offset) if before["quote"] else None
    where = document.range(offset - len(before["typed"]), rest.end() if rest is not None else offset)
    quote = "" if before["quote"] else '"'
    items = []
    for number, (reason, entry) in enumerate(_reasons(reading, before.groupdict().get("context")).items()):
        if reason in named:
            continue
        code = entry.code_value if entry is not None else None
        items.append(
            types.CompletionItem(
                reason,
                kind=types.CompletionItemKind.EnumMember,
                detail=code.name if code is not None else None,
                documentation=types.MarkupContent(types.MarkupKind.Markdown, described(entry)) if entry else None,
                # Editors sort by text otherwise, and the order of the contract is the author's.
                sort_text=f"{number:04}",
                filter_text=f"{quote}{reason}",
                text_edit=types.TextEdit(where, f"{quote}{reason}{quote}"),
            )
        )
    return items


def _reasons(reading: Reading, context: str | None) -> dict[str, ContractEntry | None]:
    """The reasons that a context of some name offers at the line, each with its entry if that is known."""
    for tool in reading.around():
        own = tool.handler.context.name if tool.handler.context is not None else None
        if context is not None and own not in {None, context}:
            continue
        if tool.contract is not None:
            return {**tool.contract.by_reason}
    known: dict[str, ContractEntry | None] = {
        reason: entry
        for tool in reading.tools
        if tool.contract is not None
        for reason, entry in tool.contract.by_reason.items()
    }
    annotated = {reason: known.get(reason) for reason in _annotated(reading, context)}
    # `pytest.fail("` and `self.fail("` look the same, so an object that is not known must have a usual name.
    return annotated or (known if context in {None, "ctx", "context"} else {})


def _annotated(reading: Reading, context: str | None) -> Iterator[str]:
    """The reasons that the annotation of a helper's context names."""
    for function in reading.functions():
        assert reading.module is not None
        parameter = parameters_of(function, reading.module.scope_of(function))[1]
        if parameter is not None and parameter.name == context:
            yield from parameter.reasons or ()


# -- navigation --------------------------------------------------------------------------------------------------------

_LITERAL: Final = re.compile(r"[rRuU]?(\"\"\"|'''|[\"'])(.*)\1", re.DOTALL)
_REASON: Final = re.compile(r"[A-Za-z][\w.-]*", re.ASCII)


def definition(reading: Reading, document: Document, offset: int) -> list[types.Location]:
    """The entries that declare the reason at an offset."""
    match = reading.find(offset)
    if match is not None and not any(key in match[0].entries for key in match[0].places[match[1]]):
        match = reading.find(offset, everywhere=True)
    if match is None:
        return []
    reasons, place = match
    # A declaration has no end, so only path and start are compared.
    keys = {key[:2] for key in reasons.places[place] if key in reasons.entries}
    return [*_locations((site for site in reasons.places if site[:2] in keys), reading.workspace, document.encoding)]


def references(reading: Reading, document: Document, offset: int, *, declared: bool) -> list[types.Location]:
    """The places of the reason at an offset in the whole project; with `declared`, its declarations too."""
    match = reading.find(offset, everywhere=True)
    if match is None:
        return []
    places = (site for site in match[0].related(match[1])[1] if declared or site.role != "declared")
    return [*_locations(places, reading.workspace, document.encoding)]


def renamable(reading: Reading, document: Document, offset: int) -> types.PrepareRenamePlaceholder | None:
    """The range to edit and the old name, if there is a reason at an offset."""
    match = reading.find(offset)
    inner = _inner(match[1], document) if match is not None else None
    return None if match is None or inner is None else types.PrepareRenamePlaceholder(inner, match[1].reason)


def rename(reading: Reading, document: Document, offset: int, name: str) -> types.WorkspaceEdit | None:
    """The edits that rename the reason at an offset wherever the linter sees it.

    Raises:
        JsonRpcException: If the new name is not valid or already declared, or a place cannot be edited.
    """
    match = reading.find(offset, everywhere=True)
    if match is None:
        return None
    if not _REASON.fullmatch(name):
        raise _refused(f"{name!r} is not a reason: use letters, digits and underscores, starting with a letter")
    reasons, place = match
    keys, places = reasons.related(place)
    for key in keys:
        contract = reasons.entries[key][1].contract if key in reasons.entries else None
        if contract is not None and name in contract.by_reason and name != place.reason:
            raise _refused(f"{name!r} is already a reason of {reasons.entries[key][1].display_name}")
    changes: dict[str, list[types.TextEdit]] = {}
    for site in places:
        # The literal that a name leads to is another place.
        if not site.literal:
            continue
        other = reading.workspace.document(site.path, document.encoding)
        inner = _inner(site, other) if other is not None else None
        if inner is None:
            raise _refused(f"{site.path} writes the reason in a form that cannot be renamed; rename it by hand")
        changes.setdefault(reading.workspace.uri_of(site.path), []).append(types.TextEdit(inner, name))
    return types.WorkspaceEdit(changes=changes)


def _refused(message: str) -> JsonRpcException:
    return JsonRpcException(message, code=types.LSPErrorCodes.RequestFailed)


def _inner(place: Place, document: Document) -> types.Range | None:
    """The range of a reason without its quotes; None if it is not one plain literal."""
    match = _LITERAL.fullmatch(document.source.text[place.start : place.end])
    if match is None or match[2] != place.reason:
        return None
    return document.range(place.start + match.start(2), place.start + match.end(2))


def _locations(places: Iterable[Place], workspace: Workspace, encoding: str) -> Iterator[types.Location]:
    for place in sorted(places):
        document = workspace.document(place.path, encoding)
        if document is not None:
            yield types.Location(workspace.uri_of(place.path), document.range(place.start, place.end))
