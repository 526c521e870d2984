"""What the whole project knows of a tool: plain facts without syntax, so that they can be kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from mcpcore_lint.diagnostics import Span

ToolFlavour: TypeAlias = Literal["mcpcore", "sdk", "fastmcp", "lowlevel"]
ToolKind: TypeAlias = Literal["tool", "resource", "prompt"]


class ToolRecord(NamedTuple):
    """What the whole project knows of a tool: enough for rules that compare tools across files."""

    name: str | None
    kind: ToolKind
    flavour: ToolFlavour
    server: str | None
    handler: str
    path: str
    span: Span
