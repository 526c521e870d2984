"""Goes from a reason to its declaration and to its uses, and renames it."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from mcpcore_lint.lsp.positions import Document
from mcpcore_lint.lsp.reading import Place, Reading
from mcpcore_lint.lsp.workspace import Workspace

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
