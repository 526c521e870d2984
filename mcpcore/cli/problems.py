"""The errors of the commands: the cause, the place, and a hint."""

from __future__ import annotations

from typing import IO, Any, Final

import click

from mcpcore.cli import output
from mcpcore.values.escaping import terminal_text

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

    exit_code = 1
