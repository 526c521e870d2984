"""The command `mcpcore`. Nothing here is loaded by the runtime or by the linter's own command."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and exit: 0 for success, 1 for a failure found, 2 where it could not run."""
    if sys.argv[1:2] == ["lint"]:
        # Before anything else is loaded: most runs of the linter find everything as they left it.
        from mcpcore_lint.running.memo import replay

        replay(sys.argv[1:])
    try:
        import click  # noqa: F401 - asked for here alone, so that its absence is told in one sentence
    except ModuleNotFoundError as exc:
        if exc.name != "click":
            raise
        sys.exit('mcpcore: the command line needs click, which is not installed; run: pip install "mcpcore[cli]"')
    from mcpcore.cli.root import run

    run()
