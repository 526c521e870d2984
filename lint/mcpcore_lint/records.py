"""What the whole project knows of a tool: plain facts without syntax, so that they can be kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

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
    in_test: bool
    """Whether it is registered for a test; such tools are not counted."""


def in_test_file(path: str) -> bool:
    """Whether a file belongs to tests, by its path in the project."""
    *folders, file = path.split("/")
    named = file.startswith("test_") or file.endswith("_test.py") or file == "conftest.py"
    return named or not _TESTS.isdisjoint(folders)


_TESTS: Final = frozenset({"test", "tests"})
