"""`--watch`: the run again whenever a Python file or the configuration changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_CLEAR = "\x1b[2J\x1b[H"


def watch(paths: Sequence[str], run: Callable[[], int]) -> int:
    """Run, and run again on each change, until interrupted; the exit code of the last run."""
    try:
        from watchfiles import watch as changes
    except ImportError as error:
        raise click.ClickException(
            'watching needs watchfiles, which is not installed; run: pip install "mcpcore[watch]"'
        ) from error
    code = _shown(run)
    for _ in changes(*paths, watch_filter=_matters, raise_interrupt=False):
        click.echo(_CLEAR if click.get_text_stream("stdout").isatty() else "", nl=False)
        code = _shown(run)
    return code


def _shown(run: Callable[[], int]) -> int:
    try:
        return run()
    except click.ClickException as error:
        error.show()  # a configuration that is being edited is wrong for a moment; go on
        return error.exit_code


def _matters(_: object, path: str) -> bool:
    return path.endswith((".py", ".pyi", "pyproject.toml"))
