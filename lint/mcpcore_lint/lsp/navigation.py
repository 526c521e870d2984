"""Goes from a reason to its declaration and to its uses, and renames it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from lsprotocol import types
from pygls.exceptions import JsonRpcException

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mcpcore_lint.lsp.positions import Document
    from mcpcore_lint.lsp.reading import Place, Reading
    from mcpcore_lint.lsp.workspace import Workspace

_LITERAL: Final = re.compile(r"[rRuU]?(\"\"\"|'''|[\"'])(.*)\1", re.DOTALL)
_REASON: Final = re.compile(r"[A-Za-z][\w.-]*", re.ASCII)


def definition(reading: Reading, document: Document, offset: int) -> list[types.Location]:
    """The entries that declare the reason at an offset."""
    found = reading.find(offset)
    if found is not None and not any(key in found[0].entries for key in found[0].places[found[1]]):
        found = reading.find(offset, everywhere=True)
    if found is None:
        return []
    reasons, place = found
    keys = {key[:2] for key in reasons.places[place] if key in reasons.entries}
    return [*_locations((each for each in reasons.places if each[:2] in keys), reading.workspace, document.encoding)]


def references(reading: Reading, document: Document, offset: int, *, declared: bool) -> list[types.Location]:
    """The places of the reason at an offset in the whole project; with `declared`, its declarations too."""
    found = reading.find(offset, everywhere=True)
    if found is None:
        return []
    places = (each for each in found[0].related(found[1])[1] if declared or each.role != "declared")
    return [*_locations(places, reading.workspace, document.encoding)]


def renamable(reading: Reading, document: Document, offset: int) -> types.PrepareRenamePlaceholder | None:
    """The range to edit and the old name, if there is a reason at an offset."""
    found = reading.find(offset)
    inner = _inner(found[1], document) if found is not None else None
    return None if found is None or inner is None else types.PrepareRenamePlaceholder(inner, found[1].reason)


def rename(reading: Reading, document: Document, offset: int, name: str) -> types.WorkspaceEdit | None:
    """The edits that rename the reason at an offset wherever the linter sees it.

    Raises:
        JsonRpcException: If the new name is not valid or already declared, or a place cannot be edited.
    """
    found = reading.find(offset, everywhere=True)
    if found is None:
        return None
    if not _REASON.fullmatch(name):
        raise _refused(f"{name!r} is not a reason: use letters, digits and underscores, starting with a letter")
    reasons, place = found
    keys, places = reasons.related(place)
    for key in keys:
        contract = reasons.entries[key][1].contract if key in reasons.entries else None
        if contract is not None and name in contract.by_reason and name != place.reason:
            raise _refused(f"{name!r} is already a reason of {reasons.entries[key][1].display_name}")
    changes: dict[str, list[types.TextEdit]] = {}
    for each in places:
        if not each.literal:
            continue
        other = reading.workspace.document(each.path, document.encoding)
        inner = _inner(each, other) if other is not None else None
        if inner is None:
            raise _refused(f"{each.path} writes the reason in a form that cannot be renamed; rename it by hand")
        changes.setdefault(reading.workspace.uri_of(each.path), []).append(types.TextEdit(inner, name))
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
