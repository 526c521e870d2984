"""Facts about a tool that the whole project needs. They hold no syntax, so they can be cached."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, Literal, NamedTuple, TypeAlias

from mcpcore_lint.diagnostics import Span
from mcpcore_lint.patterns import regex

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


_TESTS: Final = regex(
    r"(^\s*(?:async\s+)?def test_|^\s*class Test|\bimport (?:pytest|unittest)\b|^from pytest)"
    r"|\b__main__\b|(?:MCP|Server)\(",
    re.MULTILINE,
)
"""The signs of a test, or of a script that tries a server; a source file called `test_plans.py` has none of them."""


@lru_cache(maxsize=16)
def in_test_file(path: str, text: str | None = None, *, scripts: bool = True) -> bool:
    """Whether a file belongs to tests, by its path in the project, and by what it has if that is known.

    Without `scripts`, a script that is named as a test and has none is no file of tests.
    """
    *folders, file = path.split("/")
    named = file.startswith("test_") or file.endswith("_test.py")
    has_tests = named and (text is None or any(scripts or match[1] for match in _TESTS.finditer(text)))
    return has_tests or file == "conftest.py" or not {"test", "tests"}.isdisjoint(folders)
