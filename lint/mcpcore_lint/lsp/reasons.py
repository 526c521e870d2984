"""What an editor shows about a reason: its entry, and where it is raised."""

import os
import re
from typing import Final

from lsprotocol import types

from mcpcore_lint.lsp.positions import Document
from mcpcore_lint.lsp.reading import Place, Reading
from mcpcore_lint.lsp.workspace import Workspace
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
