"""Everything that writes code, on libcst: the fixes of rules, and rules that users write as libcst visitors.

The linter's own rules judge `ast` nodes, which is several times faster, and describe a fix as `Change`s (see `edits`).
`rewrite` carries them out: it parses the smallest statement around each change and transforms it.
Nothing here imports libcst until there is something to write.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcpcore_lint.codemods.piece import Unreadable
    from mcpcore_lint.codemods.rule import CstRule

__all__ = ["CstRule", "Unreadable"]


def __getattr__(name: str) -> object:
    # Most runs have no rule of this kind, and loading what such rules need costs 6 ms.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from mcpcore_lint.codemods import piece, rule

    return rule.CstRule if name == "CstRule" else piece.Unreadable
