"""Everything that writes code, on libcst: the fixes of rules, and rules that users write as libcst visitors.

The linter's own rules judge `ast` nodes, which is several times faster, and describe a fix as `Change`s (see `edits`).
`rewrite` carries them out: it parses the smallest statement around each change and transforms it.
Nothing here imports libcst until there is something to write. A plain `pip install mcpcore` brings no libcst, and what
needs it raises `LibcstMissingError`.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from mcpcore_lint.output import CannotRunError

if TYPE_CHECKING:
    from mcpcore_lint.codemods.rule import CstRule
    from mcpcore_lint.codemods.statements import Unreadable

__all__ = ["CstRule", "LibcstMissingError", "Unreadable", "lacks_libcst", "require_libcst"]


class LibcstMissingError(CannotRunError):
    """Something needs libcst, which the extra `cli` brings, and it cannot be imported."""

    def __init__(self, subject: str) -> None:
        """Take what needs libcst, as the subject of the sentence."""
        super().__init__(f'{subject} needs libcst, which is not installed; run: pip install "mcpcore[cli]"')


def lacks_libcst(error: BaseException) -> bool:
    """Whether an error, such as that of a rule's import, says that libcst is not installed."""
    missing = error.name if isinstance(error, ModuleNotFoundError) else None
    return missing == "libcst" or isinstance(error, LibcstMissingError)


def require_libcst(subject: str) -> None:
    """Find out whether libcst is installed, without loading it: that takes longer than most runs.

    Args:
        subject: What needs libcst, as the subject of the error's sentence.

    Raises:
        LibcstMissingError: If it is not installed.
    """
    from importlib.util import find_spec

    try:
        installed = "libcst" in sys.modules or find_spec("libcst") is not None
    except ImportError:  # a hook refuses the import
        installed = False
    if not installed or sys.modules.get("libcst", sys) is None:
        raise LibcstMissingError(subject)


def __getattr__(name: str) -> object:
    # Most runs have no rule of this kind, and loading what such rules need costs 6 ms.
    if name not in {"CstRule", "Unreadable"}:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from mcpcore_lint.codemods import rule, statements

    return rule.CstRule if name == "CstRule" else statements.Unreadable
