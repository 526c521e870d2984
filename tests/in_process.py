"""Runs the command line in the process of the tests, as `python -m mcpcore` does in its own."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from click.testing import CliRunner

from mcpcore.cli import root


class Output(NamedTuple):
    """What a command printed, and how it ended."""

    stdout: str
    stderr: str
    code: int


def run_command(
    words: Sequence[object], *, folder: Path, variables: Mapping[str, str | None], stdin: bytes = b""
) -> Output:
    """Run a command that ends, with streams in memory; `variables` are set, and those that are None are not."""
    runner = CliRunner()
    with (
        runner.isolation(stdin, env=variables) as (out, err, _),
        contextlib.chdir(folder),
        mock.patch.object(sys, "argv", [root.PROGRAM, *map(str, words)]),
        mock.patch.object(sys, "excepthook"),
    ):
        try:
            root.run()
            code = 0
        except SystemExit as exc:
            code = exc.code if isinstance(exc.code, int) else exc.code is not None
        sys.stdout.flush()
        sys.stderr.flush()
        return Output(out.getvalue().decode(), err.getvalue().decode(), int(code))
