"""Everything that writes code: the edits of fixes, and rules that are written as libcst visitors.

The linter's own rules judge `ast` nodes, which is several times faster. libcst keeps every space and comment, so a rule
that replaces one piece of code with another is best written with it: see `CstRule`. Nothing here imports libcst until
there is something to rewrite.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcpcore_lint.codemods.pieces import Unreadable
    from mcpcore_lint.codemods.rule import CstRule

__all__ = ["CstRule", "Unreadable"]


def __getattr__(name: str) -> object:
    # Most runs have no rule of this kind, and loading the machinery for them costs 6 ms.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from mcpcore_lint.codemods import pieces, rule

    return rule.CstRule if name == "CstRule" else pieces.Unreadable
