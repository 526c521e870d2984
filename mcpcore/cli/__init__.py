"""The command `mcpcore`. Nothing here is loaded by the runtime or by the linter's own command."""

from __future__ import annotations

import os
import sys

# Importing `typing` takes longer than a run of the linter without any changed file.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def open_streams() -> None:
    """Open the standard streams that the parent process closed, on the null device."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            # It takes the descriptor of the stream, the lowest that is free; else the next file to be opened would.
            setattr(sys, name, open(os.devnull, "w" if number else "r", encoding="utf-8"))  # noqa: SIM115, PTH123 - for good


def script() -> None:
    """`main` for a process that runs nothing else, so that the linter may end it without any cleanup."""
    main(leave=os._exit)


def main(*, leave: Callable[[int], object] = sys.exit) -> None:
    """Run the command line and exit: 0 for success, 1 for a failed call or findings, 2 if it could not run.

    Args:
        leave: Ends the process after the linter has printed a cached result.
    """
    open_streams()
    if sys.argv[1:2] == ["lint"]:
        # Before anything else is loaded: most runs of the linter repeat the outcome of an earlier one.
        from mcpcore_lint.start import start

        start(sys.argv[2:], leave=leave)
    from mcpcore.cli.root import run

    run()
