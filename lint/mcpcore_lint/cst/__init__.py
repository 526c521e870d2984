"""Rules written as libcst visitors, for those who rewrite code or bring their rules from Fixit.

The linter's own rules look at `ast` nodes, which is several times faster. libcst keeps every space and comment, so a
rule that puts one piece of code in the place of another is best written with it: see `CstRule`. Nothing here imports
libcst until a rule has something to look at.
"""

from __future__ import annotations

from mcpcore_lint.cst.pieces import Unreadable
from mcpcore_lint.cst.rule import CstRule

__all__ = ["CstRule", "Unreadable"]
