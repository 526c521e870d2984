"""How the linter prints: nothing that it read can drive, reorder or forge what a terminal shows.

Every report, message and patch leaves through this module. It escapes all but the sequences that the reports
themselves write, wherever the output goes, since a log file and a pipe are shown on a terminal in the end. A patch and
a fixed source are the exceptions: they are of use only byte for byte, so they are escaped on a terminal alone.
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
    """A run that could not be made: exit code 2, with what is wrong and what next."""

    exit_code = 2

    def __init__(self, *lines: str) -> None:
        """Take the message, one argument for each line: a line feed within a line is escaped."""
        super().__init__(*lines)
        self.lines = lines

    def tell(self) -> int:
        """Say so on standard error; the exit code."""
        first, *rest = self.lines
        note(f"mcpcore lint: {first}", *rest)
        return self.exit_code


def note(*lines: str) -> None:
    """Write a note that is not part of the report. The exit code is right even if standard error is closed."""
    text = "".join(f"{printable(line)}\n" for line in lines)
    with contextlib.suppress(OSError):
        sys.stderr.write(text)
        sys.stderr.flush()


def printable(text: str) -> str:
    """`text` on one line, and without characters by which a file could take over the terminal that shows it."""
    if text.isascii() and text.isprintable():
        return text
    from mcpcore.escaping import terminal_line

    return terminal_line(text)


def escaped(text: str, *, styled: bool = False) -> str:
    """`text` of several lines without such characters.

    Args:
        text: A report, whose fields are `printable` already where it has colours.
        styled: Whether the report has its own colours and links, which stay.
    """
    # Loading the module that escapes costs more than looking whether it is needed.
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    from mcpcore.escaping import terminal_text

    if not styled:
        return terminal_text(text)
    import re

    parts = re.split(_OWN_SEQUENCES, text)
    return "".join(part if number % 2 else terminal_text(part) for number, part in enumerate(parts))


def say(text: str, *, err: bool = False, exact: bool = False, styled: bool = False) -> str | None:
    """Print a report, whatever characters the terminal lacks; what was printed, where it can be printed so again.

    Args:
        text: The report.
        err: Whether it goes to standard error.
        exact: Whether programs read it. They get UTF-8 wherever it goes: an escape that a terminal is shown would be
            no JSON.
        styled: Whether it has its own colours and links.
    """
    return _print(escaped(text, styled=styled), err=err, exact=exact)


def say_patch(text: str) -> None:
    """Print a patch: escaped on a terminal, and byte for byte everywhere else, where it must fit its files."""
    shown = escaped(text)
    if shown == text:
        _print(text, exact=True)
    elif sys.stdout.isatty():
        _print(shown)
        note("control characters are shown escaped here; write the patch to a file or a pipe to apply it")
    else:
        _print(text, exact=True)
        note("the patch holds control characters, as its files do; do not show it on a terminal as it is")


def say_source(content: bytes) -> None:
    """Print a source file: escaped on a terminal, and byte for byte everywhere else, where an editor takes it back."""
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
    """Write to a stream whose reader may leave, which ends what it gets to read and nothing else."""
    try:
        yield
    except OSError as error:
        # What is left in its buffer must not fail once more when the process ends.
        with contextlib.suppress(OSError, ValueError), open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), stream.fileno())
        # Windows reports EINVAL for a pipe whose reader is gone.
        if not isinstance(error, BrokenPipeError) and error.errno != errno.EINVAL:
            name = getattr(stream, "name", "the output").strip("<>")
            raise CannotRunError(f"{name} cannot be written: {error.strerror or error}") from error


def _is_utf_8(stream: TextIO) -> bool:
    return (stream.encoding or "").lower().replace("_", "-") in {"utf-8", "utf8"}


class Progress:
    """How far a run is, on a terminal, when it takes longer than a moment."""

    AFTER = 0.7
    EVERY = 0.1

    def __enter__(self) -> Self:
        self._on = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._shown = False
        self._next = time.monotonic() + self.AFTER
        return self

    def tell(self, done: int, total: int) -> None:
        """Take the number of files judged, and how many there are."""
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
