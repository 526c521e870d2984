"""Prints reports, messages and patches, so that nothing in a source file can control the terminal.

Control characters are escaped wherever the output goes, since log files and pipes end up on a terminal too. Only the
colours and links of a report stay. Patches and fixed sources must be exact, so they are escaped only on a terminal.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self, TextIO

_OWN_SEQUENCES: Final = r"(\x1b\[(?:0|1|2|3[1-6])m|\x1b\]8;;(?:https://mcpcore\.dev/rules/[a-z0-9-]+)?\x1b\\)"
"""The colours and the links of a report."""


class CannotRunError(Exception):
    """The command cannot run: exit code 2, with the problem and the next step."""

    exit_code = 2

    def __init__(self, *lines: str) -> None:
        """Take the message, one argument for each line. Line feeds within a line are escaped."""
        super().__init__(*lines)
        self.lines = lines

    def report(self) -> int:
        """Print the message on standard error; return the exit code."""
        first, *rest = self.lines
        note(f"mcpcore lint: {first}", *rest)
        return self.exit_code


def note(*lines: str) -> None:
    """Write a note that is not part of the report. A closed standard error does not change the exit code."""
    text = "".join(f"{printable(line)}\n" for line in lines)
    with contextlib.suppress(OSError):
        sys.stderr.write(text)
        sys.stderr.flush()


def printable(text: str) -> str:
    """`text` on one line, with the characters escaped that could control a terminal."""
    if text.isascii() and text.isprintable():
        return text
    from mcpcore.escaping import terminal_line

    return terminal_line(text)


def escaped(text: str, *, styled: bool = False) -> str:
    """`text` with the characters escaped that could control a terminal, except line feeds.

    Args:
        text: A report. If it has colours, its fields are `printable` already.
        styled: Whether the report has colours and links, which stay.
    """
    # Checking this is faster than importing the module that escapes.
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    from mcpcore.escaping import terminal_text

    if not styled:
        return terminal_text(text)
    import re

    parts = re.split(_OWN_SEQUENCES, text)
    return "".join(part if number % 2 else terminal_text(part) for number, part in enumerate(parts))


def say(text: str, *, err: bool = False, exact: bool = False, styled: bool = False) -> str | None:
    """Print a report, with escapes for characters that the terminal's encoding lacks.

    Args:
        text: The report.
        err: Whether it goes to standard error.
        exact: Whether programs read it. They always get UTF-8, since JSON with a terminal's escapes is invalid.
        styled: Whether it has colours and links.

    Returns:
        The text as it was printed; None if printing that text again would not give the same bytes.
    """
    return _print(escaped(text, styled=styled), err=err, exact=exact)


def say_patch(text: str) -> None:
    """Print a patch: escaped on a terminal, and exactly everywhere else."""
    shown = escaped(text)
    if shown == text:
        _print(text, exact=True)
    elif sys.stdout.isatty():
        _print(shown)
        note("control characters are shown escaped; write the patch to a file or a pipe to apply it")
    else:
        _print(text, exact=True)
        note("the patch contains control characters of its files; do not print it on a terminal")


def say_source(content: bytes) -> None:
    """Print a source file: escaped on a terminal, and exactly everywhere else, since an editor reads it."""
    if sys.stdout.isatty():
        _print(escaped(content.decode("utf-8", "replace").replace("\r\n", "\n")))
        return
    with _writing(sys.stdout):
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()


def _print(text: str, *, err: bool = False, exact: bool = False) -> str | None:
    stream = sys.stderr if err else sys.stdout
    if exact and not stream.isatty() and isinstance(stream, io.TextIOWrapper) and not _is_utf_8(stream):
        with _writing(stream):
            stream.flush()
            stream.buffer.write(text.encode("utf-8", "surrogateescape"))
            stream.buffer.flush()
        return None
    encoding = stream.encoding or "utf-8"
    text = text.encode(encoding, "backslashreplace").decode(encoding)
    with _writing(stream):
        stream.write(text)
        stream.flush()
    return text


@contextlib.contextmanager
def _writing(stream: TextIO) -> Iterator[None]:
    """Write to a stream. If its reader has closed a pipe, that is not an error."""
    try:
        yield
    except OSError as error:
        # The rest of the buffer must not fail again when the process ends.
        with contextlib.suppress(OSError, ValueError), open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), stream.fileno())
        # Windows reports EINVAL for a closed pipe.
        if not isinstance(error, BrokenPipeError) and error.errno != errno.EINVAL:
            name = getattr(stream, "name", "the output").strip("<>")
            raise CannotRunError(f"{name} cannot be written: {error.strerror or error}") from error


def _is_utf_8(stream: TextIO) -> bool:
    return (stream.encoding or "").lower().replace("_", "-") in {"utf-8", "utf8"}


class Progress:
    """Shows the progress of longer runs on a terminal."""

    AFTER = 0.7
    EVERY = 0.1

    def __enter__(self) -> Self:
        self._on = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._shown = False
        self._next = time.monotonic() + self.AFTER
        return self

    def update(self, done: int, total: int) -> None:
        """Show the number of checked files and of all files."""
        if not self._on:
            return
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + self.EVERY
        self._shown = True
        sys.stderr.write(f"\r\x1b[Kchecked {done} of {total} files")
        sys.stderr.flush()

    def __exit__(self, *_: object) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def clear() -> None:
    """Clear the terminal, if there is one."""
    if sys.stdout.isatty():
        sys.stdout.write("\x1b[2J\x1b[H")
