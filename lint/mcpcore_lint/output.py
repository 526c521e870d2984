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
from collections.abc import Callable, Iterator
from typing import Final, TextIO

_PROGRESS_AFTER: Final = 0.7
_PROGRESS_EVERY: Final = 0.1


class CannotRunError(Exception):
    """The command cannot run: exit code 2, with the problem and the next step."""

    def __init__(self, *lines: str) -> None:
        """Take the message, one argument for each line. Line feeds within a line are escaped."""
        super().__init__(*lines)
        self.lines = lines

    def report(self) -> int:
        """Print the message on standard error; return the exit code."""
        first, *rest = self.lines
        note(f"mcpcore lint: {first}", *rest)
        return 2


def note(*lines: str) -> None:
    """Write a note that is not part of the report. A closed standard error does not change the exit code."""
    text = "".join(f"{printable(line)}\n" for line in lines)
    with contextlib.suppress(CannotRunError), writing(sys.stderr):
        sys.stderr.write(text)
        sys.stderr.flush()


def printable(text: str) -> str:
    """`text` on one line, with the characters escaped that could control a terminal."""
    if text.isascii() and text.isprintable():
        return text
    from mcpcore.values.escaping import terminal_line

    return terminal_line(text)


def escaped(text: str) -> str:
    """`text` with the characters escaped that could control a terminal, except line feeds."""
    # Checking this is faster than importing the module that escapes.
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    from mcpcore.values.escaping import terminal_text

    return terminal_text(text)


def say(text: str, *, err: bool = False, exact: bool = False, escape: bool = True) -> str | None:
    """Print a report, with escapes for characters that the terminal's encoding lacks.

    Args:
        text: The report.
        err: Whether it goes to standard error.
        exact: Whether programs read it. They always get UTF-8, since JSON with a terminal's escapes is invalid.
        escape: Whether to escape what could control a terminal. Reports with colours have `printable` fields already.

    Returns:
        The text as it was printed; None if printing that text again would not give the same bytes.
    """
    stream = sys.stderr if err else sys.stdout
    encoding = stream.encoding or "utf-8"
    text = escaped(text) if escape else text
    is_utf_8 = encoding.lower().replace("_", "-") in {"utf-8", "utf8"}
    if exact and not is_utf_8 and not stream.isatty() and isinstance(stream, io.TextIOWrapper):
        with writing(stream):
            stream.flush()
            stream.buffer.write(text.encode("utf-8", "surrogateescape"))
            stream.buffer.flush()
        return None
    text = text.encode(encoding, "backslashreplace").decode(encoding)
    with writing(stream):
        stream.write(text)
        stream.flush()
    return text


def say_patch(text: str) -> None:
    """Print a patch: escaped on a terminal, and exactly everywhere else."""
    on_terminal = sys.stdout.isatty()
    say(text, exact=True, escape=on_terminal)
    if escaped(text) != text and on_terminal:
        note("control characters are shown escaped; write the patch to a file or a pipe to apply it")
    elif escaped(text) != text:
        note("the patch contains control characters of its files; do not print it on a terminal")


def say_source(content: bytes) -> None:
    """Print a source file: escaped on a terminal, and exactly everywhere else, since an editor reads it."""
    if sys.stdout.isatty():
        say(content.decode("utf-8", "replace").replace("\r\n", "\n"))
        return
    with writing(sys.stdout):
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()


@contextlib.contextmanager
def writing(stream: TextIO) -> Iterator[None]:
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


@contextlib.contextmanager
def progress() -> Iterator[Callable[[int, int], None]]:
    """Show the progress of longer runs on a terminal, given the number of checked files and of all files."""
    on = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    due = time.monotonic() + _PROGRESS_AFTER
    shown = False

    def update(done: int, total: int) -> None:
        nonlocal due, shown
        if on and (now := time.monotonic()) >= due:
            due = now + _PROGRESS_EVERY
            shown = True
            sys.stderr.write(f"\r\x1b[Kchecked {done} of {total} files")
            sys.stderr.flush()

    try:
        yield update
    finally:
        if shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def clear() -> None:
    """Clear the terminal, if there is one."""
    if sys.stdout.isatty():
        sys.stdout.write("\x1b[2J\x1b[H")
