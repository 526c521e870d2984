"""The command `mcpcore`. Nothing here is loaded by the runtime or by the linter's own command."""

from __future__ import annotations

import os
import sys

# What `typing` would take to load is more than a run of the linter that finds everything as it left it.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def script() -> None:
    """`main` for a process that runs nothing else, which a known outcome may end without clearing up first."""
    main(leave=os._exit)


def main(*, leave: Callable[[int], object] = sys.exit) -> None:
    """Run the command line and exit: 0 for success, 1 for a failure found, 2 where it could not run.

    Args:
        leave: What ends the process where the linter gives an outcome again that it knows; all is written by then.
    """
    if sys.argv[1:2] == ["lint"]:
        # Before anything else is loaded: most runs of the linter find everything as they left it.
        from mcpcore_lint.runner.memo import replay

        replay(sys.argv[1:], leave=leave)
        from mcpcore_lint.options import run_plain

        run_plain(sys.argv[2:])
    try:
        import click  # noqa: F401 - asked for here alone, so that its absence is told in one sentence
    except ModuleNotFoundError as exc:
        if exc.name != "click":
            raise
        sys.exit('mcpcore: the command line needs click, which is not installed; run: pip install "mcpcore[cli]"')
    from mcpcore.cli.root import run

    run()
