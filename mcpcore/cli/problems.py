"""What the commands say when they cannot do what they were asked: what is wrong, where, what next."""

from __future__ import annotations

from typing import IO, Any

import click


class Problem(click.ClickException):
    """The command could not run; exit code 2.

    Attributes:
        hint: What to do next, as a sentence, or None.
        detail: Lines that stand below the message as they are (the output of a server, a line of source), or None.
    """

    exit_code = 2

    def __init__(self, message: str, *, hint: str | None = None, detail: str | None = None) -> None:
        """Tell `message`, what is wrong and where."""
        super().__init__(message)
        self.hint = hint
        self.detail = detail

    def show(self, file: IO[Any] | None = None) -> None:
        """Write the problem to standard error."""
        err = file is None
        click.echo(f"{click.style('Error:', fg='red', bold=True)} {self.message}", file=file, err=err)
        if self.detail:
            click.echo("\n".join(f"  | {line}" for line in self.detail.rstrip().splitlines()), file=file, err=err)
        if self.hint:
            click.echo(f"{click.style('Next:', bold=True)} {self.hint}", file=file, err=err)


class Failed(Problem):
    """The command ran, and what it was asked to do failed; exit code 1."""

    exit_code = 1
