"""What an editor shows about reasons, completes and finds, and how it renames them."""

import os
import re
from collections.abc import Iterable, Iterator
from typing import Final

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from mcpcore_lint.engine.flow.bodies.parameters import parameters_of
from mcpcore_lint.lsp.reading import Place, Reading
from mcpcore_lint.lsp.workspace import Document, Workspace
from mcpcore_lint.model import ContractEntry, ToolDef
from mcpcore_lint.rules._advice import advice_of, sent_advice

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
