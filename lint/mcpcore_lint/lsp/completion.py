"""Completes reasons inside `ctx.fail("` and its kin, and inside `Context[Literal[...]]`."""

import re
from collections.abc import Iterator
from typing import Final

from lsprotocol import types

from mcpcore_lint.engine.flow.bodies.parameters import parameters_of
from mcpcore_lint.lsp.hover import described
from mcpcore_lint.lsp.positions import Document
from mcpcore_lint.lsp.reading import Reading
from mcpcore_lint.model import ContractEntry

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
