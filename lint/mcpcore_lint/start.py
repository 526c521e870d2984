"""Starts a run of the linter before anything heavy is loaded.

An unchanged tree of 870,000 lines takes 0.02 s this way, as long as `ruff check`. Loading click alone takes 0.03 s.
"""

from __future__ import annotations

import gc
import sys

from mcpcore_lint.runner.memo import replay

TYPE_CHECKING = False  # importing typing takes as long as the rest of such a run
if TYPE_CHECKING:
    from collections.abc import Callable


def start(arguments: list[str], *, leave: Callable[[int], object] = sys.exit) -> None:
    """Run the linter and end the process. Returns only if click has to read the arguments.

    Args:
        arguments: The command line without the program.
        leave: Ends the process with an exit code if the outcome is known from an earlier run.
    """
    replay(arguments, leave=leave)
    from mcpcore_lint.options import plain

    parsed = plain(arguments)
    if parsed is not None:
        from mcpcore_lint.command import run

        if {"--fix", "--diff", "--watch", "--lsp"}.isdisjoint(arguments):
            gc.disable()  # a command that reads each file once makes next to no garbage
        code = run(*parsed)
        gc.freeze()  # skips the collection at exit
        sys.exit(code)
