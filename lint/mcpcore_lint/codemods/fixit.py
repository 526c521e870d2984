"""The names that rules import from Fixit, so that only the name of the package has to change.

`from fixit import Invalid, LintRule, Valid` becomes `from mcpcore_lint.codemods.fixit import Invalid, LintRule, Valid`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from libcst.metadata import CodePosition, CodeRange

from mcpcore_lint.codemods.rule import CstRule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpcore_lint.codemods.rule import CstScope

__all__ = ["CodePosition", "CodeRange", "Invalid", "LintRule", "Valid"]


@dataclass(frozen=True)
class Valid:
    """Code in which the rule finds nothing."""

    code: str


@dataclass(frozen=True)
class Invalid:
    """Code in which the rule finds something, with the finding's place and message and the code after the fix."""

    code: str
    range: CodeRange | None = None
    expected_message: str | None = None
    expected_replacement: str | None = None


class LintRule(CstRule):
    """A Fixit rule: it visits whole files; its id, page and cases come from its class, `VALID` and `INVALID`."""

    scope: ClassVar[CstScope] = "file"
    VALID: ClassVar[Sequence[str | Valid]]
    INVALID: ClassVar[Sequence[str | Invalid]]
