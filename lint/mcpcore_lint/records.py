"""Facts about a tool that the whole project needs. They hold no syntax, so they can be cached."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from mcpcore_lint.diagnostics import Span

ToolFlavour: TypeAlias = Literal["mcpcore", "sdk", "fastmcp", "lowlevel"]
ToolKind: TypeAlias = Literal["tool", "resource", "prompt"]


class ToolRecord(NamedTuple):
    """A tool, resource or prompt, for rules that compare tools across files."""

    name: str | None
    kind: ToolKind
    flavour: ToolFlavour
    server: str | None
    handler: str
    path: str
    span: Span
    in_test: bool
    """Whether a test registers it. Such tools are not counted."""


@lru_cache
def in_test_file(path: str) -> bool:
    """Whether a file belongs to tests, by its path in the project."""
    *folders, file = path.split("/")
    named = file.startswith("test_") or file.endswith("_test.py") or file == "conftest.py"
    return named or not {"test", "tests"}.isdisjoint(folders)
