"""The errors of the commands: the cause, the place, and a hint. Files that cannot be written are some."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any, Final

import click

from mcpcore.cli import output
from mcpcore.values.escaping import terminal_text

if TYPE_CHECKING:
    from pathlib import Path


FAILED: Final = 1
"""The exit code of a command that ran, and whose call failed or whose findings count."""

INTERRUPTED: Final = 130
"""The exit code after Ctrl+C: 128 + SIGINT, as shells have it."""


class Problem(click.ClickException):
    """The command could not run; exit code 2.

    Attributes:
        hint: The next step for the user, or None.
        detail: Lines printed below the message (the output of a server, a line of source), or None.
    """

    exit_code = 2

    def __init__(self, message: str, *, hint: str | None = None, detail: str | None = None) -> None:
        """Take the `message` with the cause and the place."""
        super().__init__(message)
        self.hint = hint
        self.detail = detail

    def show(self, file: IO[Any] | None = None) -> None:  # noqa: ARG002 - click's signature
        """Write the problem to standard error."""
        output.line(output.styled("Error:", fg="red", bold=True), f" {self.message}", err=True)
        if self.detail:
            for detail in terminal_text(self.detail.rstrip()).split("\n"):
                output.line(f"  | {detail}", err=True)
        if self.hint:
            output.line(output.styled("Next:", bold=True), f" {self.hint}", err=True)


class Failed(Problem):
    """The command ran, but the call failed; exit code 1."""

    exit_code = FAILED


def replace_file(path: Path, text: str) -> None:
    """Replace a file as a whole: a reader finds the old text or the new one, also if this process is killed.

    A device or a pipe, such as /dev/stderr, is written to and not replaced.

    Raises:
        Problem: If it cannot be written.
    """
    from mcpcore_lint.runner.files import write_text

    try:
        write_text(str(path), text)
    except OSError as exc:
        raise Problem(
            f"{path} cannot be written: {exc.strerror or exc}.", hint="check that its folder exists and can be written"
        ) from exc
