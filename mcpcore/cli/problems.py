"""What the commands say when they cannot do what they were asked: what is wrong, where, what next."""

from __future__ import annotations

import sys
from typing import IO, Any

import click

from mcpcore.cli import output
from mcpcore.escaping import terminal_text


class Problem(click.ClickException):
    """The command could not run; exit code 2.

    Attributes:
        hint: What to do next, as a sentence, or None.
        detail: Lines printed below the message (the output of a server, a line of source), or None.
    """

    exit_code = 2

    def __init__(self, message: str, *, hint: str | None = None, detail: str | None = None) -> None:
        """Tell `message`, what is wrong and where."""
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
    """The command ran, and what it was asked to do failed; exit code 1."""

    exit_code = 1


def read_stdin() -> str:
    """All of standard input, as UTF-8.

    Raises:
        Problem: If it is not UTF-8.
    """
    data: Any = sys.stdin.buffer.read()
    try:
        return str(data, "utf-8")
    except UnicodeDecodeError as exc:
        raise Problem(f"standard input is not UTF-8 (byte {exc.start}).", hint="pipe UTF-8 text") from exc
